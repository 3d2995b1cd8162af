// How types are named on the command line: as in declarations.

import ArgumentParser
import Kept

extension DeclaredType: @retroactive ExpressibleByArgument {
  public init?(argument: String) {
    guard let type = Self.allCases.first(where: { $0.description == argument }) else { return nil }
    self = type
  }

  public static var allValueStrings: [String] { allCases.map(\.description) }
}

extension Declaration {
  /// The keywords for the elements of an array.
  var elements: ValueDictionary? { if case .dictionary(let words)? = words["items"] { words } else { nil } }

  /// The type of the elements, if it is one.
  var elementType: DeclaredType? {
    if case .string(let name)? = elements?["type"] { DeclaredType(argument: name) } else { nil }
  }
}

enum Names {
  /// The type that a value is declared as, with its article.
  static func described(_ value: Value?) -> String {
    let name = value.map { kind($0.kind) } ?? "null"
    return switch value?.kind {
    case .bytes?, .null?, nil: name
    case .int?, .uint?, .array?, .dictionary?: "an \(name)"
    default: "a \(name)"
    }
  }

  /// The type that a value's kind is declared as.
  static func kind(_ kind: Value.Kind) -> String {
    switch kind {
    case .bool: "boolean"
    case .int, .uint: "integer"
    case .double: "number"
    case .dictionary: "object"
    default: kind.rawValue
    }
  }
}
