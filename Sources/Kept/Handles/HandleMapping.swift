// Handles that show another type: views of the same key through conversions, one over the other.

extension Handle {
  /// A view of the key in another type, by conversions that cannot fail.
  ///
  /// ```swift
  /// let decibels = try settings.handle(.gain).map(encode: { pow(10, $0 / 20) }, decode: { 20 * log10($0) })
  /// ```
  ///
  /// Its observers get the new value as it reads there. What one handle of the key writes all see; destroying one
  /// destroys all. Observers and label are each handle's own; `observer` is what ``observer`` is from the start.
  public func map<Mapped>(
    encode: @escaping @Sendable (Mapped) -> Value, decode: @escaping @Sendable (Value) -> Mapped,
    observer: (@Sendable (Handle<Mapped>.Change) -> Void)? = nil
  ) -> Handle<Mapped> {
    view(MappedSource(base: source, encode: encode, decode: decode, undecodable: decode), observer)
  }

  /// A view of the key in another type, by conversions that may fail; nil stays nil.
  ///
  /// Where what is stored cannot be converted ``get()`` throws the transformer's own error, and ``value`` is nil.
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

  /// A view of the key that is never nil: `value` is read where nothing is stored, or nothing that can be read.
  ///
  /// ``remove()`` brings it back to that.
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
