// What can be done with a setting beyond reading and writing it: `$volume.reset()`.

public import Dispatch
public import KeptCore

/// The projected value of a ``Setting``.
///
/// It is a key in a store; wherever a key's default counts it is the property's own, if that has one.
public struct SettingProjection<Value: Sendable>: Sendable {
  /// The key, with the property's default.
  public let key: Key<Value>
  /// The store that is read and written.
  public let store: Store

  init(key: Key<Value>, store: Store) { (self.key, self.store) = (key, store) }

  /// Reads; throws what ``SettingsReading/value(for:)`` throws.
  public func get() throws(StoreError) -> Value { try store.value(for: key) }

  /// Writes; throws what ``SettingsAccess/set(_:for:)`` throws.
  /// - Returns: the layer that hides what is stored; nil: nothing hides it.
  @discardableResult
  public func set(_ value: Value) throws(StoreError) -> Layer? { try store.set(value, for: key) }

  /// Removes what is stored, so that the setting reads as its default; the error handler hears if that fails.
  public func reset() {
    do { try store.remove(key) } catch { store.report(error) }
  }

  /// Whether the setting reads as a default, be it registered, declared or its own.
  ///
  /// It does as well where the value that decides is none of its type. The error handler hears if it cannot be known.
  public var isDefault: Bool {
    do throws(StoreError) {
      let found = try store.resolved(try key.keyName())
      guard let layer = found.layer, layer > .registered else { return true }
      do throws(StoreError) { _ = try key.read(found, in: store.identity) } catch { return true }
      return false
    } catch {
      store.report(error)
      return true
    }
  }

  /// The changes as a sequence; see ``Store/changes(of:initial:)``.
  public var changes: Key<Value>.Changes { store.changes(of: key) }

  /// Calls `body` after each change, with the default where there is no value; see
  /// ``Store/observe(_:initial:_:)-(Key<Value>,_,_)``.
  /// - Parameters:
  ///   - initial: first deliver the present value, on this thread, before `observe` returns.
  ///   - queue: where `body` is called; nil: where the store calls its observers.
  ///   - body: what to call.
  /// - Returns: the token; dropping it ends the subscription.
  public func observe(
    initial: Bool = false, queue: DispatchQueue? = nil, _ body: @escaping @Sendable (Key<Value>.Change) -> Void
  ) throws(StoreError) -> Subscription {
    guard let queue else { return try store.observe(key, initial: initial, body) }
    return try store.observe(key, initial: initial, queue: queue, body)
  }
}
