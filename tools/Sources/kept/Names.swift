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

enum Names {
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
