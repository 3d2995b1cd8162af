import ArgumentParser
import Glibc
import Kept

struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Opens an editor on the settings, shows the changes, and commits them.",
    usage: "kept edit STORE [PREFIX] [--reveal] [--yes]",
    discussion: """
      The editor is $VISUAL, or $EDITOR, or vi on a terminal. Lines that begin with // show how a key is declared, and \
      are ignored. A key that is removed from the text is reset. Secrets are included only with --reveal. Invalid text \
      is opened in the editor again; if you give up, your changes are kept in a file, and the command prints its path. \
      Nothing is committed if another program has changed one of the same keys. Without a terminal, --yes is required \
      (exit status 2).
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var writing: WritingOptions
  @Flag(name: [.short, .long], help: "Commit without asking.")
  var yes = false
  @Flag(help: "Show the values of secrets in the text.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    Passphrase.isAskedFor = reveal
    let prefix = try rest.expect(0...1, "at most one prefix").first ?? ""
    let settings = try StoreAccess.open(location, writing.layers.choice, toChange: writing.changing)
    let document = try EditedDocument(settings, prefix: prefix, reveal: reveal)
    guard EditedFile.named != nil || isatty(0) == 1 else {
      throw ValidationError("there is no terminal for vi; name an editor in EDITOR, or see kept help transaction")
    }
    let file = try EditedFile(document.text, hasSecrets: document.showsSecrets)
    Output.standard.atFailure = { giveUp(file) }
    try file.whileOpen { try edit(file, document, settings, at: location) }
  }

  private func edit(_ file: EditedFile, _ document: EditedDocument, _ settings: Store, at location: String) throws {
    while true {
      try file.edit()
      do {
        let changes = document.changes(to: try document.read(file.text()))
        guard !changes.isEmpty else {
          file.remove()
          return writing.changing.warn("nothing was changed")
        }
        let asks = !writing.changing.dryRun && !yes
        for change in changes where asks || !writing.changing.quiet { Output.standard.write(line: change.line) }
        Output.standard.flush()
        if asks, try !Question.ask("commit this?", "; see --yes") {
          giveUp(file)
          guard isatty(0) == 1 else { throw ExitStatus.usage }
          return
        }
        try commit(changes, document, to: settings, at: location)
        return file.remove()
      } catch let error as StoreError {
        Failure.print(error)
        guard try Question.ask("edit again?") else {
          giveUp(file)
          throw ExitStatus(error.code)
        }
      }
    }
  }

  private func commit(
    _ changes: [Difference], _ document: EditedDocument, to settings: Store, at location: String
  ) throws {
    var options = writing
    options.changing.quiet = true
    try Edit.commit(on: settings, at: location, options) { edit in
      for change in changes {
        try edit.expect(change.key, document.revision(of: change.key))
        if let new = change.new {
          try edit.set(change.key, new, allowsUndeclared: writing.undeclared)
        } else {
          try edit.reset(change.key, allowsUndeclared: true)
        }
      }
    }
  }

  /// The typed text is not lost.
  private func giveUp(_ file: EditedFile) { Failure.print("nothing was committed\(file.left())") }
}

/// The settings as a text for an editor.
private struct EditedDocument {
  private let rows: [ListedKey]
  private let known: [KeyName: ListedKey]
  private let reveal: Bool

  init(_ settings: Store, prefix: String, reveal: Bool) throws(StoreError) {
    self.reveal = reveal
    // Only stored values can be edited: a layer's value would become the user's.
    rows = try ListedKey.all(in: settings, prefix: prefix, withDefaults: true).map { row throws(StoreError) in
      var row = row
      row.value = try settings.entry(for: row.key)?.value
      return row
    }
    known = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
  }

  /// The keys whose values are not shown.
  private var secrets: [String] { rows.filter { $0.isHidden(reveal) }.map(\.key.text) }

  /// Whether the text has a secret in it.
  var showsSecrets: Bool { rows.contains { reveal && $0.isHidden(false) } }

  var text: String {
    var lines = ["// kept edit: lines that begin with // are ignored; a key that is removed is reset", "{"]
    for row in rows {
      if let summary = row.summary { lines.append("  // \(Shown.line(summary))") }
      if let declaration = row.declaration { lines.append("  // \(Shown.line(declaration.shownJSON(reveal)))") }
      let key = Value.string(row.key.text).json
      if row.isHidden(reveal) {
        lines.append("  // \(key) is a secret, and is not shown; see --reveal")
      } else if let value = row.value {
        lines.append("  \(key): \(value.json),")
      } else {
        lines.append("  // \(key): \(row.declaration?.defaultValue?.json ?? "…"),")
      }
    }
    return (lines + ["}", ""]).joined(separator: "\n")
  }

  /// Reads an edited text; errors name the line.
  func read(_ text: String) throws(StoreError) -> [KeyName: Value] {
    let json = EditedText.json(of: text)
    guard EditedText.isObject(json) else {
      _ = try ValueText.json(json, hiding: secrets)
      throw .refused(nil, "the text is not a JSON object; keep the { and } around it")
    }
    // An export takes every key, and its limits are those of each value, not of the text.
    let (start, end) = ("{\"kept\":1,\"values\":", "}")
    let copy = try Store.open("memory:")
    do throws(StoreError) { try copy.import(start + json + end) } catch {
      let offset = error.offset.map { max(0, $0 - start.utf8.count) }
      throw StoreError(error.code, key: error.key, offset: offset, error.message).shown(in: json, hiding: secrets)
    }
    let snapshot = try copy.snapshot()
    var values: [KeyName: Value] = [:]
    for key in try snapshot.storedKeys(prefix: "") { values[key] = try snapshot.entry(for: key)?.value }
    return values
  }

  func changes(to wanted: [KeyName: Value]) -> [Difference] {
    var changes: [Difference] = []
    for (key, value) in wanted {
      let row = known[key]
      guard row?.value != value else { continue }
      changes.append(Difference(key: key, old: row?.value, new: value, isSecret: row?.isHidden(reveal) == true))
    }
    // A secret that was not in the text cannot have been removed from it.
    for row in rows where wanted[row.key] == nil && !row.isHidden(reveal) {
      if let old = row.value { changes.append(Difference(key: row.key, old: old, new: nil, isSecret: false)) }
    }
    return changes.sorted { $0.key < $1.key }
  }

  /// The revision of a stored value when the text was made; 0 if there was none.
  func revision(of key: KeyName) -> Revision { known[key]?.revision ?? 0 }
}

/// JSON with comments, as an editor has left it.
private enum EditedText {
  private static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))

  /// The text with spaces in place of comments, the comma after the last member, and a byte order mark.
  ///
  /// Every other byte stays at its place, which errors name.
  static func json(of text: String) -> String {
    var bytes = Array(text.utf8)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { blank(0..<3, &bytes) }
    // No JSON string has a line break in it.
    for line in bytes.indices.split(whereSeparator: { bytes[$0] == lineFeed || bytes[$0] == carriageReturn })
    where bytes[line].drop(while: isSpace).starts(with: "//".utf8) {
      blank(line, &bytes)
    }
    if let end = bytes.lastIndex(of: UInt8(ascii: "}")),
      let last = bytes[..<end].lastIndex(where: { !isSpace($0) }), bytes[last] == UInt8(ascii: ",")
    {
      blank(last..<last + 1, &bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func isObject(_ json: String) -> Bool { json.utf8.drop(while: isSpace).first == UInt8(ascii: "{") }

  private static func blank(_ part: Range<Int>, _ bytes: inout [UInt8]) {
    for index in part { bytes[index] = UInt8(ascii: " ") }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == lineFeed || byte == carriageReturn
  }
}

/// A question on the terminal.
private enum Question {
  /// Returns whether the answer is yes; false without a terminal, and on Ctrl-C.
  static func ask(_ question: String, _ remedy: String = "") throws(StoreError) -> Bool {
    guard isatty(0) == 1 else {
      Failure.print("\(question) there is no terminal to answer on\(remedy)")
      return false
    }
    let answer = Signals.interrupting([SIGINT]) { isReadable in
      Output.standard.write("\(question) [y/n] ")
      Output.standard.flush()
      return isReadable(0) ? StandardInput.line() : nil
    }
    return ["y", "yes"].contains(answer?.lines[0].lowercased())
  }
}
