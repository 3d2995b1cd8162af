// Transformers: conversions between a program's values and storable ones.

import KeptValues

/// A pair of conversions: from a program's value to the stored value, and back.
///
/// ```swift
/// static let frame = Key("window.frame", default: Frame.zero, through: .json)
/// static let celsius = Transformer<Double, Double>(transform: { $0 + 273.15 }, untransform: { $0 - 273.15 })
/// ```
///
/// Their errors reach the caller unchanged: a handle's `get` and `set` throw them, and if the type of the error is
/// fixed, as with ``SettingsReading/value(for:)``, they are the ``StoreError/underlying`` error. The stored value stays
/// then. They are called on the thread that reads, writes or observes, and never while a lock is held.
public struct Transformer<Input: Sendable, Output: Sendable>: Sendable {
  /// Converts a value to the stored one.
  public let transform: @Sendable (Input) throws -> Output
  /// Converts a stored value back.
  public let untransform: @Sendable (Output) throws -> Input

  public init(
    transform: @escaping @Sendable (Input) throws -> Output, untransform: @escaping @Sendable (Output) throws -> Input
  ) {
    self.transform = transform
    self.untransform = untransform
  }

  /// A transformer that applies this one and then the next, and reverses them in the opposite order.
  public func appending<Next>(_ next: Transformer<Output, Next>) -> Transformer<Input, Next> {
    Transformer<Input, Next>(
      transform: { try next.transform(try transform($0)) },
      untransform: { try untransform(try next.untransform($0)) })
  }

  /// A transformer for optional values: nil stays nil.
  var ofOptionals: Transformer<Input?, Output?> {
    Transformer<Input?, Output?>(
      transform: { try $0.map(transform) }, untransform: { try $0.map(untransform) })
  }

  /// A transformer with your own encoder and decoder.
  public static func custom(
    encode: @escaping @Sendable (Input) throws -> Output, decode: @escaping @Sendable (Output) throws -> Input
  ) -> Transformer {
    Transformer(transform: encode, untransform: decode)
  }

  /// A transformer for each element of an array; one that fails makes the array fail.
  public static func elements<Element, Stored>(
    _ element: Transformer<Element, Stored>
  ) -> Transformer where Input == [Element], Output == [Stored] {
    Transformer(
      transform: { try $0.map(element.transform) }, untransform: { try $0.map(element.untransform) })
  }
}

extension StoreError {
  /// The error of a transformer when reading; an error of Kept's own is unchanged.
  init(untransforming error: any Error) {
    self = (error as? StoreError) ?? StoreError(decoding: error).caused(by: error)
  }

  /// The error of a transformer when writing.
  init(transforming error: any Error) {
    self = (error as? StoreError) ?? StoreError(encoding: error).caused(by: error)
  }

  private func caused(by error: any Error) -> StoreError {
    StoreError(code, key: key, offset: offset, message, underlying: error)
  }

  /// The error of the program's own conversion, or else this error itself.
  var cause: any Error { underlying ?? self }
}

extension Transformer where Input: RawRepresentable, Output == Input.RawValue {
  /// Converts an enum, or another type with a raw value, to that value.
  ///
  /// Reading throws `wrongType` for a raw value that the type does not have, such as a case of a newer version.
  public static var rawValue: Transformer {
    Transformer(
      transform: { $0.rawValue },
      untransform: { raw in
        guard let value = Input(rawValue: raw) else {
          throw StoreError(.wrongType, "holds \(withArticle(Output.self)) that is not \(withArticle(Input.self))")
        }
        return value
      })
  }
}
