// The format of an export, one canonical JSON object:
//
//   {"declarations":{…},"kept":1,"omitted":["token"],"prefix":"","revision":17,"schemaVersion":2,"unreadable":[…],
//    "values":{…}}
//
// "declarations" and "unreadable" are present if requested, "omitted" unless secrets are included, and "schemaVersion"
// if a program has assigned one. Equal stores have equal exports, except for the revision.

import KeptSchema
public import KeptValues

/// The options of an export.
public struct ExportOptions: Sendable {
  /// Only keys that begin with it.
  public var prefix: String
  /// Whether declarations are included.
  public var includesDeclarations: Bool
  /// Whether the values of secret keys are included; otherwise only their keys are listed.
  public var includesSecrets: Bool
  /// Whether keys that cannot be read are listed, instead of making the export fail.
  public var leavesOutUnreadable: Bool
  public var progress: TransferProgress?

  public init(
    prefix: String = "", includesDeclarations: Bool = false, includesSecrets: Bool = false,
    leavesOutUnreadable: Bool = false, progress: TransferProgress? = nil
  ) {
    self.prefix = prefix
    self.includesDeclarations = includesDeclarations
    self.includesSecrets = includesSecrets
    self.leavesOutUnreadable = leavesOutUnreadable
    self.progress = progress
  }
}

extension Store {
  /// Exports the stored values at one revision as canonical JSON.
  ///
  /// Defaults and other layers are not included. In C: `kept_export_json`. In Python: `settings.export()`.
  ///
  /// Throws `corrupt`, with the key, for a value that cannot be read, and `unsupported` for a storage that cannot list
  /// its keys.
  public func export(_ options: ExportOptions = ExportOptions()) throws(StoreError) -> String {
    let export = try Export(of: self, options)
    return try CText.lent({ text throws(StoreError) in try export.write(to: &text, nil) }) {
      text throws(StoreError) in
      try Memory.ask(for: text.count, to: "export")
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// Exports to text that C frees with free().
  package func exportedText(_ options: ExportOptions) throws(StoreError) -> UnsafeMutablePointer<CChar> {
    let export = try Export(of: self, options)
    return try CText.made { text throws(StoreError) in try export.write(to: &text, nil) }
  }

  /// Exports to a file of mode 0600, which is written and synced atomically.
  ///
  /// An existing file is replaced. In C: `kept_export_file`. In Python: `settings.export_file(path)`.
  ///
  /// Throws what ``export(_:)`` throws, `noSpace`, `denied`, `unavailable`, and `invalid` if the path is not a regular
  /// file or is in the folder of a store.
  public func export(to path: String, _ options: ExportOptions = ExportOptions()) throws(StoreError) {
    let export = try Export(of: self, options)
    try FileDraft.place(at: path) { draft throws(StoreError) in
      try CText.lent({ text throws(StoreError) in try export.write(to: &text, draft) }) { text throws(StoreError) in
        try draft.write(text)
      }
    }
  }
}

/// The entries of a store at one revision, grouped for the export.
private final class Export {
  private let options: ExportOptions
  private let revision: Revision
  private let schemaVersion: UInt32
  private var values: [KeyedEntry] = []
  private var declarations: [(key: KeyName, declaration: Declaration)] = []
  private var omitted: [Value] = []
  private var unreadable: [Value] = []

  init(of store: Store, _ options: ExportOptions) throws(StoreError) {
    let (stored, version) = try store.entriesAndVersion(prefix: ExactString(options.prefix))
    try Allowance.ask(forEntries: stored.entries.count + stored.unreadable.count, to: "export")
    self.options = options
    revision = stored.revision
    schemaVersion = version
    var lost: [KeyName: StoreError] = [:]
    var entries = stored.entries
    for entry in stored.unreadable {
      lost[entry.key] = entry.reason
      let known = Entry(value: nil, revision: entry.revision, declaration: entry.declaration)
      entries.append(KeyedEntry(key: entry.key, entry: known))
    }
    for keyed in entries.inOrder(of: \.key.exact) { try take(keyed, lost[keyed.key]) }
  }

  private func take(_ keyed: KeyedEntry, _ reason: StoreError?) throws(StoreError) {
    let declaration = keyed.entry.declaration
    try declaration?.makeKnown()
    if options.includesDeclarations, let declaration { try take(declaration, of: keyed.key) }
    guard keyed.entry.value != nil || reason != nil else { return }
    if !options.includesSecrets, declaration?.isSecret == true {
      omitted.append(.string(keyed.key.text))
    } else if let reason {
      guard options.leavesOutUnreadable else { throw reason }
      unreadable.append(.string(keyed.key.text))
    } else {
      values.append(keyed)
    }
  }

  private func take(_ declaration: Declaration, of key: KeyName) throws(StoreError) {
    do throws(StoreError) { try declaration.checkText(of: key) } catch {
      guard error.code == .corrupt, options.leavesOutUnreadable else { throw error }
      return unreadable.append(.string(key.text))
    }
    declarations.append((key, declaration))
  }

  /// Writes the text; a long text is written to the draft in parts, if there is one.
  func write(to text: inout CText, _ draft: FileDraft?) throws(StoreError) {
    text.write("{")
    if options.includesDeclarations { try writeDeclarations(to: &text, draft) }
    text.write("\"kept\":\(KeptDocument.version)")
    if !options.includesSecrets { text.append(.array(omitted), as: "omitted") }
    text.append(.string(options.prefix), as: "prefix")
    text.write(",\"revision\":\(revision)")
    if schemaVersion > 0 { text.write(",\"schemaVersion\":\(schemaVersion)") }
    if options.leavesOutUnreadable { text.append(.array(unreadable), as: "unreadable") }
    try writeValues(to: &text, draft)
    text.write("}")
  }

  private func writeDeclarations(to text: inout CText, _ draft: FileDraft?) throws(StoreError) {
    text.write("\"declarations\":{")
    var isFirst = true
    for (key, declaration) in declarations {
      text.appendName(key.text, isFirst: isFirst)
      isFirst = false
      text.write(declaration.json)
      try pass(&text, draft)
    }
    text.write("},")
  }

  private func writeValues(to text: inout CText, _ draft: FileDraft?) throws(StoreError) {
    text.write(",\"values\":{")
    let reporter = ProgressReporter(options.progress, total: values.count)
    var done = 0
    for keyed in values {
      try reporter.report(done)
      text.appendName(keyed.key.text, isFirst: done == 0)
      keyed.entry.value?.write(to: &text)
      try pass(&text, draft)
      done += 1
    }
    text.write("}")
    try reporter.finish()
  }

  /// Writes the text to the draft once it is long enough.
  private func pass(_ text: inout CText, _ draft: FileDraft?) throws(StoreError) {
    try text.check()
    guard let draft, text.count >= 64 << 10 else { return }
    try text.withBytes { bytes throws(StoreError) in try draft.write(bytes) }
    text.removeAll()
  }
}

extension CText {
  @inline(never)
  fileprivate mutating func appendName(_ name: String, isFirst: Bool = false) {
    if !isFirst { append(UInt8(ascii: ",")) }
    Value.string(name).write(to: &self)
    append(UInt8(ascii: ":"))
  }

  fileprivate mutating func append(_ value: Value, as name: String) {
    appendName(name)
    value.write(to: &self)
  }
}

extension Store {
  /// The stored entries, with the schema version at the same revision.
  fileprivate func entriesAndVersion(
    prefix: ExactString
  ) throws(StoreError) -> (StoredEntries, schemaVersion: UInt32) {
    while true {
      let version = try knownSchemaVersion()
      let stored = try storage().entries(in: [.prefix(prefix)])
      if try knownSchemaVersion() == version { return (stored, version) }
    }
  }

  /// The schema version; 0 also if the storage keeps none.
  func knownSchemaVersion() throws(StoreError) -> UInt32 {
    let storage = try storage()
    return storage.abilities.contains(.schemaVersion) ? try storage.schemaVersion() : 0
  }
}
