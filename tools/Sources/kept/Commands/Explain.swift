import ArgumentParser
import Kept

struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows what each layer has for a key, which one wins, and why.",
    usage: "kept explain STORE KEY [--env-prefix PREFIX] [-- ARGUMENTS OF THE PROGRAM]",
    discussion: """
      Give the environment prefix and the arguments with which the program is started, and it shows what the program \
      reads. The administrator's files are included for a store that is named by its identifier.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @Flag(help: "Print JSON.")
  var json = false
  @Flag(help: "Show the values of a secret.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let arguments = Words.afterTerminator
    let (location, rest) = try store.split(Array(words.dropLast(arguments.count)))
    let key = try rest.expect(1...1, "one key")[0]
    let settings = try StoreAccess.open(location, layers.choice, arguments: arguments.isEmpty ? nil : arguments)
    let found = try settings.explain(key)
    if json {
      Output.standard.write(json: try text(of: found))
    } else {
      print(found, as: try settings.declaration(forKey: key)?.type)
    }
    if found.value == nil {
      if let similar = try Suggestion.unknown(key, in: settings), !similar.isEmpty {
        Failure.print("\(Excerpt.of(key)): has no value, and is not declared\(similar)")
      }
      throw ExitStatus.absent
    }
  }

  private func print(_ found: Explanation, as type: DeclaredType?) {
    Output.standard.write(line: Shown.line(found.reason).styled(.bold))
    var table = Table(["", "LAYER", "VALUE", "", "FROM"], flexible: 2)
    for finding in found.layers {
      let value = finding.value.map { finding.isSecret && !reveal ? "(secret)" : ValueText.text(of: $0, as: type) }
      table.add([
        finding.outcome == .wins ? "→" : "", finding.layer.description, value ?? "–",
        finding.problem ?? (finding.outcome == .wins || finding.outcome == .silent ? "" : finding.outcome.rawValue),
        finding.source ?? "",
      ])
    }
    table.print()
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
