// Mapped handles: views of the same key in another type, through one or more conversions.

import KeptValues

extension Handle {
  /// A view of the key in another type, by conversions that cannot fail.
  ///
  /// ```swift
  /// let decibels = try settings.handle(.gain).map(encode: { pow(10, $0 / 20) }, decode: { 20 * log10($0) })
  /// ```
  ///
  /// Its observers receive the converted values. All handles of the key see each other's writes; destroying one
  /// destroys all. Observers and label belong to each handle separately; `observer` is the initial value of
  /// ``observer``.
  public func map<Mapped>(
    encode: @escaping @Sendable (Mapped) -> Value, decode: @escaping @Sendable (Value) -> Mapped,
    observer: (@Sendable (Handle<Mapped>.Change) -> Void)? = nil
  ) -> Handle<Mapped> {
    view(MappedSource(base: source, encode: encode, decode: decode, undecodable: decode), observer)
  }

  /// A view of the key in another type, by conversions that may fail; nil stays nil.
  ///
  /// If the stored value cannot be converted, ``get()`` throws the transformer's own error, and ``value`` is nil.
  public func map<Mapped, Wrapped>(
    _ transformer: Transformer<Mapped, Wrapped>, observer: (@Sendable (Handle<Mapped?>.Change) -> Void)? = nil
  ) -> Handle<Mapped?> where Value == Wrapped? {
    view(
      MappedSource(
        base: source,
        encode: { try $0.map(transformer.transform) },
        decode: { try $0.map(transformer.untransform) },
        undecodable: { _ in nil }), observer)
  }

  /// A view of the key that is never nil: its value is `value` if nothing readable is stored.
  ///
  /// ``remove()`` resets it to that.
  public func defaulted<Wrapped>(
    to value: Wrapped, observer: (@Sendable (Handle<Wrapped>.Change) -> Void)? = nil
  ) -> Handle<Wrapped> where Value == Wrapped? {
    view(MappedSource(base: source, encode: { $0 }, decode: { $0 ?? value }, undecodable: { _ in value }), observer)
  }

  private func view<Mapped>(
    _ source: MappedSource<Value, Mapped>, _ observer: (@Sendable (Handle<Mapped>.Change) -> Void)?
  ) -> Handle<Mapped> {
    Handle<Mapped>(source, binding, in: store).observed(by: observer)
  }
}
