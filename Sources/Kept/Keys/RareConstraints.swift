// The constraints that fewer keys need: exclusive bounds, multiples, constants, counts, and remarks.

import KeptCore

extension Constraint {
  /// This value and no other.
  public static func constant(_ value: Value) -> Constraint {
    Constraint("const") { () throws(StoreError) in try value.stored() }
  }

  /// What kind of text it is, such as `email` or `uri`: a remark for editors and readers, which nothing checks.
  public static func format(_ format: String) -> Constraint { Constraint("format") { .string(format) } }

  /// A remark that the key, or the element or member that `.each` speaks of, is not to be set any more.
  ///
  /// Setting it works. The store's error handler hears ``StoreError/Code/deprecated``, once for each key and store
  /// object; say in the key's `summary` what takes its place.
  public static var deprecated: Constraint { Constraint("deprecated") { true } }
}

extension Constraint where Value: Numeric & Comparable {
  /// A greater number than this.
  public static func exclusiveMinimum(_ bound: Value) -> Constraint {
    Constraint("exclusiveMinimum") { () throws(StoreError) in try bound.stored() }
  }

  /// A smaller number than this.
  public static func exclusiveMaximum(_ bound: Value) -> Constraint {
    Constraint("exclusiveMaximum") { () throws(StoreError) in try bound.stored() }
  }

  /// A multiple of a number above 0, by any integer.
  ///
  /// A `Double` counts as the shortest decimal number that reads as it, so 19.99 is a multiple of 0.01.
  public static func multipleOf(_ unit: Value) -> Constraint {
    Constraint("multipleOf") { () throws(StoreError) in try unit.stored() }
  }
}

extension Constraint {
  /// From so many to so many elements.
  public static func count<Element>(_ count: ClosedRange<Int>) -> Constraint where Value == [Element] {
    Constraint(count, "minItems", "maxItems")
  }

  /// From so many to so many members.
  public static func count<Member>(_ count: ClosedRange<Int>) -> Constraint where Value == [String: Member] {
    Constraint(count, "minProperties", "maxProperties")
  }

  /// No two elements that are equal: numbers count for what they are worth, also inside.
  public static func uniqueElements<Element>() -> Constraint where Value == [Element] {
    Constraint("uniqueItems") { true }
  }

  /// Rules for the name of each member of a dictionary.
  public static func names<Member>(_ constraints: Constraint<String>...) -> Constraint where Value == [String: Member] {
    Constraint { schema throws(StoreError) in
      schema["propertyNames"] = try Schema.string.following(constraints).inside
    }
  }

  private init(_ count: ClosedRange<Int>, _ least: ExactString, _ most: ExactString) {
    self.init { schema in
      schema[least] = count.lowerBound == 0 ? nil : .int(Int64(count.lowerBound))
      schema[most] = count.upperBound == Int.max ? nil : .int(Int64(count.upperBound))
    }
  }
}
