// The store that settings use when they name none: chosen once, or else the one named like the program.

public import KeptCore
import Synchronization

extension Store {
  /// The process's own store: the one that was given to `bootstrap`, or else, from the first use on, the one whose
  /// identifier is the name of the executable.
  ///
  /// If it could not be opened, every read gives its default and every call that throws throws why; the error handler
  /// that was given to ``bootstrap(_:options:)`` hears of each. It stays so until the process ends.
  public static var `default`: Store { unretainedDefault.takeUnretainedValue() }

  /// It is never released.
  @usableFromInline static var unretainedDefault: Unmanaged<Store> { DefaultStore.ofProcess.store }

  /// Makes a store the process's own, at the start of the program.
  ///
  /// Throws `invalid` if it has one already, by `bootstrap` or because ``default`` was used; nothing is changed then.
  public static func bootstrap(_ store: Store) throws(StoreError) { try DefaultStore.ofProcess.set(store) }

  /// Opens a store as the process's own, at the start of the program.
  ///
  /// Throws what ``open(_:options:)`` throws, and then ``default`` is a store that says the same of each use; and
  /// `invalid` if the process has its store already.
  public static func bootstrap(_ location: String, options: StoreOptions = StoreOptions()) throws(StoreError) {
    try DefaultStore.ofProcess.open(location, options)
  }
}

/// A store that is chosen once.
package final class DefaultStore: Sendable {
  static let ofProcess = DefaultStore(otherwise: programName)

  // Retained once it is set.
  private let chosen = Atomic<Unmanaged<Store>?>(nil)
  private let location: @Sendable () -> String

  /// - Parameter location: what is opened if it is used before it is set.
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

  /// Of two threads that come at once one is first, and the other's store is dropped.
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
      .invalid, "the process has its default store already; call bootstrap once, before the first use of Store.default")
  }

  /// The last part of how the program was called.
  private static var programName: String {
    let path = CommandLine.arguments.first ?? ""
    return path.split(separator: "/").last.map(String.init) ?? path
  }
}
