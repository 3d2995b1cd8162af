// Less common constraints: exclusive bounds, multiples, constants, counts, and annotations.

import KeptSchema
import KeptValues

extension Constraint {
  /// This value only.
  public static func constant(_ value: Value) -> Constraint {
    Constraint("const") { () throws(StoreError) in try value.stored() }
  }

  /// The format of a text, such as `email` or `uri`: an annotation for editors and readers, which is not checked.
  public static func format(_ format: String) -> Constraint { Constraint("format") { .string(format) } }

  /// An annotation that the key, or the element or member in `.each`, should no longer be set.
  ///
  /// Setting it works. The store's error handler receives ``StoreError/Code/deprecated``, once for each key and store
  /// object.
  public static var deprecated: Constraint { Constraint("deprecated") { true } }

  /// The key to set instead of this one, which must be ``deprecated``.
  public static func replacedBy(_ key: String) -> Constraint { Constraint("replacedBy") { .string(key) } }

  /// The version of the program that has the key first: an annotation for readers.
  public static func since(_ version: String) -> Constraint { Constraint("since") { .string(version) } }

  /// The name that the key had before.
  ///
  /// Declaring the key moves the value that is stored under the former name, if the key has none or an older one. The
  /// other layers are read under the former name too, if they have nothing under the new one.
  public static func renamedFrom(_ name: String) -> Constraint { Constraint("renamedFrom") { .string(name) } }
}

extension Constraint where Value: Numeric & Comparable {
  /// A number greater than this one.
  public static func exclusiveMinimum(_ bound: Value) -> Constraint {
    Constraint("exclusiveMinimum") { () throws(StoreError) in try bound.stored() }
  }

  /// A number less than this one.
  public static func exclusiveMaximum(_ bound: Value) -> Constraint {
    Constraint("exclusiveMaximum") { () throws(StoreError) in try bound.stored() }
  }

  /// An integer multiple of a number above 0.
  ///
  /// A `Double` represents the shortest decimal number that reads as it, so 19.99 is a multiple of 0.01.
  public static func multipleOf(_ unit: Value) -> Constraint {
    Constraint("multipleOf") { () throws(StoreError) in try unit.stored() }
  }
}

extension Constraint {
  /// A number of elements in a range.
  public static func count<Element>(_ count: ClosedRange<Int>) -> Constraint where Value == [Element] {
    Constraint(count, "minItems", "maxItems")
  }

  /// A number of members in a range.
  public static func count<Member>(_ count: ClosedRange<Int>) -> Constraint where Value == [String: Member] {
    Constraint(count, "minProperties", "maxProperties")
  }

  /// No two equal elements: numbers are compared by their numeric value, also inside containers.
  public static func uniqueElements<Element>() -> Constraint where Value == [Element] {
    Constraint("uniqueItems") { true }
  }

  /// Constraints on the name of each member of a dictionary.
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
