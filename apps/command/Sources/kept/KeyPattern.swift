// A pattern for keys: * stands for any characters, dots too, and ? for one character.

import ArgumentParser
import Kept

/// The pattern of `--match`, which matches whole keys.
struct KeyPattern: ExpressibleByArgument {
  fileprivate enum Part { case any, one, exactly(Unicode.Scalar) }
  private let parts: [Part]

  init(argument: String) {
    var (parts, isEscaped) = ([Part](), false)
    for scalar in argument.unicodeScalars {
      switch scalar {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "*" where !isEscaped: parts.append(.any)
      case "?" where !isEscaped: parts.append(.one)
      default: parts.append(.exactly(scalar))
      }
      isEscaped = false
    }
    self.parts = parts + (isEscaped ? [.exactly("\\")] : [])
  }

  /// The beginning that all matching keys have.
  var prefix: String {
    var prefix = String.UnicodeScalarView()
    for case .exactly(let scalar) in parts.prefix(while: { if case .exactly = $0 { true } else { false } }) {
      prefix.append(scalar)
    }
    return String(prefix)
  }

  func matches(_ key: KeyName) -> Bool {
    let scalars = Array(key.text.unicodeScalars)
    var (part, place) = (0, 0)
    // Where to continue if the rest does not match: one character later behind the last star.
    var star: (part: Int, place: Int)?
    while place < scalars.count || part < parts.count {
      if part < parts.count, case .any = parts[part] {
        star = (part, place)
        part += 1
      } else if part < parts.count, place < scalars.count, parts[part].matches(scalars[place]) {
        (part, place) = (part + 1, place + 1)
      } else if let last = star, last.place < scalars.count {
        star = (last.part, last.place + 1)
        (part, place) = (last.part + 1, last.place + 1)
      } else {
        return false
      }
    }
    return true
  }
}

extension KeyPattern.Part {
  func matches(_ scalar: Unicode.Scalar) -> Bool {
    if case .exactly(let expected) = self { expected == scalar } else { true }
  }
}

/// The option of commands that are about several keys.
struct MatchOption: ParsableArguments {
  @Option(
    name: .customLong("match"),
    help: ArgumentHelp("Only keys that match: * is any characters, ? is one, and \\ quotes.", valueName: "pattern"))
  var patterns: [KeyPattern] = []

  var pattern: KeyPattern? { patterns.first }

  func validate() throws {
    if patterns.count > 1 { throw ValidationError("--match can be given only once") }
  }

  /// The keys that the pattern matches; all without one.
  func matches(_ key: KeyName) -> Bool { pattern?.matches(key) ?? true }

  /// A prefix that all matching keys have.
  func prefix(_ given: String) -> String {
    guard let start = pattern?.prefix, start.begins(with: given) else { return given }
    return start
  }
}
