// A handle: one setting as an object, which can be read, written, removed and observed.

public import KeptCore
import KeptSystem
import KeptValues

/// One key of one store, as an object.
///
/// ```swift
/// let volume = try settings.handle(.volume)
/// volume.value = 70
/// volume << 80
/// volume.observer = { change in print(change.new) }
/// try volume.remove()
/// ```
///
/// Any number of handles of a key can coexist and see the same value if they have the same type: within the process a
/// handle of another type is a `typeConflict`, until one of them is ``destroy()``ed. A mapped handle, as from
/// ``map(encode:decode:observer:)``, is another view of the same key. A Sendable class can hold a handle as a `let`.
/// Use it on any thread. C and Python have no handles: they use a key's text.
public final class Handle<Value: Sendable>: Sendable {
  /// The store that is read and written.
  public let store: Store
  let binding: Binding
  let source: any HandleSource<Value>
  let slot: ObserverSlot<Value>
  private let ownLabel = Monitor<String?>(nil)
  // They belong to a key that `source` holds, and never change.
  @usableFromInline nonisolated(unsafe) let bytes: PreparedBytes

  init(_ source: any HandleSource<Value>, _ binding: Binding, in store: Store) {
    self.store = store
    self.binding = binding
    self.source = source
    bytes = source.bytes
    slot = ObserverSlot(store)
  }

  /// The key's text.
  public var key: String { binding.key.text }

  /// The value; never throws.
  ///
  /// Reading returns the default if nothing is stored, or if the stored value cannot be read as this type; then the
  /// error handler receives the reason, and the stored value stays. Writing nil removes the key. A failed write is
  /// reported to the error handler, and the old value stays. A destroyed handle reads as the default and writes
  /// nothing, which is reported to the error handler.
  @inlinable public var value: Value {
    get { remembered() ?? valueOrDefault() }
    set { setOrReport(newValue) }
  }

  /// Reads the value; the default if nothing is stored.
  ///
  /// Throws the error of a conversion unchanged, and `wrongType` for a value of another type, which stays stored;
  /// `closed` if the store was closed or the handle destroyed.
  @inlinable public func get() throws -> Value { try remembered() ?? read() }

  /// Writes the value; nil removes the key.
  ///
  /// Throws the error of a conversion unchanged, what ``SettingsAccess/set(_:for:)`` throws, and `closed` if the store
  /// was closed or the handle destroyed. The stored value stays then.
  /// - Returns: the layer that hides the stored value, the command line or the environment; nil if none does.
  @discardableResult
  public func set(_ value: Value) throws -> Layer? {
    try binding.checkAlive()
    let stored = try source.stored(value)
    return try binding.write { () throws(StoreError) in try store.set(stored, forKey: key) }
  }

  /// Removes the stored value, so that the value is the default again; returns false if there was nothing to remove.
  @discardableResult
  public func remove() throws(StoreError) -> Bool {
    try binding.write { () throws(StoreError) in try store.delete(binding.key) }
  }

  /// Whether no layer has a value, so that the handle reads as a default; a failed check is reported to the error
  /// handler.
  public var isDefault: Bool {
    do throws(StoreError) {
      try binding.checkAlive()
      return try store.resolved(binding.key).layer.map { $0 <= .registered } ?? true
    } catch {
      store.report(error)
      return true
    }
  }

  /// Writes a value, or removes the key for nil: `volume << 70`, `volume << nil`.
  ///
  /// A failure is reported to the error handler.
  public static func << (handle: Handle, value: Value?) {
    if let value { handle.value = value } else { handle.report { try handle.remove() } }
  }

  // MARK: - Destroying

  /// Ends the key's use: removes the stored value, ends all observers of all its handles, and releases its type.
  ///
  /// Afterwards every handle of the key in this process, including mapped ones, throws `closed` with a message that it
  /// was destroyed; none reads or writes any more. Running writes are waited for. A new handle may have another type.
  /// Throws what removing throws, and then nothing has changed; `closed` if it was destroyed before, because new
  /// handles of the key may exist by now.
  ///
  /// Observers may still be notified of the removal, and of nothing after it.
  // Not a separate error code: to a program it is the end of an object, like `close`, and C and Python have no handles.
  public func destroy() throws(StoreError) { try store.destroy(binding) }

  /// Whether this or another handle of the key was destroyed.
  public var isDestroyed: Bool { binding.isDestroyed }

  // MARK: - Description

  /// The text of ``description`` in place of type and key, if it is not nil.
  public var label: String? {
    get { ownLabel.read { $0 } }
    set { ownLabel.update { $0 = newValue } }
  }

  // MARK: - Implementation

  /// The value in the store's index, if it is the handle's value unconverted.
  @inlinable @inline(__always)
  func remembered() -> Value? {
    var isAbsent = false
    guard let value = store.remembered(bytes, as: Value.self, &isAbsent), isAlive else { return nil }
    return value
  }

  @usableFromInline var isAlive: Bool { !binding.isDestroyed }

  /// Checks before and after whether the handle was destroyed: a value read in between may belong to another handle.
  @usableFromInline func read() throws -> Value {
    try binding.checkAlive()
    let result = Result { try source.value(in: store) }
    try binding.checkAlive()
    return try result.get()
  }

  @usableFromInline func valueOrDefault() -> Value {
    do throws(StoreError) {
      try binding.checkAlive()
      let value = source.valueOrAbsent(in: store)
      try binding.checkAlive()
      return value
    } catch {
      store.report(error)
      return source.absent(in: store)
    }
  }

  @usableFromInline func setOrReport(_ value: Value) {
    report { if let layer = try set(value) { throw StoreError.shadowed(binding.key, by: layer) } }
  }

  /// Reports to the error handler an error that cannot be thrown.
  func report(_ body: () throws -> Void) {
    do { try body() } catch { store.report(StoreError(encoding: error).about(key)) }
  }
}

extension Handle: CustomStringConvertible {
  /// The label, or type and key: `Handle<Int>(key: "volume")`, also if the value is optional.
  public var description: String {
    let type = (Value.self as? any AnyOptional.Type)?.wrapped ?? Value.self
    return label ?? "Handle<\(type)>(key: \"\(key)\"\(isDestroyed ? ", destroyed" : ""))"
  }
}
