// The words of a command line: which of them names the store, and which begin with a dash without being options.

import ArgumentParser
import Kept

enum Words {
  /// What stands after `--`: the arguments of another program.
  static var afterTerminator: [String] {
    let arguments = CommandLine.arguments
    return arguments.firstIndex(of: "--").map { Array(arguments[($0 + 1)...]) } ?? []
  }

  /// Moves negative numbers behind a `--`, so that `kept set STORE KEY -5` needs none.
  ///
  /// No option of this program begins with a digit.
  static func guarded(_ arguments: [String]) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    let numbers = arguments[..<end].filter(isNegativeNumber)
    if numbers.isEmpty { return arguments }
    return arguments[..<end].filter { !isNegativeNumber($0) } + ["--"] + numbers + arguments[end...].dropFirst()
  }

  /// Throws for a first word that is no command, with the one that may have been meant.
  static func checkCommand(_ word: String?) throws {
    guard let word, !word.hasPrefix("-"), !CompletionScript.commands.contains(word),
      !["complete", "manual"].contains(word)
    else { return }
    let similar = Suggestion.closest(to: word, among: CompletionScript.commands)
    throw ValidationError("\(Excerpt.of(word)) is no command\(similar); kept --help lists them")
  }

  private static func isNegativeNumber(_ word: String) -> Bool {
    guard word.hasPrefix("-"), let next = word.dropFirst().unicodeScalars.first else { return false }
    return "0"..."9" ~= next || next == "."
  }
}

/// The option that names the store.
struct StoreOption: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("The store, in place of the first word.", valueName: "location"))
  var store: String?

  /// Splits the words into the store's location and the rest.
  func split(_ words: [String]) throws -> (location: String, rest: [String]) {
    if let store { return (store, words) }
    if let location = Environment.variable("KEPT_STORE") { return (location, words) }
    guard let first = words.first else {
      throw ValidationError("name the store: an identifier such as com.example.player, or a path; see kept stores")
    }
    return (first, Array(words.dropFirst()))
  }
}

extension [String] {
  /// Exactly so many words, or usage with what is expected.
  func expect(_ counts: ClosedRange<Int>, _ expected: String) throws -> [String] {
    guard counts ~= count else {
      let extra = count < counts.lowerBound ? "" : "\(Excerpt.of(self[counts.upperBound])) is one word too many; "
      throw ValidationError("\(extra)expected \(expected)")
    }
    return self
  }
}
