// Where a handle's value comes from: a key, or another handle seen through a pair of conversions.

import KeptCore

/// What is behind a handle: how its value is made of what is stored, and the reverse.
protocol HandleSource<Value>: Sendable {
  associatedtype Value: Sendable

  /// What the index finds the value by, where it is the handle's value as it stands; else `none`.
  var bytes: PreparedBytes { get }

  /// What the handle's value is where nothing is stored.
  func absent(in store: Store) -> Value

  /// Reads; errors of conversions come unchanged.
  func value(in store: Store) throws -> Value

  /// Reads; a failure is told to the error handler, and gives the value for nothing.
  func valueOrAbsent(in store: Store) -> Value

  /// What is to be stored; errors of conversions come unchanged.
  func stored(_ value: Value) throws -> KeptCore.Value

  /// A notice about the key in the handle's type; nil for a notice of nothing.
  func change(in notice: Notice, _ texts: LayerTexts) -> Key<Value>.Change?
}

/// A key as it is.
struct KeySource<Value: Sendable>: HandleSource {
  let key: Key<Value>
  let binding: Binding

  var bytes: PreparedBytes { key.bytes }
  func absent(in store: Store) -> Value { key.defaultValue(in: store) }
  func valueOrAbsent(in store: Store) -> Value { store.valueOrDefault(key, under: binding) }

  func value(in store: Store) throws -> Value {
    do throws(StoreError) { return try store.storedOrDefault(key, under: binding) } catch { throw error.cause }
  }

  func stored(_ value: Value) throws -> KeptCore.Value {
    do throws(StoreError) { return try key.write(value) } catch { throw error.cause }
  }

  func change(in notice: Notice, _ texts: LayerTexts) -> Key<Value>.Change? {
    Key.Change(in: notice, of: key, texts)
  }
}

/// Another source, with each value going through `encode` and `decode`.
struct MappedSource<Base: Sendable, Value: Sendable>: HandleSource {
  let base: any HandleSource<Base>
  let encode: @Sendable (Value) throws -> Base
  let decode: @Sendable (Base) throws -> Value
  /// The value where `decode` throws.
  let undecodable: @Sendable (Base) -> Value

  var bytes: PreparedBytes { .none }
  func value(in store: Store) throws -> Value { try decode(try base.value(in: store)) }
  func stored(_ value: Value) throws -> KeptCore.Value { try base.stored(try encode(value)) }

  func absent(in store: Store) -> Value {
    let base = base.absent(in: store)
    do { return try decode(base) } catch { return undecodable(base) }
  }

  func valueOrAbsent(in store: Store) -> Value {
    let base = base.valueOrAbsent(in: store)
    do { return try decode(base) } catch {
      store.report(StoreError(untransforming: error))
      return undecodable(base)
    }
  }

  func change(in notice: Notice, _ texts: LayerTexts) -> Key<Value>.Change? {
    base.change(in: notice, texts)?.map(decode, else: undecodable)
  }
}
