// The store of settings that do not specify one: set once, or else the one named like the program.

public import KeptCore
import KeptValues
import Synchronization

extension Store {
  /// The process's default store: the one passed to `bootstrap`, or else the one whose identifier is the name of the
  /// executable, opened on first use.
  ///
  /// If it could not be opened, every read returns its default and every throwing call throws the reason; the error
  /// handler passed to ``bootstrap(_:options:)`` receives each failure. This lasts until the process ends.
  public static var `default`: Store { unretainedDefault.takeUnretainedValue() }

  /// The default store, which is never released.
  @usableFromInline static var unretainedDefault: Unmanaged<Store> { DefaultStore.ofProcess.store }

  /// Makes a store the process's default store, at the start of the program.
  ///
  /// Throws `invalid` if it has one already, by `bootstrap` or because ``default`` was used; nothing is changed then.
  public static func bootstrap(_ store: Store) throws(StoreError) { try DefaultStore.ofProcess.set(store) }

  /// Opens a store as the process's default store, at the start of the program.
  ///
  /// Throws what ``open(_:options:)`` throws, and then every use of ``default`` fails with the same error; and
  /// `invalid` if the process has its store already.
  public static func bootstrap(_ location: String, options: StoreOptions = StoreOptions()) throws(StoreError) {
    try DefaultStore.ofProcess.open(location, options)
  }
}

/// A store that is set once.
package final class DefaultStore: Sendable {
  static let ofProcess = DefaultStore(otherwise: programName)

  // Retained once it is set.
  private let chosen = Atomic<Unmanaged<Store>?>(nil)
  private let location: @Sendable () -> String

  /// - Parameter location: the location to open if the store is used before it is set.
  package init(otherwise location: @autoclosure @escaping @Sendable () -> String) { self.location = location }

  deinit { chosen.load(ordering: .acquiring)?.release() }

  package var store: Unmanaged<Store> {
    if let store = chosen.load(ordering: .acquiring) { return store }
    return keep(Self.opened(location(), StoreOptions()).store).store
  }

  package func set(_ store: Store) throws(StoreError) {
    guard keep(store).isNew else { throw Self.isSet }
  }

  package func open(_ location: String, _ options: StoreOptions) throws(StoreError) {
    guard chosen.load(ordering: .acquiring) == nil else { throw Self.isSet }
    let (store, failure) = Self.opened(location, options)
    try set(store)
    if let failure { throw failure }
  }

  /// Sets the store; of two concurrent calls the first one succeeds, and the store of the other is released.
  private func keep(_ store: Store) -> (store: Unmanaged<Store>, isNew: Bool) {
    let kept = Unmanaged.passRetained(store)
    let (isNew, first) = chosen.compareExchange(expected: nil, desired: kept, ordering: .acquiringAndReleasing)
    if !isNew { kept.release() }
    return (first ?? kept, isNew)
  }

  private static func opened(_ location: String, _ options: StoreOptions) -> (store: Store, failure: StoreError?) {
    do throws(StoreError) { return (try Store.open(location, options: options), nil) } catch {
      return (Store(storage: UnopenedStorage(error), options: options), error)
    }
  }

  private static var isSet: StoreError {
    StoreError(
      .invalid, "the process already has its default store; call bootstrap once, before the first use of Store.default")
  }

  /// The last path component of the command that started the program.
  private static var programName: String {
    let path = CommandLine.arguments.first ?? ""
    return path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
  }
}
