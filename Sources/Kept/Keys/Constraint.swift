// Constraints on the values of a key beyond their type: the keywords of JSON Schema, each for the types that it applies
// to.

public import FoundationEssentials
import KeptSchema
import KeptValues

/// A constraint on the values of a key, in every process and language, once the key is declared.
///
/// ```swift
/// static let volume = Key("audio.volume", default: 50, .range(0...100), summary: "Loudness in percent")
/// static let host   = Key<String?>("network.host", .length(1...255), .pattern("^[a-z0-9.-]+$"))
/// static let tags   = Key<[String]>("tags", default: [], .each(.length(1...40)))
/// ```
///
/// `settings.declare(.volume, .host, .tags)` puts it into effect. A constraint for another type does not compile. Of
/// two constraints with the same keyword the later one applies.
public struct Constraint<Value: Storable>: Sendable {
  typealias Rule = @Sendable (inout Schema) throws(StoreError) -> Void
  let rule: Rule

  init(_ word: ExactString, _ value: @escaping @Sendable () throws(StoreError) -> KeptValues.Value) {
    rule = { schema throws(StoreError) in schema[word] = try value() }
  }

  init(rule: @escaping Rule) { self.rule = rule }

  /// One of these values.
  ///
  /// An enum with raw values and `CaseIterable` has its cases as choices by default.
  public static func choices(_ choices: [Value]) -> Constraint {
    Constraint("enum") { () throws(StoreError) in .array(try choices.storedElements()) }
  }
}

extension Constraint where Value: Numeric & Comparable {
  /// A number between two bounds, both included.
  public static func range(_ range: ClosedRange<Value>) -> Constraint {
    Constraint { schema throws(StoreError) in
      try minimum(range.lowerBound).rule(&schema)
      try maximum(range.upperBound).rule(&schema)
    }
  }

  /// A number that is at least this one.
  public static func minimum(_ least: Value) -> Constraint {
    Constraint("minimum") { () throws(StoreError) in try least.stored() }
  }

  /// A number that is at most this one.
  public static func maximum(_ greatest: Value) -> Constraint {
    Constraint("maximum") { () throws(StoreError) in try greatest.stored() }
  }
}

extension Constraint where Value == String {
  /// A number of Unicode scalars in a range.
  public static func length(_ length: ClosedRange<Int>) -> Constraint { Constraint(length: length) }

  /// A text that the regular expression matches anywhere; use `^` and `$` to anchor it.
  ///
  /// The expression has PCRE2 syntax, with the same implementation in every language.
  public static func pattern(_ pattern: String) -> Constraint { Constraint("pattern") { .string(pattern) } }
}

extension Constraint where Value == Data {
  /// A number of bytes in a range.
  public static func length(_ length: ClosedRange<Int>) -> Constraint { Constraint(length: length) }
}

extension Constraint {
  fileprivate init(length: ClosedRange<Int>) {
    self.init { schema in
      schema["minLength"] = length.lowerBound == 0 ? nil : .int(Int64(length.lowerBound))
      schema["maxLength"] = length.upperBound == Int.max ? nil : .int(Int64(length.upperBound))
    }
  }

  /// Constraints on each element of an array.
  public static func each<Element>(_ constraints: Constraint<Element>...) -> Constraint where Value == [Element] {
    Constraint { schema throws(StoreError) in
      schema["items"] = try (Element.schema ?? .anything).following(constraints).inside
    }
  }

  /// Constraints on the value of each member of a dictionary.
  public static func each<Member>(_ constraints: Constraint<Member>...) -> Constraint where Value == [String: Member] {
    Constraint { schema throws(StoreError) in
      schema["additionalProperties"] = try (Member.schema ?? .anything).following(constraints).inside
    }
  }
}

extension Schema {
  /// The schema with the constraints applied.
  func following<Value>(_ constraints: [Constraint<Value>]) throws(StoreError) -> Schema {
    var schema = self
    for constraint in constraints { try constraint.rule(&schema) }
    return schema
  }
}

extension Array where Element: Storable {
  fileprivate func storedElements() throws(StoreError) -> [KeptValues.Value] {
    var values: [KeptValues.Value] = []
    for element in self { values.append(try element.stored()) }
    return values
  }
}
