import ArgumentParser
import Kept

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists keys with their values and where these come from.",
    usage: "kept list STORE [PREFIX] [--all] [--tree | --json | --null]",
    discussion: """
      On a terminal a table; elsewhere one KEY=JSON a line, in which a key with a quote, an equals sign or a control \
      character is a JSON string. With --null each key and each value ends with a zero byte. A secret has (secret) as \
      its value, which is no JSON, and a key without a value has nothing there.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @Flag(name: [.short, .long], help: "Also keys that only have a default, or no value at all.")
  var all = false
  @Flag(help: "Show the parts of keys as a tree.")
  var tree = false
  @Flag(help: "One JSON object: for each key value, type, layer, revision, changed, tag and summary.")
  var json = false
  @Flag(name: [.customShort("z"), .long], help: "Separate keys and values by zero bytes.")
  var null = false
  @Flag(help: "Show the values of secrets.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if [tree, json, null].count(where: \.self) > 1 { throw ValidationError("give one of --tree, --json and --null") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let prefix = try rest.expect(0...1, "at most one prefix").first ?? ""
    let settings = try StoreAccess.open(location, layers.choice)
    var rows = try ListedKey.all(in: settings, prefix: prefix, withDefaults: all)
    if json || !null && !tree && Output.standard.isTerminal { ListedKey.addChanges(to: &rows, settings, prefix) }
    if json { return printJSON(rows) }
    if null { return printFields(rows) }
    if tree { return KeyTree(rows, reveal: reveal).print() }
    if Output.standard.isTerminal { return printTable(rows) }
    for row in rows { Output.standard.write(line: "\(Shown.key(row.key))=\(Shown.json(row.field(reveal)))") }
  }

  private func printTable(_ rows: [ListedKey]) {
    var table = Table(
      ["KEY", "TYPE", "VALUE", "LAYER", "CHANGED", "BY", "SUMMARY"],
      shrinking: [(6, 12), (5, 0), (4, 0), (6, 0), (2, 12), (1, 0), (0, 12)])
    for row in rows {
      table.add([
        row.key.text, row.type, Shown.cut(Shown.line(row.shownValue(reveal)), to: 40), row.layer?.description ?? "",
        row.changed.map { String("\($0.time)".prefix(16)) } ?? "", Shown.line(row.changed?.tag ?? ""),
        row.summary ?? "",
      ])
    }
    table.print()
  }

  private func printFields(_ rows: [ListedKey]) {
    for row in rows { Output.standard.write("\(row.key.text)\0\(row.field(reveal))\0") }
  }

  private func printJSON(_ rows: [ListedKey]) {
    Output.standard.write("{")
    for (index, row) in rows.enumerated() {
      Output.standard.write(
        "\(index > 0 ? ",\n" : "\n")  \(Shown.json(.string(row.key.text))): \(Shown.json(row.json(reveal)))")
    }
    Output.standard.write(rows.isEmpty ? "}\n" : "\n}\n")
  }
}

/// A key as a list shows it.
struct ListedKey {
  let key: KeyName
  var value: Value?
  let layer: Layer?
  let revision: Revision?
  let declaration: Declaration?
  /// The change that has stored the value; nil if the history does not have it.
  var changed: PastChange?

  /// Adds when and by whom the values were stored, as far as the history knows.
  static func addChanges(to rows: inout [ListedKey], _ settings: Store, _ prefix: String) {
    guard let history = try? settings.history(prefix: prefix) else { return }
    let last = Dictionary(history.changes.map { ($0.key, $0) }) { newest, _ in newest }
    for index in rows.indices {
      guard let change = last[rows[index].key], change.revision == rows[index].revision else { continue }
      rows[index].changed = change
    }
  }

  static func all(in settings: Store, prefix: String, withDefaults: Bool) throws(StoreError) -> [ListedKey] {
    let snapshot = try settings.snapshot(prefix: prefix)
    var keys = try snapshot.listedKeys(prefix: ExactString(prefix))
    if withDefaults {
      let known = Set(keys)
      keys += try snapshot.declarations(prefix: prefix).declarations.map(\.key).filter { !known.contains($0) }
      keys.sort()
    }
    var rows: [ListedKey] = []
    for key in keys {
      do throws(StoreError) {
        let (resolved, entry) = (try snapshot.resolved(key), try snapshot.entry(for: key))
        rows.append(
          ListedKey(
            key: key, value: resolved.value, layer: resolved.layer,
            revision: entry?.value == nil ? nil : entry?.revision, declaration: entry?.declaration))
      } catch {
        // The other keys are readable all the same.
        Failure.print(error)
      }
    }
    return rows
  }

  var type: String { declaration.map(\.type.description) ?? value.map { "(\(Names.kind($0.kind)))" } ?? "" }
  var summary: String? { declaration?.summary }

  func isHidden(_ reveal: Bool) -> Bool { declaration?.isSecret == true && !reveal }

  func shownValue(_ reveal: Bool) -> String {
    guard let value else { return "" }
    return isHidden(reveal) ? "(secret)" : ValueText.text(of: value, as: declaration?.type)
  }

  /// The value as JSON for a program, to which `(secret)` is no value.
  func field(_ reveal: Bool) -> String {
    guard let value else { return "" }
    return isHidden(reveal) ? "(secret)" : value.json
  }

  func json(_ reveal: Bool) -> String {
    var members: [(ExactString, Value)] = []
    if let declaration { members.append(("type", .string(declaration.type.description))) }
    if isHidden(reveal) { members.append(("secret", true)) } else if let value { members.append(("value", value)) }
    if let layer { members.append(("layer", .string(layer.description))) }
    if let revision { members.append(("revision", .int(Int64(clamping: revision)))) }
    if let changed { members.append(("changed", .string(changed.time.description))) }
    if let tag = changed?.tag { members.append(("tag", .string(tag))) }
    if let summary { members.append(("summary", .string(summary))) }
    return Value.dictionary(ValueDictionary(members)).json
  }
}

/// Keys as a tree: each part between dots is a level.
struct KeyTree {
  private let rows: [ListedKey]
  private let reveal: Bool

  init(_ rows: [ListedKey], reveal: Bool) { (self.rows, self.reveal) = (rows, reveal) }

  func print() {
    var open: [ExactString] = []
    for row in rows {
      let parts = row.key.text.parts(at: ".").map { ExactString($0) }
      var shared = zip(open, parts.dropLast()).prefix { $0 == $1 }.count
      while shared < parts.count - 1 {
        Output.standard.write(line: indent(shared) + Shown.line(parts[shared].text).styled(.bold))
        shared += 1
      }
      open = Array(parts.dropLast())
      let name = Shown.line(parts[parts.count - 1].text)
      Output.standard.write(line: "\(indent(open.count))\(name) = \(Shown.line(row.shownValue(reveal)))")
    }
  }

  private func indent(_ depth: Int) -> String { String(repeating: "  ", count: depth) }
}
