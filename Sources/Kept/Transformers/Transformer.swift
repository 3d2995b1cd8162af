// How a value becomes another one that can be stored, and is made of it again.

import KeptCore

/// A pair of conversions: from what a program uses to what is stored, and back.
///
/// ```swift
/// static let frame = Key("window.frame", default: Frame.zero, through: .json)
/// static let celsius = Transformer<Double, Double>(transform: { $0 + 273.15 }, untransform: { $0 - 273.15 })
/// ```
///
/// What either of them throws reaches the caller unchanged: a handle's `get` and `set` throw it, and where the type of
/// the error is fixed, as with ``SettingsReading/value(for:)``, it is the ``StoreError/underlying`` one. What is stored
/// stays. They are called on the thread that reads, writes or observes, and never while a lock is held.
public struct Transformer<Input: Sendable, Output: Sendable>: Sendable {
  /// Makes what is stored.
  public let transform: @Sendable (Input) throws -> Output
  /// Makes the value of what is stored.
  public let untransform: @Sendable (Output) throws -> Input

  public init(
    transform: @escaping @Sendable (Input) throws -> Output, untransform: @escaping @Sendable (Output) throws -> Input
  ) {
    self.transform = transform
    self.untransform = untransform
  }

  /// One after the other: what this one makes goes through the next, and what is stored comes back in reverse.
  public func appending<Next>(_ next: Transformer<Output, Next>) -> Transformer<Input, Next> {
    Transformer<Input, Next>(
      transform: { try next.transform(try transform($0)) },
      untransform: { try untransform(try next.untransform($0)) })
  }

  /// The same for a value that may be missing: nil stays nil.
  var ofOptionals: Transformer<Input?, Output?> {
    Transformer<Input?, Output?>(
      transform: { try $0.map(transform) }, untransform: { try $0.map(untransform) })
  }

  /// Your own encoder and decoder.
  public static func custom(
    encode: @escaping @Sendable (Input) throws -> Output, decode: @escaping @Sendable (Output) throws -> Input
  ) -> Transformer {
    Transformer(transform: encode, untransform: decode)
  }

  /// The same for each element of an array; one that fails fails the array.
  public static func elements<Element, Stored>(
    _ element: Transformer<Element, Stored>
  ) -> Transformer where Input == [Element], Output == [Stored] {
    Transformer(
      transform: { try $0.map(element.transform) }, untransform: { try $0.map(element.untransform) })
  }
}

extension StoreError {
  /// What a transformer threw when it read; an error of Kept's own stays what it is.
  init(untransforming error: any Error) {
    self = (error as? StoreError) ?? StoreError(decoding: error).caused(by: error)
  }

  /// What a transformer threw when it was to write.
  init(transforming error: any Error) {
    self = (error as? StoreError) ?? StoreError(encoding: error).caused(by: error)
  }

  private func caused(by error: any Error) -> StoreError {
    StoreError(code, key: key, offset: offset, message, underlying: error)
  }

  /// What the program's own conversion threw, or else the failure itself.
  var cause: any Error { underlying ?? self }
}

extension Transformer where Input: RawRepresentable, Output == Input.RawValue {
  /// An enum, or another type with a raw value, by that value.
  ///
  /// Reading throws `wrongType` for one that the type does not know, such as a case of a newer version.
  public static var rawValue: Transformer {
    Transformer(
      transform: { $0.rawValue },
      untransform: { raw in
        guard let value = Input(rawValue: raw) else {
          throw StoreError(.wrongType, "holds \(withArticle(Output.self)) that is no \(Input.self)")
        }
        return value
      })
  }
}
