// When a stored number is the number asked for: only if it survives the way there and back. A bool is never a number.

public import KeptCore

extension Value {
  /// The integer, if the type can hold it.
  ///
  /// 3.0 is 3; 3.5 is not an integer, nor is -0.0, which would lose its sign.
  func exactly<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    switch self {
    case .int(let number): Integer(exactly: number)
    case .uint(let number): Integer(exactly: number)
    case .double(let number) where number == 0 && number.sign == .minus: nil
    case .double(let number): Integer(exactly: number)
    default: nil
    }
  }

  /// The double, if it holds the number: 2^53 + 1 it does not.
  var exactDouble: Double? {
    switch self {
    case .int(let number): Double(exactly: number)
    case .uint(let number): Double(exactly: number)
    case .double(let number): number
    default: nil
    }
  }
}

// With `& Codable`, since the integers are that too: the more specific default is the one that counts.
extension Storable where Self: FixedWidthInteger & Codable {
  /// Reads an integer, or a double without a fraction, within the range of the type.
  public init(stored value: Value) throws(StoreError) {
    guard let number = value.exactly(Self.self) else {
      throw .mismatch(value, number: Self.self, asked: .int)
    }
    self = number
  }

  /// An integer; above `Int64.max` an unsigned one.
  public func stored() throws(StoreError) -> Value {
    if let number = Int64(exactly: self) { return .int(number) }
    if let number = UInt64(exactly: self) { return .uint(number) }
    throw StoreError(.invalid, "is given an integer beyond 64 bits; a store holds Int64.min to UInt64.max")
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
    guard let number = value.exactDouble else { throw .mismatch(value, number: Double.self, asked: .double) }
    self = number
  }

  public func stored() -> Value { .double(self) }
}

extension Float: Storable, CodedAsStored {
  /// Reads a number that a Float can hold: 0.5, but not the double 0.1.
  public init(stored value: Value) throws(StoreError) {
    guard let number = value.exactDouble, let float = number.isNaN ? .nan : Float(exactly: number) else {
      throw .mismatch(value, number: Float.self, asked: .double)
    }
    self = float
  }

  /// A double; every Float is one.
  public func stored() -> Value { .double(Double(self)) }
}
