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
    try Export(of: self, options).write(to: &bytes, options.progress) { _ in }
    return bytes
  }

  /// Exports to a file of mode 0600, which is there whole and synced when the call returns, or not at all.
  ///
  /// A file that is there is replaced. The C twin is `kept_export_file`. In Python: `settings.export_file(path)`.
  ///
  /// Throws what ``export(_:)`` throws, `noSpace`, `denied`, `unavailable`, and `invalid` where something else than a
  /// file is there.
  public func export(to path: String, _ options: ExportOptions = ExportOptions()) throws(StoreError) {
    let export = try Export(of: self, options)
    try FileDraft.place(at: path) { draft throws(StoreError) in
      var bytes: [UInt8] = []
      try export.write(to: &bytes, options.progress) { bytes throws(StoreError) in
        guard bytes.count >= 64 << 10 else { return }
        try draft.write(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
      try draft.write(bytes)
    }
  }
}

/// What a store holds at one moment, sorted out.
private struct Export {
  private let prefix: String
  private let revision: Revision
  private let schemaVersion: UInt32
  private var values: [(key: KeyName, value: Value)] = []
  /// nil: they were not asked for.
  private var declarations: [(key: KeyName, declaration: Declaration)]?
  /// nil: secrets are among the values.
  private var omitted: [KeyName]?
  /// nil: none may be missing.
  private var unreadable: [KeyName]?

  init(of store: Store, _ options: ExportOptions) throws(StoreError) {
    let (stored, version) = try store.entriesAndVersion(prefix: ExactString(options.prefix))
    prefix = options.prefix
    revision = stored.revision
    schemaVersion = version
    declarations = options.includesDeclarations ? [] : nil
    omitted = options.includesSecrets ? nil : []
    unreadable = options.leavesOutUnreadable ? [] : nil
    for keyed in stored.entries.inOrder(of: \.key.exact) { take(keyed.key, keyed.entry) }
    for lost in stored.unreadable.inOrder(of: \.key.exact) { try take(lost) }
    // They came one list after the other.
    declarations = declarations?.inOrder(of: \.key.exact)
    omitted = omitted?.inOrder(of: \.exact)
  }

  private mutating func take(_ key: KeyName, _ entry: Entry) {
    if let declaration = entry.declaration { declarations?.append((key, declaration)) }
    guard let value = entry.value else { return }
    if omitted != nil, entry.declaration?.isSecret == true {
      omitted?.append(key)
    } else {
      values.append((key, value))
    }
  }

  private mutating func take(_ lost: UnreadableEntry) throws(StoreError) {
    if let declaration = lost.declaration { declarations?.append((lost.key, declaration)) }
    if omitted != nil, lost.declaration?.isSecret == true {
      omitted?.append(lost.key)
    } else {
      guard unreadable != nil else { throw lost.reason }
      unreadable?.append(lost.key)
    }
  }

  /// Writes the text; `relieve` may take away what is written.
  func write(
    to bytes: inout [UInt8], _ progress: TransferProgress?, _ relieve: (inout [UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    bytes += "{".utf8
    if let declarations {
      bytes += "\"declarations\":{".utf8
      for (index, declared) in declarations.enumerated() {
        bytes.appendName(declared.key.text, isFirst: index == 0)
        bytes += declared.declaration.json.utf8
        try relieve(&bytes)
      }
      bytes += "},".utf8
    }
    bytes += "\"kept\":\(KeptDocument.version)".utf8
    bytes.append(omitted, as: "omitted")
    bytes.appendName("prefix")
    Value.string(prefix).appendJSON(to: &bytes)
    bytes += ",\"revision\":\(revision)".utf8
    if schemaVersion > 0 { bytes += ",\"schemaVersion\":\(schemaVersion)".utf8 }
    bytes.append(unreadable, as: "unreadable")
    bytes += ",\"values\":{".utf8
    var teller = ProgressTeller(progress, total: values.count)
    for (index, stored) in values.enumerated() {
      try teller.tell(index)
      bytes.appendName(stored.key.text, isFirst: index == 0)
      stored.value.appendJSON(to: &bytes)
      try relieve(&bytes)
    }
    bytes += "}}".utf8
    try teller.finish()
  }
}

extension [UInt8] {
  fileprivate mutating func appendName(_ name: String, isFirst: Bool = false) {
    if !isFirst { append(UInt8(ascii: ",")) }
    Value.string(name).appendJSON(to: &self)
    append(UInt8(ascii: ":"))
  }

  fileprivate mutating func append(_ keys: [KeyName]?, as name: String) {
    guard let keys else { return }
    appendName(name)
    Value.array(keys.map { .string($0.text) }).appendJSON(to: &self)
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
