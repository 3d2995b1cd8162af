// Imports a text into a store: all of it in one commit, against the state that it was compared with, or nothing.

/// What to import, and how.
public struct ImportOptions: Sendable {
  public var format: ImportFormat
  /// In Kept's own format, only keys that begin with it are imported; in other formats it is prepended to every key.
  public var prefix: String
  /// The text between the components of nested keys, and after section names.
  public var separator: String
  /// For `.env` files: only names with this prefix are read, mapped by ``EnvironmentName``; nil if every name is a key.
  public var environmentPrefix: String?
  /// Whether keys with the prefix that are not in the text are removed.
  public var replaces: Bool
  /// Whether nothing is changed, and the report describes what would change.
  public var isDryRun: Bool
  /// Whether the declarations in the text are imported, too.
  public var includesDeclarations: Bool
  public var progress: TransferProgress?

  /// The size limit of a text, far above any settings file: 1 GiB.
  package static let mostBytes = 1 << 30

  public init(
    format: ImportFormat = .kept, prefix: String = "", separator: String = ".", environmentPrefix: String? = nil,
    replaces: Bool = false, isDryRun: Bool = false, includesDeclarations: Bool = false,
    progress: TransferProgress? = nil
  ) {
    self.format = format
    self.prefix = prefix
    self.separator = separator
    self.environmentPrefix = environmentPrefix
    self.replaces = replaces
    self.isDryRun = isDryRun
    self.includesDeclarations = includesDeclarations
    self.progress = progress
  }
}

extension Store {
  /// Imports a text as one commit: all of it, or nothing.
  ///
  /// In C: `kept_import`. In Python: `settings.import_text(text)`.
  ///
  /// Throws `invalid` or `tooLarge`, with an offset, for a text that is not in the format; `unsupported` for an export
  /// of a later version, or of another schema version than the store's; for the first refused key `locked`,
  /// `wrongType`, `invalid`, `typeConflict` or `tooLarge`; and `busy` if others keep writing. Nothing is changed then.
  /// A dry run reports all refused keys.
  @discardableResult
  public func `import`(_ text: String, _ options: ImportOptions = ImportOptions()) throws(StoreError) -> ImportReport {
    try self.import(Array(text.utf8), options)
  }

  /// Imports a text or a binary property list from its bytes, as ``import(_:_:)-(String,_)`` does.
  @discardableResult
  public func `import`(
    _ bytes: [UInt8], _ options: ImportOptions = ImportOptions()
  ) throws(StoreError) -> ImportReport {
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(StoreError) in try self.import(bytes, options) }
    }
    return try result.get()
  }

  /// Imports a file.
  ///
  /// Errors begin with its path.
  ///
  /// In C: `kept_import_file`. In Python: `settings.import_file(path)`.
  ///
  /// Throws what ``import(_:_:)-(String,_)`` throws, `unavailable` if the file does not exist, `denied`, and `invalid`
  /// for a file of a store that this process has open.
  @discardableResult
  public func `import`(
    contentsOf path: String, _ options: ImportOptions = ImportOptions()
  ) throws(StoreError) -> ImportReport {
    let bytes = try WholeFile.bytes(of: path, atMost: ImportOptions.mostBytes, "what is to be imported")
    do throws(StoreError) { return try self.import(bytes, options) } catch {
      throw error.key == nil && error.offset != nil ? error.said { "\(path): \($0)" } : error
    }
  }

  /// Imports the bytes of a text.
  package func `import`(
    _ bytes: UnsafeBufferPointer<UInt8>, _ options: ImportOptions
  ) throws(StoreError) -> ImportReport {
    guard try storage().abilities.isSuperset(of: [.atomicBatch, .revisions, .listsKeys]) else {
      throw StoreError(.unsupported, "this storage cannot change many keys at once; import into a store in a folder")
    }
    guard bytes.count <= ImportOptions.mostBytes else {
      throw StoreError(.tooLarge, "the text has \(bytes.count) bytes; at most \(ImportOptions.mostBytes) are imported")
    }
    let incoming = try Self.incoming(bytes, options)
    let deadline = MonotonicTime.milliseconds + Int64(self.options.patience)
    var teller = ProgressTeller(options.progress, total: bytes.count)
    var attempt = 0
    while true {
      let plan = try plan(incoming, options)
      if attempt == 0 { try teller.finish() }
      if options.isDryRun { return plan.report }
      if let refusal = plan.refusal { throw refusal }
      do throws(StoreError) {
        if !plan.batch.isEmpty { plan.committed(try commit(plan.batch).revision) }
        return plan.report
      } catch {
        guard error.code == .conflict else { throw error }
        guard MonotonicTime.milliseconds < deadline else {
          throw StoreError(.busy, "others write all the time; nothing was imported, try again when they are done")
        }
        MonotonicTime.backOff(attempt: attempt)
        attempt += 1
      }
    }
  }

  private static func incoming(
    _ bytes: UnsafeBufferPointer<UInt8>, _ options: ImportOptions
  ) throws(StoreError) -> Incoming {
    if options.format == .kept { return try KeptDocument.read(bytes, prefix: options.prefix, options.progress) }
    try checkSeparator(options)
    var teller = ProgressTeller(options.progress, total: bytes.count)
    try teller.tell(0)
    let naming = KeyNaming(
      prefix: options.prefix, separator: options.separator, environmentPrefix: options.environmentPrefix)
    let incoming = Incoming(try ForeignText(bytes, as: options.format, naming), scope: ExactString(options.prefix))
    if options.format == .nestedJSON { incoming.separator = options.separator }
    return incoming
  }

  /// Throws for an empty separator, with which `{"a":{"bc":1}}` and `{"ab":{"c":1}}` would be one key.
  private static func checkSeparator(_ options: ImportOptions) throws(StoreError) {
    switch options.format {
    case .nestedJSON, .ini, .dconf: break
    default: return
    }
    guard options.separator.isEmpty else { return }
    throw StoreError(.invalid, "the separator between the parts of a key is empty; give one, such as a dot")
  }

  /// Compares the text with the stored data.
  private func plan(_ incoming: Incoming, _ options: ImportOptions) throws(StoreError) -> ImportPlan {
    layerStack.watchAgain()
    let stored = try storage().entries(in: [.prefix(incoming.scope)])
    for entry in stored.entries { try entry.entry.declaration?.makeKnown() }
    for entry in stored.unreadable { try entry.declaration?.makeKnown() }
    var batch = newBatch()
    batch.conditions = [.unchangedPrefix(incoming.scope, after: stored.revision)]
    try carry(incoming.schemaVersion, into: &batch, at: stored.revision)
    let plan = try ImportPlan(incoming, over: stored, options, into: batch, under: layerStack)
    if plan.declares, try !storage().abilities.contains(.declarations) {
      throw StoreError(.unsupported, "this storage keeps no declarations; import without them")
    }
    return plan
  }

  /// Refuses to mix settings of different schema versions.
  ///
  /// An empty store takes the version of the text.
  private func carry(_ version: UInt32, into batch: inout Batch, at revision: Revision) throws(StoreError) {
    guard version > 0 else { return }
    let found = try knownSchemaVersion()
    if found != version {
      guard found == 0, try storage().holdsNothing(), try storage().abilities.contains(.schemaVersion) else {
        let here = found == 0 ? "settings without one" : "settings of schema version \(found)"
        throw StoreError(
          .unsupported,
          "the export is of schema version \(version), and the store has \(here); import it into a new store, migrate "
            + "that one, and export it again")
      }
      batch.schemaVersion = version
      batch.conditions.append(.unchangedPrefix("", after: revision))
    }
    if try storage().abilities.contains(.schemaVersion) { batch.conditions.append(.schemaVersion(found)) }
  }
}
