// What the values of a key must be beyond their type: the words of JSON Schema, each for the types it makes sense for.

public import FoundationEssentials
import KeptCore

/// A rule that values of a key must keep, in every process and language, once the key is declared.
///
/// ```swift
/// static let volume = Key("audio.volume", default: 50, .range(0...100), summary: "Loudness in percent")
/// static let host   = Key<String?>("network.host", .length(1...255), .pattern("^[a-z0-9.-]+$"))
/// static let tags   = Key<[String]>("tags", default: [], .each(.length(1...40)))
/// ```
///
/// `settings.declare(.volume, .host, .tags)` puts it in force. A rule for another type does not compile. Of two that
/// say the same thing differently the later one counts.
public struct Constraint<Value: Storable>: Sendable {
  typealias Rule = @Sendable (inout Schema) throws(StoreError) -> Void
  let rule: Rule

  init(_ word: ExactString, _ value: @escaping @Sendable () throws(StoreError) -> KeptCore.Value) {
    rule = { schema throws(StoreError) in schema[word] = try value() }
  }

  init(rule: @escaping Rule) { self.rule = rule }

  /// One of these, and nothing else.
  ///
  /// An enum with raw values and `CaseIterable` has its cases as choices of itself.
  public static func choices(_ choices: [Value]) -> Constraint {
    Constraint("enum") { () throws(StoreError) in .array(try choices.storedElements()) }
  }
}

extension Constraint where Value: Numeric & Comparable {
  /// A number from the first to the last, both included.
  public static func range(_ range: ClosedRange<Value>) -> Constraint {
    Constraint { schema throws(StoreError) in
      try minimum(range.lowerBound).rule(&schema)
      try maximum(range.upperBound).rule(&schema)
    }
  }

  /// This number or a greater one.
  public static func minimum(_ least: Value) -> Constraint {
    Constraint("minimum") { () throws(StoreError) in try least.stored() }
  }

  /// This number or a smaller one.
  public static func maximum(_ greatest: Value) -> Constraint {
    Constraint("maximum") { () throws(StoreError) in try greatest.stored() }
  }
}

extension Constraint where Value == String {
  /// From so many to so many Unicode scalars.
  public static func length(_ length: ClosedRange<Int>) -> Constraint { Constraint(length: length) }

  /// A text in which the regular expression is found somewhere; `^` and `$` tie it to both ends.
  ///
  /// It is one of PCRE2, which every language asks in the same way.
  public static func pattern(_ pattern: String) -> Constraint { Constraint("pattern") { .string(pattern) } }
}

extension Constraint where Value == Data {
  /// From so many to so many bytes.
  public static func length(_ length: ClosedRange<Int>) -> Constraint { Constraint(length: length) }
}

extension Constraint {
  fileprivate init(length: ClosedRange<Int>) {
    self.init { schema in
      schema["minLength"] = length.lowerBound == 0 ? nil : .int(Int64(length.lowerBound))
      schema["maxLength"] = length.upperBound == Int.max ? nil : .int(Int64(length.upperBound))
    }
  }

  /// Rules for each element of an array.
  public static func each<Element>(_ constraints: Constraint<Element>...) -> Constraint where Value == [Element] {
    Constraint { schema throws(StoreError) in
      schema["items"] = try (Element.schema ?? .anything).following(constraints).inside
    }
  }

  /// Rules for the value of each member of a dictionary.
  public static func each<Member>(_ constraints: Constraint<Member>...) -> Constraint where Value == [String: Member] {
    Constraint { schema throws(StoreError) in
      schema["additionalProperties"] = try (Member.schema ?? .anything).following(constraints).inside
    }
  }
}

extension Schema {
  /// The same with what constraints say.
  func following<Value>(_ constraints: [Constraint<Value>]) throws(StoreError) -> Schema {
    var schema = self
    for constraint in constraints { try constraint.rule(&schema) }
    return schema
  }
}

extension Array where Element: Storable {
  fileprivate func storedElements() throws(StoreError) -> [KeptCore.Value] {
    var values: [KeptCore.Value] = []
    for element in self { values.append(try element.stored()) }
    return values
  }
}
