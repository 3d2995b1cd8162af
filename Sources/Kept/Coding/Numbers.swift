// Numbers in the store. KeptCore determines which conversions are allowed, with one rule for all languages: only exact
// ones. The range of each Swift type is checked in addition.

import KeptSchema
import KeptValues

// With `& Codable`, because the integers also conform to that: the more specific default implementation is used.
extension Storable where Self: FixedWidthInteger & Codable {
  /// Reads an integer, or a double without a fraction, within the range of the type.
  public init(stored value: Value) throws(StoreError) {
    if let number = value.asInt64.flatMap({ Self(exactly: $0) }) {
      self = number
    } else if let number = value.asUInt64.flatMap({ Self(exactly: $0) }) {
      self = number
    } else {
      throw .mismatch(value, number: Self.self, asked: .int)
    }
  }

  /// An integer; above `Int64.max` an unsigned one.
  public func stored() throws(StoreError) -> Value {
    if let number = Int64(exactly: self) { return .int(number) }
    if let number = UInt64(exactly: self) { return .uint(number) }
    throw StoreError(.invalid, "the integer has more than 64 bits; a store holds Int64.min to UInt64.max")
  }

  /// An integer within the range of the type, if that is narrower than the range of `Int64`.
  public static var schema: Schema? {
    Schema.integer
      .saying("minimum", Self.min > Int64.min ? .int(Int64(Self.min)) : nil)
      .saying("maximum", Self.max < Int64.max ? .int(Int64(Self.max)) : nil)
  }
}

extension Int: Storable, CodedAsStored {}
extension Int8: Storable, CodedAsStored {}
extension Int16: Storable, CodedAsStored {}
extension Int32: Storable, CodedAsStored {}
extension Int64: Storable, CodedAsStored {}
extension Int128: Storable, CodedAsStored {}
extension UInt: Storable, CodedAsStored {}
extension UInt8: Storable, CodedAsStored {}
extension UInt16: Storable, CodedAsStored {}
extension UInt32: Storable, CodedAsStored {}
extension UInt64: Storable, CodedAsStored {}
extension UInt128: Storable, CodedAsStored {}

extension Double: Storable, CodedAsStored {
  /// Reads a double, or an integer that a double can hold.
  public init(stored value: Value) throws(StoreError) {
    guard let number = value.asDouble else { throw .mismatch(value, number: Double.self, asked: .double) }
    self = number
  }

  public func stored() -> Value { .double(self) }

  public static var schema: Schema? { .number }
}

extension Float: Storable, CodedAsStored {
  /// Reads a number that a Float can represent: 0.5, but not the double 0.1.
  public init(stored value: Value) throws(StoreError) {
    guard let number = value.asDouble, let float = number.isNaN ? .nan : Float(exactly: number) else {
      throw .mismatch(value, number: Float.self, asked: .double)
    }
    self = float
  }

  /// A double, which can represent every Float.
  public func stored() -> Value { .double(Double(self)) }

  public static var schema: Schema? { .number }
}
