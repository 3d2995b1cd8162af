// The compiler's messages for a key without a default and for a constraint on the wrong type. Without these overloads
// it mentions internal generic parameters, or says "failed to produce diagnostic".

public import KeptCore
import KeptValues

// No code that compiles selects any of these overloads: they exist for their messages.

extension Key {
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "a key needs a default, as in Key(\"name\", default: 50), or an optional type, as in Key<Int?>(\"name\")"
  )
  @_disfavoredOverload
  public convenience init(
    _ name: String, _ constraints: Constraint<Value>..., summary: String? = nil, secret: Bool = false
  ) where Value: Storable {
    fatalError("unavailable code cannot be called")
  }

  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "a key needs a default, as in Key(\"name\", default: 50), or an optional type, as in Key<Int?>(\"name\")"
  )
  @_disfavoredOverload
  public convenience init<Stored: Storable>(
    _ name: String, through transformer: Transformer<Value, Stored>, _ constraints: Constraint<Stored>...,
    summary: String? = nil, secret: Bool = false
  ) {
    fatalError("unavailable code cannot be called")
  }
}

extension Setting {
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "a setting needs a default, as in @Setting(\"name\") var volume = 50, or an optional type"
  )
  @_disfavoredOverload
  public init(_ name: String, in store: Store? = nil) where Value: Storable {
    fatalError("unavailable code cannot be called")
  }
}

extension Constraint {
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "'length' is for keys of String and Data; for the elements of an array, use .each(.length(…))"
  )
  @_disfavoredOverload
  public static func length(_ length: ClosedRange<Int>) -> Constraint { .unavailable }

  @_documentation(visibility: internal)
  @available(
    *, unavailable, message: "'pattern' is for keys of String; for the elements of an array, use .each(.pattern(…))"
  )
  @_disfavoredOverload
  public static func pattern(_ pattern: String) -> Constraint { .unavailable }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'range' is for keys of numbers, with bounds of the key's own type")
  @_disfavoredOverload
  public static func range<Bound>(_ range: ClosedRange<Bound>) -> Constraint { .unavailable }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'minimum' is for keys of numbers, and takes a number of the key's own type")
  @_disfavoredOverload
  public static func minimum<Bound>(_ least: Bound) -> Constraint { .unavailable }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'maximum' is for keys of numbers, and takes a number of the key's own type")
  @_disfavoredOverload
  public static func maximum<Bound>(_ greatest: Bound) -> Constraint { .unavailable }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'choices' takes values of the key's own type")
  @_disfavoredOverload
  public static func choices<Choice>(_ choices: [Choice]) -> Constraint { .unavailable }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'each' is for keys of arrays and of dictionaries")
  @_disfavoredOverload
  public static func each(_ constraints: UnsuitedConstraint...) -> Constraint { .unavailable }

  private static var unavailable: Constraint { Constraint { _ in } }
}

/// The type inside an `each` that is not possible: any constraint, of any type.
///
/// Its members are also unavailable, so that the message for an unsuitable constraint in an array's `each` names that
/// constraint.
@_documentation(visibility: internal)
public struct UnsuitedConstraint: Sendable {
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'length' is for String and Data")
  @_disfavoredOverload
  public static func length(_ length: ClosedRange<Int>) -> Self { Self() }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'pattern' is for String")
  @_disfavoredOverload
  public static func pattern(_ pattern: String) -> Self { Self() }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'range' is for numbers")
  @_disfavoredOverload
  public static func range<Bound>(_ range: ClosedRange<Bound>) -> Self { Self() }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'minimum' is for numbers")
  @_disfavoredOverload
  public static func minimum<Bound>(_ least: Bound) -> Self { Self() }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'maximum' is for numbers")
  @_disfavoredOverload
  public static func maximum<Bound>(_ greatest: Bound) -> Self { Self() }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'choices' takes values of the element's own type")
  @_disfavoredOverload
  public static func choices<Choice>(_ choices: [Choice]) -> Self { Self() }

  @_documentation(visibility: internal)
  @available(*, unavailable, message: "'each' is for arrays and dictionaries")
  @_disfavoredOverload
  public static func each(_ constraints: UnsuitedConstraint...) -> Self { Self() }
}
