// What an export says, as one canonical JSON object:
//
//   {"declarations":{…},"kept":1,"omitted":["token"],"prefix":"","revision":17,"schemaVersion":2,"unreadable":[…],
//    "values":{…}}
//
// "declarations" and "unreadable" are there if asked for, "omitted" unless secrets are, and "schemaVersion" where a
// program has given one. Equal stores have equal exports, but for the revision.

/// What to export.
public struct ExportOptions: Sendable {
  /// Only keys that begin with it.
  public var prefix: String
  /// What keys are declared as, too.
  public var includesDeclarations: Bool
  /// The values of secret keys too; otherwise the keys alone are named.
  public var includesSecrets: Bool
  /// What cannot be read is named in place of failing.
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
  /// Exports what is stored, as it is at one moment, to canonical JSON.
  ///
  /// Defaults and other layers are not in it. The C twin is `kept_export_json`. In Python: `settings.export()`.
  ///
  /// Throws `corrupt`, with the key, for a value that cannot be read, and `unsupported` for a storage that cannot list
  /// its keys.
  public func export(_ options: ExportOptions = ExportOptions()) throws(StoreError) -> String {
    String(decoding: try exportedBytes(options), as: UTF8.self)
  }

  /// The same as bytes of UTF-8.
  package func exportedBytes(_ options: ExportOptions) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    try Export(of: self, options).write(to: &bytes, nil)
    return bytes
  }

  /// Exports to a file of mode 0600, which is there whole and synced when the call returns, or not at all.
  ///
  /// A file that is there is replaced. The C twin is `kept_export_file`. In Python: `settings.export_file(path)`.
  ///
  /// Throws what ``export(_:)`` throws, `noSpace`, `denied`, `unavailable`, and `invalid` where anything but a
  /// regular file is there, and in the folder of a store.
  public func export(to path: String, _ options: ExportOptions = ExportOptions()) throws(StoreError) {
    let export = try Export(of: self, options)
    try FileDraft.place(at: path) { draft throws(StoreError) in
      var bytes: [UInt8] = []
      try export.write(to: &bytes, draft)
      try draft.write(bytes)
    }
  }
}

/// What a store holds at one moment, sorted out.
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
    if options.includesDeclarations, let declaration { declarations.append((keyed.key, declaration)) }
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

  /// Writes the text; what is long goes to the draft already, if there is one.
  func write(to bytes: inout [UInt8], _ draft: FileDraft?) throws(StoreError) {
    bytes += "{".utf8
    if options.includesDeclarations { try writeDeclarations(to: &bytes, draft) }
    bytes += "\"kept\":\(KeptDocument.version)".utf8
    if !options.includesSecrets { bytes.append(.array(omitted), as: "omitted") }
    bytes.append(.string(options.prefix), as: "prefix")
    bytes += ",\"revision\":\(revision)".utf8
    if schemaVersion > 0 { bytes += ",\"schemaVersion\":\(schemaVersion)".utf8 }
    if options.leavesOutUnreadable { bytes.append(.array(unreadable), as: "unreadable") }
    try writeValues(to: &bytes, draft)
    bytes += "}".utf8
  }

  private func writeDeclarations(to bytes: inout [UInt8], _ draft: FileDraft?) throws(StoreError) {
    bytes += "\"declarations\":{".utf8
    var isFirst = true
    for (key, declaration) in declarations {
      bytes.appendName(key.text, isFirst: isFirst)
      isFirst = false
      bytes += declaration.json.utf8
      try draft?.take(&bytes)
    }
    bytes += "},".utf8
  }

  private func writeValues(to bytes: inout [UInt8], _ draft: FileDraft?) throws(StoreError) {
    bytes += ",\"values\":{".utf8
    var teller = ProgressTeller(options.progress, total: values.count)
    var done = 0
    for keyed in values {
      try teller.tell(done)
      bytes.appendName(keyed.key.text, isFirst: done == 0)
      keyed.entry.value?.appendJSON(to: &bytes)
      try draft?.take(&bytes)
      done += 1
    }
    bytes += "}".utf8
    try teller.finish()
  }
}

extension [UInt8] {
  @inline(never)
  fileprivate mutating func appendName(_ name: String, isFirst: Bool = false) {
    if !isFirst { append(UInt8(ascii: ",")) }
    Value.string(name).appendJSON(to: &self)
    append(UInt8(ascii: ":"))
  }

  fileprivate mutating func append(_ value: Value, as name: String) {
    appendName(name)
    value.appendJSON(to: &self)
  }
}

extension Store {
  /// What is stored, with the schema version of the same moment.
  fileprivate func entriesAndVersion(
    prefix: ExactString
  ) throws(StoreError) -> (StoredEntries, schemaVersion: UInt32) {
    while true {
      let version = try knownSchemaVersion()
      let stored = try storage().entries(in: [.prefix(prefix)])
      if try knownSchemaVersion() == version { return (stored, version) }
    }
  }

  /// The schema version; 0 also where the storage keeps none.
  func knownSchemaVersion() throws(StoreError) -> UInt32 {
    let storage = try storage()
    return storage.abilities.contains(.schemaVersion) ? try storage.schemaVersion() : 0
  }
}
