import ArgumentParser
import Kept

struct ApplyTransaction: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transaction",
    abstract: "Makes several changes together, from standard input.",
    usage: "kept transaction STORE [--expect CONDITION]... [--dry-run] < OPERATIONS",
    discussion: """
      One JSON object per line, in order, all committed together or none. An expectation sees the changes of the lines \
      before it, so give it before the changes of its key:

        {"set": KEY, "value": VALUE}
        {"reset": KEY}
        {"add": KEY, "value": VALUE}      an element at the end of a list
        {"remove": KEY, "value": VALUE}   every element of a list that is equal to it
        {"expect": KEY, "revision": N}    only if the key has this revision
        {"expect": KEY, "value": VALUE}   only if the key has this value

      The revision of a key that is absent is 0.

      CONDITION is KEY@REVISION or KEY=VALUE, with VALUE written as for `kept set`.
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
  case change(KeyName, removing: [GivenValue], adding: [GivenValue])
  case expectRevision(KeyName, Revision)
  case expectValue(KeyName, Value)

  init(_ line: String) throws(StoreError) {
    let value = try Value(json: line)
    guard case .dictionary(let members) = value else {
      throw .refused(
        nil, "the operation is not a JSON object; write one such as {\"set\":\"audio.volume\",\"value\":70}")
    }
    let names = members.map(\.key.text)
    let verb = names.first { $0 != "value" && $0 != "revision" } ?? ""
    guard case .string(let name)? = members[ExactString(verb)] else {
      let isVerb = ["set", "reset", "add", "remove", "expect"].contains(verb)
      throw isVerb ? .refused(nil, "the key in \"\(verb)\" is not a string") : Self.refusal(names)
    }
    let (key, given) = (try KeyName(name), members["value"] ?? .null)
    switch (verb, names.filter { $0 != verb }) {
    case ("set", ["value"]): self = .set(key, given)
    case ("reset", []): self = .reset(key)
    case ("add", ["value"]): self = .change(key, removing: [], adding: [.value(given)])
    case ("remove", ["value"]): self = .change(key, removing: [.value(given)], adding: [])
    case ("expect", ["value"]): self = .expectValue(key, given)
    case ("expect", ["revision"]):
      guard let revision = members["revision"]?.asUInt64 else {
        throw .refused(nil, "\"revision\" is not an integer of 0 or more")
      }
      self = .expectRevision(key, revision)
    default: throw Self.refusal(names)
    }
  }

  private static func refusal(_ names: [String]) -> StoreError {
    .refused(
      nil,
      "expected reset alone, set, add or remove with value, or expect with value or revision; found "
        + (names.isEmpty ? "no member" : names.joined(separator: " and ")))
  }

  func apply(to edit: Edit, allowsUndeclared: Bool) throws(StoreError) {
    switch self {
    case .set(let key, let value): try edit.set(key, value, allowsUndeclared: allowsUndeclared)
    case .reset(let key): try edit.reset(key, allowsUndeclared: allowsUndeclared)
    case .change(let key, let removed, let added):
      try edit.change(
        listAt: key, removing: removed, adding: added, as: nil, allowsUndeclared: allowsUndeclared)
    case .expectRevision(let key, let revision): try edit.expect(key, revision)
    case .expectValue(let key, let value): try edit.expect(key, value)
    }
  }
}
