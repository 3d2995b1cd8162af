// The type as which this process handles each key of a location, and the keys that a store has handled.

public import KeptCore
import KeptSystem
import KeptValues

/// The keys of a location and their types.
///
/// Using a key with a second type is a conflict.
final class Bindings: Sendable {
  private let bound = Monitor<[KeyName: Binding]>([:])

  /// The binding of a key to a type, shared with its other handles.
  ///
  /// Throws `typeConflict` if they have another type.
  func bind(_ key: KeyName, to type: BoundType) throws(StoreError) -> Binding {
    try bound.update { bound throws(StoreError) in
      if let binding = bound[key], !binding.isDestroyed {
        guard binding.type == type else {
          throw StoreError(
            .typeConflict, key: key.text,
            "has handles of type \(binding.type) in this process, so it cannot have one of type \(type); destroy "
              + "those first"
          )
        }
        return binding
      }
      let binding = Binding(key, type)
      bound[key] = binding
      return binding
    }
  }
}

/// The keys that one store object has handled.
private final class HandledKeys: Sendable {
  let bindings = Monitor<[KeyName: Binding]>([:])
}

extension Store {
  func bind(_ key: KeyName, to type: BoundType) throws(StoreError) -> Binding {
    let binding = try sharedAttachment(Bindings.init).bind(key, to: type)
    attachment(HandledKeys.init).bindings.update { $0[key] = binding }
    return binding
  }

  /// Removes the stored value of a key, and ends all handles of it.
  func destroy(_ binding: Binding) throws(StoreError) {
    try binding.destroy { () throws(StoreError) in _ = try delete(binding.key) }
  }

  /// Destroys every key that this store object has handled, except some, as ``Handle/destroy()`` does.
  ///
  /// ```swift
  /// try settings.destroyAll(except: .volume, .theme)
  /// ```
  ///
  /// Keys that were used without a handle stay. A failure does not stop it; the first one is thrown at the end, and the
  /// keys that failed are unchanged. C and Python have no handles.
  public func destroyAll(except kept: Keys...) throws(StoreError) {
    let spared = Set(kept.compactMap { ($0 as? any NamedKey)?.checkedName })
    let handled = attachment(HandledKeys.init).bindings.read { Array($0.values) }
    var failure: StoreError?
    for binding in handled where !spared.contains(binding.key) && !binding.isDestroyed {
      do throws(StoreError) { try destroy(binding) } catch {
        // Another thread may have destroyed it just now.
        if !binding.isDestroyed { failure = failure ?? error }
      }
    }
    if let failure { throw failure }
  }
}

/// A key of any type.
private protocol NamedKey {
  var checkedName: KeyName? { get }
}

extension Key: NamedKey {
  fileprivate var checkedName: KeyName? { try? keyName() }
}
