import ArgumentParser
import Glibc
import Kept

struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Opens an editor on the settings, shows what was changed, and commits it.",
    usage: "kept edit STORE [PREFIX] [--reveal] [--yes]",
    discussion: """
      The editor is $VISUAL, or $EDITOR, or vi. Lines that begin with // say how a key is declared, and are ignored. \
      A key that is removed from the text is reset. Secrets are in it only with --reveal. Wrong text goes back to the \
      editor; if you give up, it is kept. Nothing is committed if another program has changed one of the same keys.
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
    let prefix = try rest.expect(0...1, "at most one prefix").first ?? ""
    let settings = try StoreAccess.open(location, writing.layers.choice, toChange: writing.changing)
    let document = try EditedDocument(settings, prefix: prefix, reveal: reveal)
    let file = try EditedFile(document.text)
    while true {
      try file.edit()
      do {
        let wanted = try document.read(file.text())
        let changes = document.changes(to: wanted)
        guard !changes.isEmpty else {
          file.remove()
          return writing.changing.warn("nothing was changed")
        }
        let asks = !writing.changing.dryRun && !yes
        for change in changes where asks || !writing.changing.quiet { Output.standard.write(line: change.line) }
        Output.standard.flush()
        if asks, try !Question.ask("commit this?", "; see --yes") { return giveUp(file) }
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

  /// The text is not lost.
  private func giveUp(_ file: EditedFile) {
    Failure.print("nothing was committed; your text is in \(file.path)")
  }
}

/// The settings as a text for an editor.
private struct EditedDocument {
  private let rows: [ListedKey]
  private let reveal: Bool

  init(_ settings: Store, prefix: String, reveal: Bool) throws(StoreError) {
    self.reveal = reveal
    // Only what is stored can be edited: a layer's value would become the user's.
    rows = try ListedKey.all(in: settings, prefix: prefix, withDefaults: true).map { row throws(StoreError) in
      var row = row
      row.value = try settings.entry(for: KeyName(row.key))?.value
      return row
    }
  }

  /// The keys whose values are not shown.
  private var secrets: [String] { rows.filter { $0.isHidden(reveal) }.map(\.key) }

  var text: String {
    var lines = ["// kept edit: lines that begin with // are ignored; a key that is removed is reset", "{"]
    for row in rows {
      if let summary = row.summary { lines.append("  // \(Shown.line(summary))") }
      if let declaration = row.declaration { lines.append("  // \(Shown.line(declaration.shownJSON(reveal)))") }
      let key = Value.string(row.key).json
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

  /// Reads an edited text; the last member may end with a comma, and errors name the line.
  func read(_ text: String) throws(StoreError) -> ValueDictionary {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.drop(while: \.isWhitespace).hasPrefix("//") ? "" : String(line)
    }
    var json = lines.joined(separator: "\n")
    if let end = json.lastIndex(of: "}"), let last = json[..<end].lastIndex(where: { !$0.isWhitespace }),
      json[last] == ","
    {
      json.replaceSubrange(last...last, with: " ")
    }
    guard case .dictionary(let members) = try ValueText.json(json, key: nil, hiding: secrets) else {
      throw .refused(nil, "the text must be one JSON object")
    }
    return members
  }

  func changes(to wanted: ValueDictionary) -> [Difference] {
    let known = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
    var changes: [Difference] = []
    for member in wanted {
      let row = known[member.key.text]
      guard row?.value != member.value else { continue }
      changes.append(
        Difference(key: member.key.text, old: row?.value, new: member.value, isSecret: row?.isHidden(reveal) == true))
    }
    // A secret that was not in the text cannot have been removed from it.
    for (key, row) in known where wanted[ExactString(key)] == nil && !row.isHidden(reveal) {
      if let old = row.value { changes.append(Difference(key: key, old: old, new: nil, isSecret: false)) }
    }
    return changes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// The revision of a stored value when the text was made; 0 if there was none.
  func revision(of key: String) -> Revision { rows.first { $0.key == key }?.revision ?? 0 }
}

/// The file that the editor changes, readable for its owner alone.
private struct EditedFile {
  let path: String

  init(_ text: String) throws(StoreError) {
    let folder =
      Environment.variable("XDG_RUNTIME_DIR") ?? Environment.variable("TMPDIR") ?? "/tmp"
    var template = Array("\(folder)/kept-XXXXXX.json".utf8CString)
    let descriptor = mkstemps(&template, 5)
    guard descriptor >= 0 else {
      throw StoreError(.unavailable, "\(folder) takes no file: \(String(cString: strerror(errno)))")
    }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    defer { close(descriptor) }
    try File.write(text, to: descriptor, path)
  }

  func edit() throws(StoreError) {
    let editor = Environment.variable("VISUAL") ?? Environment.variable("EDITOR") ?? "vi"
    // The terminal sends Ctrl-C to this program as well; the editor decides what it means.
    let status = Signals.ignoring([SIGINT, SIGQUIT]) {
      Shell.run("\(editor) \"$KEPT_EDITED\"", [("KEPT_EDITED", path)])
    }
    guard status == 0 else {
      throw StoreError(.failed, "the editor \(editor) has failed; your text is in \(path)")
    }
  }

  func text() throws(StoreError) -> String {
    guard let text = String(validating: try File.bytes(of: path), as: UTF8.self) else {
      throw .refused(nil, "the text is not UTF-8; save it as UTF-8")
    }
    return text
  }

  func remove() { unlink(path) }
}

/// A question on the terminal.
private enum Question {
  /// Whether the answer is yes; without a terminal, and on Ctrl-C, it is no.
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
    return ["y", "yes"].contains(answer?.filter { !$0.isWhitespace }.lowercased())
  }
}
