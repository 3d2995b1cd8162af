// Type-erased handles, for handles of different types in one list.

public import Dispatch
public import KeptCore
import KeptSystem
import KeptValues

/// A type-erased handle, for a list or a page of settings.
///
/// `handle(of:)` returns the typed handle. Both are the same handle, with the same label and observer.
public struct AnyHandle: Sendable, CustomStringConvertible {
  /// The change that ``observer`` receives: ``Handle/Change`` with type-erased values.
  public typealias Change = Key<any Sendable>.Change

  private let handle: any ErasableHandle

  fileprivate init(_ handle: any ErasableHandle) { self.handle = handle }

  /// The key's text.
  public var key: String { handle.key }
  /// The type of the value.
  public var valueType: Any.Type { handle.valueType }
  /// See ``Handle/label``.
  public var label: String? {
    get { handle.label }
    nonmutating set { handle.label = newValue }
  }
  public var description: String { handle.description }

  /// The value; see ``Handle/value``.
  ///
  /// Writing one of another type is reported to the error handler as `wrongType`, and the old value stays.
  public var value: any Sendable {
    get { handle.erasedValue }
    nonmutating set { handle.setErasedOrReport(newValue) }
  }
  /// Reads the value; throws as ``Handle/get()``.
  public func get() throws -> any Sendable { try handle.getErased() }
  /// Writes the value; throws as ``Handle/set(_:)``, and `wrongType` for one of another type.
  public func set(_ value: any Sendable) throws { try handle.setErased(value) }
  /// See ``Handle/remove()``.
  @discardableResult
  public func remove() throws(StoreError) -> Bool { try handle.remove() }
  /// See ``Handle/destroy()``.
  public func destroy() throws(StoreError) { try handle.destroy() }
  /// See ``Handle/isDestroyed``.
  public var isDestroyed: Bool { handle.isDestroyed }

  /// Calls `body` with the new value after each change; see ``Handle/observe(initial:queue:_:)``.
  public func observe(
    initial: Bool = false, _ body: @escaping @Sendable (any Sendable) -> Void
  ) throws(StoreError) -> Subscription {
    try handle.observeErased(initial: initial, body)
  }

  /// The handle's own observer; see ``Handle/observer``.
  public var observer: (@Sendable (Change) -> Void)? {
    get { handle.erasedObserver }
    nonmutating set { handle.erasedObserver = newValue }
  }
  /// See ``Handle/observerQueue``.
  public var observerQueue: DispatchQueue? {
    get { handle.observerQueue }
    nonmutating set { handle.observerQueue = newValue }
  }
  /// See ``Handle/invalidate()``.
  public func invalidate() { handle.invalidate() }

  /// The typed handle; nil if it has another type.
  public func handle<Value>(of type: Value.Type) -> Handle<Value>? { handle as? Handle<Value> }
}

extension Handle {
  /// The type-erased handle.
  public func erased() -> AnyHandle { AnyHandle(self) }
}

private protocol ErasableHandle: AnyObject, Sendable, CustomStringConvertible {
  var key: String { get }
  var valueType: Any.Type { get }
  var label: String? { get set }
  var isDestroyed: Bool { get }
  var erasedValue: any Sendable { get }
  var erasedObserver: (@Sendable (AnyHandle.Change) -> Void)? { get set }
  var observerQueue: DispatchQueue? { get set }
  func invalidate()
  func setErasedOrReport(_ value: any Sendable)
  func getErased() throws -> any Sendable
  func setErased(_ value: any Sendable) throws
  func remove() throws(StoreError) -> Bool
  func destroy() throws(StoreError)
  func observeErased(
    initial: Bool, _ body: @escaping @Sendable (any Sendable) -> Void
  ) throws(StoreError) -> Subscription
}

extension Handle: ErasableHandle {
  fileprivate var valueType: Any.Type { Value.self }
  fileprivate var erasedValue: any Sendable { value }
  fileprivate func getErased() throws -> any Sendable { try get() }

  fileprivate func setErased(_ value: any Sendable) throws {
    guard let value = value as? Value else {
      throw StoreError(
        .wrongType, key: key, "the value is of type \(type(of: value)), but the handle is of type \(Value.self)")
    }
    try set(value)
  }

  fileprivate func setErasedOrReport(_ value: any Sendable) {
    guard let value = value as? Value else { return report { try setErased(value) } }
    self.value = value
  }

  fileprivate var erasedObserver: (@Sendable (AnyHandle.Change) -> Void)? {
    get {
      guard let observer else { return nil }
      return { change in if let change = change.asChange(of: Value.self) { observer(change) } }
    }
    set {
      guard let newValue else { return invalidate() }
      observer = { change in newValue(change.telling(change.old, change.new)) }
    }
  }

  fileprivate func observeErased(
    initial: Bool, _ body: @escaping @Sendable (any Sendable) -> Void
  ) throws(StoreError) -> Subscription {
    try observe(initial: initial) { body($0.new) }
  }
}

extension AnyHandle.Change {
  /// The change with typed values; nil if it has another type.
  fileprivate func asChange<Typed: Sendable>(of type: Typed.Type) -> Key<Typed>.Change? {
    guard let old = old as? Typed, let new = new as? Typed else { return nil }
    return telling(old, new)
  }
}
