// The source of a handle's value: a key, or another handle through a pair of conversions.

import KeptCore
import KeptValues

/// Converts between a handle's value and the stored value.
protocol HandleSource<Value>: Sendable {
  associatedtype Value: Sendable

  /// The bytes for a lookup in the index, if it has the handle's value unconverted; else `none`.
  var bytes: PreparedBytes { get }

  /// The handle's value if nothing is stored.
  func absent(in store: Store) -> Value

  /// Reads the value; errors of conversions are thrown unchanged.
  func value(in store: Store) throws -> Value

  /// Reads the value; a failure is reported to the error handler, and returns the value for an absent key.
  func valueOrAbsent(in store: Store) -> Value

  /// The value to store; errors of conversions are thrown unchanged.
  func stored(_ value: Value) throws -> KeptValues.Value

  /// The change in a notice about the key, in the handle's type; nil for a notice without changes.
  func change(in notice: Notice, _ texts: LayerTexts) -> Key<Value>.Change?
}

/// The source for a key without conversions.
struct KeySource<Value: Sendable>: HandleSource {
  let key: Key<Value>
  let binding: Binding

  var bytes: PreparedBytes { key.bytes }
  func absent(in store: Store) -> Value { key.defaultValue(in: store) }
  func valueOrAbsent(in store: Store) -> Value { store.valueOrDefault(key, under: binding) }

  func value(in store: Store) throws -> Value {
    do throws(StoreError) { return try store.storedOrDefault(key, under: binding) } catch { throw error.cause }
  }

  func stored(_ value: Value) throws -> KeptValues.Value {
    do throws(StoreError) { return try key.write(value) } catch { throw error.cause }
  }

  func change(in notice: Notice, _ texts: LayerTexts) -> Key<Value>.Change? {
    Key.Change(in: notice, of: key, texts)
  }
}

/// A source on top of another one, which converts each value with `encode` and `decode`.
struct MappedSource<Base: Sendable, Value: Sendable>: HandleSource {
  let base: any HandleSource<Base>
  let encode: @Sendable (Value) throws -> Base
  let decode: @Sendable (Base) throws -> Value
  /// The value if `decode` throws.
  let undecodable: @Sendable (Base) -> Value

  var bytes: PreparedBytes { .none }
  func value(in store: Store) throws -> Value { try decode(try base.value(in: store)) }
  func stored(_ value: Value) throws -> KeptValues.Value { try base.stored(try encode(value)) }

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
