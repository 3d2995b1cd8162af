// How ranges are stored: as an object of their two bounds.

public import KeptCore

/// `{"lower": 1, "upper": 5}`, and 5 is not in it.
///
/// A closed range is stored the same: what a key means by it is for the key's type to say.
extension Range: Storable, CodedAsStored where Bound: Storable {
  /// Throws `wrongType` for bounds that are missing or the wrong way round.
  public init(stored value: Value) throws(StoreError) {
    let bounds = try RangeBounds<Bound>(stored: value)
    self = bounds.lower..<bounds.upper
  }

  public func stored() throws(StoreError) -> Value { try RangeBounds.stored(lowerBound, upperBound) }

  public static var schema: Schema? { RangeBounds<Bound>.schema }
}

/// `{"lower": 1, "upper": 5}`, and 5 is in it.
extension ClosedRange: Storable, CodedAsStored where Bound: Storable {
  /// Throws `wrongType` for bounds that are missing or the wrong way round.
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
    // NaN is in no order with anything.
    guard lower <= upper else { throw StoreError(.wrongType, "holds a range whose lower bound is not the lower one") }
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
