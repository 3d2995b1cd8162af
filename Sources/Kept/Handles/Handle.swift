// A handle: one setting as an object, to be read, written, removed and observed wherever it is passed to.

public import KeptCore

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
/// Any number of handles of a key live side by side and see the same value, as long as they are of one type: within the
/// process a handle of another type is a `typeConflict`, until one of them is ``destroy()``ed. A mapped handle, as from
/// ``map(encode:decode:observer:)``, is another view of the same key. A class that is Sendable holds a setting as a
/// `let`. Any thread. In C and Python a key's text is all there is.
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
  /// Reading gives the default where nothing is stored, and where it cannot be read as this type: then the error
  /// handler hears why, and what is stored stays. Writing nil removes the key. A write that fails is told to the error
  /// handler, and the old value stays. Destroyed, it reads as the default and writes nothing, and the error handler
  /// hears it.
  @inlinable public var value: Value {
    get { remembered() ?? valueOrDefault() }
    set { setOrReport(newValue) }
  }

  /// Reads the value; the default where nothing is stored.
  ///
  /// Throws what a conversion throws, unchanged, and `wrongType` for a value of another type, which stays stored;
  /// `closed` if the store was closed or the handle destroyed.
  @inlinable public func get() throws -> Value { try remembered() ?? read() }

  /// Writes the value; nil removes the key.
  ///
  /// Throws what a conversion throws, unchanged, what ``SettingsAccess/set(_:for:)`` throws, and `closed` if the store
  /// was closed or the handle destroyed. What was stored before stays.
  /// - Returns: the layer that hides what is stored, the command line or the environment; nil: nothing hides it.
  @discardableResult
  public func set(_ value: Value) throws -> Layer? {
    try binding.checkAlive()
    let stored = try source.stored(value)
    return try binding.write { () throws(StoreError) in try store.set(stored, forKey: key) }
  }

  /// Removes what is stored: the value is the default again; false if there was nothing to remove.
  @discardableResult
  public func remove() throws(StoreError) -> Bool {
    try binding.write { () throws(StoreError) in try store.delete(binding.key) }
  }

  /// Whether no layer has a value, so that the handle reads as a default; the error handler hears if it cannot be
  /// known.
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
  /// A failure is told to the error handler.
  public static func << (handle: Handle, value: Value?) {
    if let value { handle.value = value } else { handle.report { try handle.remove() } }
  }

  // MARK: - Destroying

  /// Ends the key's use: removes what is stored, ends all observers of all its handles, and frees its type.
  ///
  /// Afterwards every handle of the key in this process, mapped ones too, throws `closed` and says that it was
  /// destroyed; none reads or writes any more. Whoever is in the middle of a write is waited for. A new handle may be
  /// of another type. Throws what removing throws, and then nothing has changed; `closed` if it was destroyed before,
  /// since the key may be another's by now.
  ///
  /// Observers may still hear of the removal, and of nothing after it.
  // Not a code of its own: to a program it is what `close` is, the end of an object, and C and Python have no handles.
  public func destroy() throws(StoreError) { try store.destroy(binding) }

  /// Whether this or another handle of the key was destroyed.
  public var isDestroyed: Bool { binding.isDestroyed }

  // MARK: - Telling

  /// What ``description`` says instead of type and key, if it is not nil.
  public var label: String? {
    get { ownLabel.read { $0 } }
    set { ownLabel.update { $0 = newValue } }
  }

  // MARK: - Details

  /// What the store's index knows, if the handle's value is just that.
  @inlinable @inline(__always)
  func remembered() -> Value? {
    guard let value = store.remembered(bytes, as: Value.self), isAlive else { return nil }
    return value
  }

  @usableFromInline var isAlive: Bool { !binding.isDestroyed }

  /// Asks whether it was destroyed before and after: what was read in between may be another handle's.
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

  /// Tells the error handler what could not be thrown.
  func report(_ body: () throws -> Void) {
    do { try body() } catch { store.report(StoreError(encoding: error).about(key)) }
  }
}

extension Handle: CustomStringConvertible {
  /// The label, or type and key: `Handle<Int>(key: "volume")`, also where the value may be nil.
  public var description: String {
    let type = (Value.self as? any AnyOptional.Type)?.wrapped ?? Value.self
    return label ?? "Handle<\(type)>(key: \"\(key)\"\(isDestroyed ? ", destroyed" : ""))"
  }
}
