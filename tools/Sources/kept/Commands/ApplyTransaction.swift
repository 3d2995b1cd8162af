import ArgumentParser
import Kept

struct ApplyTransaction: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transaction",
    abstract: "Makes several changes together, from standard input.",
    usage: "kept transaction STORE [--expect CONDITION]... [--dry-run] < OPERATIONS",
    discussion: """
      One JSON object a line, all committed together or none; expectations come before the changes:

        {"set": KEY, "value": VALUE}
        {"reset": KEY}
        {"expect": KEY, "revision": N}    only if the key has this revision
        {"expect": KEY, "value": VALUE}   only if the key has this value

      The revision of a key that is absent is 0.

      CONDITION is KEY@REVISION or KEY=VALUE, with VALUE as `kept set` takes it.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var writing: WritingOptions
  @Option(help: ArgumentHelp("Change nothing unless this holds; may be repeated.", valueName: "condition"))
  var expect: [String] = []
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store; the operations come from standard input")
    let conditions = try expect.map(Condition.init)
    let operations = try Self.operations(StandardInput.text(dropsLastLineBreak: true).withoutMark, location)
    try Edit.commit(to: location, writing) { edit in
      for condition in conditions { try condition.check(in: edit) }
      for (number, operation) in operations {
        do throws(StoreError) { try operation.apply(to: edit, allowsUndeclared: writing.undeclared) } catch {
          throw StoreError(error.code, key: error.key, "\(error.message) (line \(number))")
        }
      }
    }
  }

  private static func operations(
    _ text: String, _ location: String
  ) throws(StoreError) -> [(line: Int, operation: Operation)] {
    var operations: [(line: Int, operation: Operation)] = []
    for (index, line) in text.lines.enumerated() where !line.isBlank {
      do throws(StoreError) { operations.append((index + 1, try Operation(line))) } catch {
        let shown = error.shown(in: line, hiding: StoreAccess.secrets(of: location).map(\.text))
        throw StoreError(error.code, key: error.key, "line \(index + 1): \(shown.message)")
      }
    }
    return operations
  }
}

/// A condition on the command line.
private enum Condition {
  case revision(KeyName, Revision)
  case value(KeyName, String)

  init(_ text: String) throws {
    if let (key, value) = text.halves(at: "=") {
      self = .value(try KeyName(key), value)
    } else if let (key, number) = text.halves(atLast: "@"), let revision = Revision(number) {
      self = .revision(try KeyName(key), revision)
    } else {
      throw ValidationError("--expect takes KEY@REVISION or KEY=VALUE, and \(Excerpt.of(text)) is neither")
    }
  }

  func check(in edit: Edit) throws(StoreError) {
    switch self {
    case .revision(let key, let revision): try edit.expect(key, revision)
    case .value(let key, let text): try edit.expect(key, text: text)
    }
  }
}

/// One line of a transaction.
private enum Operation {
  case set(KeyName, Value)
  case reset(KeyName)
  case expectRevision(KeyName, Revision)
  case expectValue(KeyName, Value)

  init(_ line: String) throws(StoreError) {
    let value = try Value(json: line)
    guard case .dictionary(let members) = value else {
      throw .refused(nil, "an operation is a JSON object such as {\"set\":\"audio.volume\",\"value\":70}")
    }
    let names = members.map(\.key.text)
    switch (names, members["set"], members["reset"], members["expect"]) {
    case (["set", "value"], .string(let key)?, _, _): self = .set(try KeyName(key), members["value"] ?? .null)
    case (["reset"], _, .string(let key)?, _): self = .reset(try KeyName(key))
    case (["expect", "value"], _, _, .string(let key)?):
      self = .expectValue(try KeyName(key), members["value"] ?? .null)
    case (["expect", "revision"], _, _, .string(let key)?):
      guard let revision = members["revision"]?.asUInt64 else { fallthrough }
      self = .expectRevision(try KeyName(key), revision)
    default:
      throw .refused(
        nil,
        "an operation has the members set and value, reset, or expect with value or revision; this one has "
          + (names.isEmpty ? "none" : names.joined(separator: " and ")))
    }
  }

  func apply(to edit: Edit, allowsUndeclared: Bool) throws(StoreError) {
    switch self {
    case .set(let key, let value): try edit.set(key, value, allowsUndeclared: allowsUndeclared)
    case .reset(let key): try edit.reset(key, allowsUndeclared: allowsUndeclared)
    case .expectRevision(let key, let revision): try edit.expect(key, revision)
    case .expectValue(let key, let value): try edit.expect(key, value)
    }
  }
}
