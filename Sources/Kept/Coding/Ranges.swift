// Ranges are stored as an object of their two bounds.

import KeptSchema
import KeptValues

/// The object `{"lower": 1, "upper": 5}`, without 5.
///
/// A closed range is stored in the same form: the key's type determines whether the upper bound is included.
extension Range: Storable, CodedAsStored where Bound: Storable {
  /// Throws `wrongType` for bounds that are missing or in the wrong order.
  public init(stored value: Value) throws(StoreError) {
    let bounds = try RangeBounds<Bound>(stored: value)
    self = bounds.lower..<bounds.upper
  }

  public func stored() throws(StoreError) -> Value { try RangeBounds.stored(lowerBound, upperBound) }

  public static var schema: Schema? { RangeBounds<Bound>.schema }
}

/// The object `{"lower": 1, "upper": 5}`, including 5.
extension ClosedRange: Storable, CodedAsStored where Bound: Storable {
  /// Throws `wrongType` for bounds that are missing or in the wrong order.
  public init(stored value: Value) throws(StoreError) {
    let bounds = try RangeBounds<Bound>(stored: value)
    self = bounds.lower...bounds.upper
  }

  public func stored() throws(StoreError) -> Value { try RangeBounds.stored(lowerBound, upperBound) }

  public static var schema: Schema? { RangeBounds<Bound>.schema }
}

/// Two bounds in order.
private struct RangeBounds<Bound: Storable & Comparable> {
  let lower, upper: Bound

  init(stored value: Value) throws(StoreError) {
    guard case .dictionary(let members) = value else { throw .mismatch(value, asked: .dictionary) }
    lower = try Self.bound("lower", of: members)
    upper = try Self.bound("upper", of: members)
    // NaN is unordered.
    guard lower <= upper else {
      throw StoreError(.wrongType, "holds a range whose bounds are not in order")
    }
  }

  private static func bound(_ name: String, of members: ValueDictionary) throws(StoreError) -> Bound {
    guard let value = members[ExactString(name)] else { throw StoreError(.wrongType, "has no member \"\(name)\"") }
    do { return try Bound(stored: value) } catch { throw error.at(.member(name)) }
  }

  static func stored(_ lower: Bound, _ upper: Bound) throws(StoreError) -> Value {
    .dictionary(["lower": try member("lower", lower), "upper": try member("upper", upper)])
  }

  private static func member(_ name: String, _ bound: Bound) throws(StoreError) -> Value {
    do { return try bound.stored() } catch { throw error.at(.member(name)) }
  }

  static var schema: Schema? {
    let bound = Bound.schema?.inside ?? Schema.anything.atRoot
    return Schema.object
      .saying("properties", ["lower": bound, "upper": bound])
      .saying("required", ["lower", "upper"])
  }
}
