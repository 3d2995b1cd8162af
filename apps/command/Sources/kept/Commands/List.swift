import ArgumentParser
import Kept

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists keys with their values and the layers they come from.",
    usage: """
      kept list STORE [PREFIX] [--all | --stored] [--tree | --json | --null]
      kept list --all-stores [PREFIX] [--match PATTERN]
      """,
    discussion: """
      Prints a table on a terminal, and one KEY=JSON per line elsewhere. The table and the tree have every declared \
      key; the lines, --json and --null have keys with only a default, or no value, if --all is given. A key with a \
      quote, an equals sign or a control character is printed as a JSON string. With --null each key and each value \
      ends with a zero byte. The value of a secret is printed as (secret), which is not JSON. For a key without a \
      value, the value is empty.

      With --all-stores each line begins with the store and a space, --null prints the store before each key, and \
      --json prints an object for each store. A store that cannot be opened is named on standard error, the others are \
      listed, and the exit status is 4.

      PATTERN matches whole keys: * matches any characters, including dots, ? one character, and \\* an asterisk. \
      Quote it, so that the shell does not expand it.
      """)

  @OptionGroup var stores: StoresOption
  @OptionGroup var layers: LayerOptions
  @OptionGroup var match: MatchOption
  @Flag(name: [.short, .long], help: "Also keys that only have a default, or no value at all, in every format.")
  var all = false
  @Flag(help: "Leave out keys that have only a default, or no value, also in the table and the tree.")
  var stored = false
  @Flag(help: "Show the parts of keys as a tree.")
  var tree = false
  @Flag(help: "One JSON object: for each key value, type, layer, revision, changed, tag and summary.")
  var json = false
  @Flag(name: [.customShort("z"), .long], help: "Separate keys and values with zero bytes.")
  var null = false
  @Flag(help: "Show the values of secrets.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if all, stored { throw ValidationError("--all cannot be combined with --stored") }
    if [tree, json, null].count(where: \.self) > 1 {
      throw ValidationError("--tree, --json and --null cannot be combined; use one")
    }
  }

  func run() throws {
    let (location, rest) = try stores.split(words)
    Passphrase.isAskedFor = reveal
    let prefix = try rest.expect(0...1, "at most one prefix").first ?? ""
    if let location {
      return print([("", try rows(of: StoreAccess.open(location, layers.choice), prefix))])
    }
    var lists: [(store: String, rows: [ListedKey])] = []
    let isComplete = try StoreAccess.readAll(layers.choice) { store, settings in
      lists.append((store, try rows(of: settings, prefix)))
    }
    print(lists.filter { !$0.rows.isEmpty })
    if !isComplete { throw ExitStatus.unavailable }
  }

  private var isTable: Bool { !json && !null && !tree && Output.standard.isTerminal }

  private func rows(of settings: Store, _ prefix: String) throws(StoreError) -> [ListedKey] {
    let start = match.prefix(prefix)
    var rows = try ListedKey.all(
      in: settings, prefix: start, withDefaults: all || !stored && (tree || isTable), match.matches)
    if json || isTable { ListedKey.addChanges(to: &rows, settings, start) }
    return rows
  }

  private func print(_ lists: [(store: String, rows: [ListedKey])]) {
    if isTable { return printTable(lists) }
    if json {
      guard stores.allStores else { return Output.standard.write(line: object(lists[0].rows, indent: "")) }
      let members = lists.map { ($0.store, object($0.rows, indent: "  ")) }
      return Output.standard.write(line: object(members, indent: ""))
    }
    for (store, rows) in lists {
      if tree {
        if stores.allStores { Output.standard.write(line: Shown.line(store).styled(.bold)) }
        KeyTree(rows, reveal: reveal, depth: stores.allStores ? 1 : 0).print()
        continue
      }
      for row in rows {
        if null {
          Output.standard.write((stores.allStores ? store + "\0" : "") + "\(row.key.text)\0\(row.field(reveal))\0")
        } else {
          let start = stores.allStores ? Shown.line(store) + " " : ""
          Output.standard.write(line: "\(start)\(Shown.key(row.key))=\(Shown.json(row.field(reveal)))")
        }
      }
    }
  }

  private func printTable(_ lists: [(store: String, rows: [ListedKey])]) {
    let first = stores.allStores ? 1 : 0
    var table = Table(
      (first > 0 ? ["STORE"] : []) + ["KEY", "TYPE", "VALUE", "LAYER", "CHANGED", "BY", "SUMMARY"],
      shrinking: [(6, 12), (5, 0), (4, 0), (6, 0), (2, 12), (1, 0), (0, 12)].map { ($0.0 + first, $0.1) }
        + (first > 0 ? [(0, 12)] : []))
    for (store, rows) in lists {
      for row in rows {
        table.add(
          (first > 0 ? [store] : []) + [
            row.key.text, row.type, Shown.cut(Shown.line(row.shownValue(reveal)), to: 40),
            row.layer?.description ?? "", row.changed.map { String($0.time.local.prefix(16)) } ?? "",
            Shown.line(row.changed?.tag ?? ""), row.summary ?? "",
          ])
      }
    }
    table.print()
  }

  private func object(_ rows: [ListedKey], indent: String) -> String {
    object(rows.map { ($0.key.text, $0.json(reveal)) }, indent: indent)
  }

  /// A JSON object with a member a line.
  private func object(_ members: [(name: String, json: String)], indent: String) -> String {
    guard !members.isEmpty else { return "{}" }
    let lines = members.map { "\n\(indent)  \(Shown.json(.string($0.name))): \(Shown.json($0.json))" }
    return "{\(lines.joined(separator: ","))\n\(indent)}"
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

  static func all(
    in settings: Store, prefix: String, withDefaults: Bool, _ isIncluded: (KeyName) -> Bool = { _ in true }
  ) throws(StoreError) -> [ListedKey] {
    let snapshot = try settings.snapshot(prefix: prefix)
    var keys = try snapshot.listedKeys(prefix: ExactString(prefix))
    if withDefaults {
      let known = Set(keys)
      keys += try snapshot.declarations(prefix: prefix).declarations.map(\.key).filter { !known.contains($0) }
      keys.sort()
    }
    var rows: [ListedKey] = []
    for key in keys where isIncluded(key) {
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
    return isHidden(reveal) ? "(secret)" : value.text(as: declaration?.type)
  }

  /// The value as JSON for a program, for which `(secret)` is not a value.
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
  /// How far the tree is indented.
  private let depth: Int

  init(_ rows: [ListedKey], reveal: Bool, depth: Int) { (self.rows, self.reveal, self.depth) = (rows, reveal, depth) }

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

  private func indent(_ depth: Int) -> String { String(repeating: "  ", count: self.depth + depth) }
}
