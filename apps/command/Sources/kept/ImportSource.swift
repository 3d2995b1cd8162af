// What `kept import` imports: text that the library reads, or settings that are read here from another program's file.

import Formats
import Kept

struct ImportSource {
  /// The file as text, to show where an error is; nil if it is not text.
  let shown: String?
  private let content: Content
  private var notes: [NotCarried] = []
  /// The notes about values that are imported, and changed or split.
  private var changes: Set<NotCarried> = []

  private enum Content {
    case text([UInt8], ImportFormat)
    /// Nested JSON with marks on objects that stay whole, and the same as it was.
    case marked([UInt8], of: [UInt8])
    case settings([FoundSettings.Setting])
  }

  /// Reads a file.
  /// - Parameter whole: keys that stay whole where their value is a table.
  init(_ bytes: [UInt8], _ reading: Reading) throws(StoreError) {
    let text = reading.format == .propertyList ? try? PlainText(bytes) : try PlainText(bytes)
    shown = text?.string
    switch reading.format {
    case .kept, .json, .nestedJSON:
      let json = JSONComments.removed(from: text ?? PlainText(checked: bytes))
      if reading.format != .nestedJSON {
        content = .text(json.bytes, reading.format == .kept ? .kept : .json)
      } else if let nested = try NestedJSON(json, whole: reading.whole) {
        content = .marked(nested.json, of: json.bytes)
        add(nested.notes)
      } else {
        // The library reports the mistake in it.
        content = .text(json.bytes, .nestedJSON)
      }
    case .dconf:
      let dump = try Self.dump(text?.bytes ?? bytes)
      (content, notes) = (.text(dump.json, .json), dump.notes)
    default:
      let found =
        try reading.needsLibrary ? IsolatedReading.settings(of: bytes, reading) : reading.settings(of: bytes)
      content = .settings(found.settings)
      add(found.notes)
    }
  }

  private mutating func add(_ found: [FoundSettings.Note]) {
    for note in found {
      notes.append(NotCarried(place: note.place, reason: note.reason))
      if !note.isLoss { changes.insert(notes[notes.count - 1]) }
    }
  }

  /// Whether a part of the report is about a value that is not imported.
  func isLoss(_ part: NotCarried) -> Bool { !changes.contains(part) }

  /// The settings of a dump of dconf, which GLib reads by the types of the installed schemas.
  private static func dump(_ text: [UInt8]) throws(StoreError) -> (json: [UInt8], notes: [NotCarried]) {
    let program = "kept-gsettings"
    guard let done = try Helper.run(Helper.sibling(program), ["json", "-"], input: text) else {
      throw StoreError(
        .unavailable,
        "is the output of dconf dump, but \(program), which reads it, is not installed; install its package")
    }
    let lines = done.err.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    guard let status = done.status, status < ExitStatus.usage.rawValue else {
      let reason = lines.last ?? "\(program) was terminated by a signal"
      throw StoreError(done.status == ExitStatus.refused.rawValue ? .invalid : .unavailable, reason)
    }
    return (done.out, lines.map(note))
  }

  /// `left out PLACE: REASON` as a note.
  private static func note(_ line: String) -> NotCarried {
    let start = "left out "
    guard line.begins(with: start),
      let (place, reason) = String(Substring(line.utf8.dropFirst(start.utf8.count))).halves(at: ":")
    else { return NotCarried(place: "dconf", reason: line) }
    return NotCarried(place: place, reason: String(Substring(reason.utf8.drop(while: \.isSpace))))
  }

  /// Imports it into a store.
  func importAll(into settings: Store, _ options: ImportOptions) throws(StoreError) -> ImportReport {
    var options = options
    var report: ImportReport
    switch content {
    case .text(let text, let format):
      options.format = format
      report = try settings.import(text, options)
    case .marked(let marked, let original):
      options.format = .nestedJSON
      do throws(StoreError) { report = try settings.import(marked, options) } catch
        where error.offset != nil && error.key == nil
      {
        // The offset is in a generated text.
        options.isDryRun = true
        _ = try settings.import(original, options)
        throw StoreError(error.code, error.message)
      }
    case .settings(let found):
      options.format = .json
      report = try settings.import(try Self.json(found, for: settings, options.prefix), options)
    }
    report.notCarried = notes + report.notCarried
    return report
  }

  /// The settings as an object of keys, with texts as values of the types that the store declares.
  private static func json(
    _ found: [FoundSettings.Setting], for settings: Store, _ prefix: String
  ) throws(StoreError) -> [UInt8] {
    var json = Array("{".utf8)
    for setting in found {
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      let value: Value
      switch setting.content {
      case .value(let known): value = known
      case .text(let text):
        // A text that is not a value of the type stays one, and is refused as one that does not fit.
        value =
          (try? KeyName(prefix + setting.name)).flatMap { key in Self.value(of: text, for: key, settings) }
          ?? .string(text)
      }
      json += Array("\(Value.string(setting.name).json):\(value.json)".utf8)
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// The value of the declared type; nil if the key is not declared, or the text is not such a value.
  private static func value(of text: String, for key: KeyName, _ settings: Store) -> Value? {
    guard let declared = try? settings.declaration(forKey: key.text) else { return nil }
    return try? ValueText.value(text, as: declared.knownType, key: key)
  }
}
