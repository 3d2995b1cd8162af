import ArgumentParser
import Kept

struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows what each layer has for a key, which one wins, and why.",
    usage: """
      kept explain STORE KEY [--env-prefix PREFIX] [-- ARGUMENTS]
      kept explain STORE [--env-prefix PREFIX] -- KEY [-- ARGUMENTS]
      """,
    discussion: """
      With the environment prefix and the ARGUMENTS of the program, explain shows the value that the program reads. \
      The administrator's files are included for a store that is named by its identifier. If one of them exists, the \
      store need not exist yet. Write a key that begins with a dash after --.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @Flag(help: "Print JSON.")
  var json = false
  @Flag(help: "Show the values of a secret.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (words, arguments) = try wordsAndArguments()
    let (location, rest) = try store.split(words)
    Passphrase.isAskedFor = reveal
    let key = try KeyName(rest.expect(1...1, "one key")[0])
    let settings = try StoreAccess.openToExplain(
      location, layers.choice, arguments: arguments.isEmpty ? nil : arguments)
    let found = try settings.explain(key.text)
    // Also that of a secret that is locked.
    let declaration = try settings.declarations(prefix: key.text).declarations.first { $0.key == key }?.declaration
    if json {
      Output.standard.write(json: try text(of: found))
    } else {
      let change = try? settings.history(of: key.text).changes.first { $0.revision == found.revision }
      print(found, as: declaration?.type, change)
    }
    if declaration?.formerName != nil {
      for misfit in FormerNames.misfits(at: location, layers.choice, of: key) { Failure.print(misfit) }
    }
    if found.layer == nil {
      try Suggestion.printUnknown(key, "has no value", in: settings)
      throw ExitStatus.absent
    }
    try Suggestion.printRenamed(key, in: settings)
  }

  /// The words that name the store and the key, and the arguments of the program.
  private func wordsAndArguments() throws -> (words: [String], arguments: [String]) {
    let after = Words.afterTerminator
    let before = Array(words.dropLast(after.count))
    let missing = max(0, store.count + 1 - before.count)
    guard missing > 0, !after.isEmpty else { return (before, after) }
    let arguments = after.dropFirst(missing)
    guard arguments.first ?? "--" == "--" else { return (before + after, []) }
    return (before + after.prefix(missing), Array(arguments.dropFirst()))
  }

  private func print(_ found: Explanation, as type: DeclaredType?, _ change: PastChange?) {
    Output.standard.write(line: Shown.line(found.reason).styled(.bold))
    var table = Table(["", "LAYER", "VALUE", "", "FROM"], shrinking: [(4, 16), (2, 12), (4, 0)])
    for finding in found.layers {
      let value = finding.value.map { finding.isSecret && !reveal ? "(secret)" : $0.text(as: type) }
      table.add([
        finding.outcome == .wins ? "→" : "", finding.layer.description, value ?? "–",
        finding.problem ?? (finding.outcome == .wins || finding.outcome == .silent ? "" : finding.outcome.rawValue),
        [
          finding.source ?? (finding.layer == .user ? Self.origin(found.revision, change) : nil),
          finding.formerName.map { "formerly \($0)" },
        ].compactMap(\.self).joined(separator: ", "),
      ])
    }
    table.print()
  }

  /// `revision 7, 2026-11-24T10:00:00.000Z, kept`, as far as it is known.
  private static func origin(_ revision: Revision?, _ change: PastChange?) -> String {
    guard let revision else { return "" }
    let parts = ["revision \(revision)", change?.time.local, change?.tag]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }

  /// The explanation as JSON, to which --reveal adds the values of a secret.
  private func text(of found: Explanation) throws(StoreError) -> String {
    guard reveal, found.isSecret, case .dictionary(var members) = try Value(json: found.json) else { return found.json }
    members["value"] = found.value
    if case .array(let layers)? = members["layers"] {
      members["layers"] = .array(
        zip(layers, found.layers).map { text, finding in
          guard case .dictionary(var layer) = text else { return text }
          layer["value"] = finding.value
          return .dictionary(layer)
        })
    }
    return Value.dictionary(members).json
  }
}
