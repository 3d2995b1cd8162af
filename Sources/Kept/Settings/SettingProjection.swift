// Operations on a setting other than reading and writing: `$volume.reset()`.

public import Dispatch
public import KeptCore
import KeptValues

/// The projected value of a ``Setting``.
///
/// It is a key in a store. The property's own default, if there is one, replaces the key's.
public struct SettingProjection<Value: Sendable>: Sendable {
  /// The key, with the property's default.
  public let key: Key<Value>
  /// The store that is read and written.
  public let store: Store

  init(key: Key<Value>, store: Store) { (self.key, self.store) = (key, store) }

  /// Reads the setting; throws what ``SettingsReading/value(for:)`` throws.
  public func get() throws(StoreError) -> Value { try store.value(for: key) }

  /// Writes the setting; throws what ``SettingsAccess/set(_:for:)`` throws.
  /// - Returns: the layer that hides the stored value; nil if none does.
  @discardableResult
  public func set(_ value: Value) throws(StoreError) -> Layer? { try store.set(value, for: key) }

  /// Removes the stored value, so that the setting reads as its default; a failure is reported to the error handler.
  public func reset() {
    do { try store.remove(key) } catch { store.report(error) }
  }

  /// Whether the setting reads as a default: registered, declared or its own.
  ///
  /// This is also true if the deciding value does not have its type. A failed check is reported to the error handler.
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

  /// Calls `body` after each change, with the default if there is no value.
  ///
  /// See ``Store/observe(_:initial:_:)-(Key<Value>,_,_)``.
  /// - Parameters:
  ///   - initial: first deliver the present value, on this thread, before `observe` returns.
  ///   - queue: the queue for the calls; nil for the store's.
  ///   - body: the function to call.
  /// - Returns: the token. Dropping it ends the subscription.
  public func observe(
    initial: Bool = false, queue: DispatchQueue? = nil, _ body: @escaping @Sendable (Key<Value>.Change) -> Void
  ) throws(StoreError) -> Subscription {
    guard let queue else { return try store.observe(key, initial: initial, body) }
    return try store.observe(key, initial: initial, queue: queue, body)
  }
}
