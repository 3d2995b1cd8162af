// The options and calls of an import: a text becomes settings, which `Importing` compares and commits.

import KeptSystem
public import KeptValues

/// The format of a text that is imported.
///
/// The command `kept import` reads others.
public enum ImportFormat: Hashable, Sendable {
  /// Kept's export.
  case kept
  /// A JSON object whose members are keys.
  case json
  /// A JSON object whose nested objects are components of keys.
  case nestedJSON
}

/// The options of an import.
public struct ImportOptions: Sendable {
  public var format: ImportFormat
  /// Of an export, only keys that begin with it are imported; with other formats it is prepended to every key.
  public var prefix: String
  /// The text between the components of nested keys.
  public var separator: String
  /// Whether keys with the prefix that are not in the text are removed.
  public var replaces: Bool
  /// Whether nothing is changed, and the report describes what would change.
  public var isDryRun: Bool
  /// Whether the declarations in the text are imported, too.
  public var includesDeclarations: Bool
  /// The passphrase of an export whose secrets are encrypted.
  public var passphrase: String?
  /// Whether encrypted secrets of an export may become plain, in a store that keeps secrets plain.
  public var leavesSecretsPlain: Bool
  public var progress: TransferProgress?

  /// The size limit of a text, far above any settings file: 1 GiB.
  package static let mostBytes = 1 << 30

  public init(
    format: ImportFormat = .kept, prefix: String = "", separator: String = ".", replaces: Bool = false,
    isDryRun: Bool = false, includesDeclarations: Bool = false, passphrase: String? = nil,
    leavesSecretsPlain: Bool = false, progress: TransferProgress? = nil
  ) {
    self.format = format
    self.prefix = prefix
    self.separator = separator
    self.replaces = replaces
    self.isDryRun = isDryRun
    self.includesDeclarations = includesDeclarations
    self.passphrase = passphrase
    self.leavesSecretsPlain = leavesSecretsPlain
    self.progress = progress
  }

  /// Whether a text is an export with encrypted secrets, which needs its passphrase.
  public static func needsPassphrase(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer(KeptDocument.hasSecrets)
  }
}

extension Store {
  /// Imports a text as one commit: all of it, or nothing.
  ///
  /// In C: `kept_import`. In Python: `settings.import_text(text)`.
  ///
  /// Throws `invalid` or `tooLarge`, with an offset, for a text that is not in the format; `unsupported` for an export
  /// of a later version, or of another schema version than the store's; `unavailable` for encrypted secrets without a
  /// passphrase, and `denied` for a wrong one; for the first refused key `locked`,
  /// `wrongType`, `invalid`, `typeConflict` or `tooLarge`; and `busy` if others keep writing. A secret is refused with
  /// `unavailable` if no one has decided how the store keeps secrets, and with `invalid` if it is encrypted in the
  /// export and would become plain. Nothing is changed then.
  /// A dry run reports all refused keys.
  @discardableResult
  public func `import`(_ text: String, _ options: ImportOptions = ImportOptions()) throws(StoreError) -> ImportReport {
    try self.import(Array(text.utf8), options)
  }

  /// Imports a text from its bytes, as ``import(_:_:)-(String,_)`` does.
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
    let bytes = try WholeFile.bytes(of: path, atMost: ImportOptions.mostBytes, "the file to import")
    do throws(StoreError) { return try self.import(bytes, options) } catch {
      throw error.key == nil && error.offset != nil ? error.said { "\(path): \($0)" } : error
    }
  }

  /// Imports the bytes of a text.
  package func `import`(
    _ bytes: UnsafeBufferPointer<UInt8>, _ options: ImportOptions
  ) throws(StoreError) -> ImportReport {
    let rules = ImportRules(
      replaces: options.replaces, isDryRun: options.isDryRun, includesDeclarations: options.includesDeclarations,
      leavesSecretsPlain: options.leavesSecretsPlain, progress: options.progress)
    return try self.import(rules) { () throws(StoreError) in
      guard bytes.count <= ImportOptions.mostBytes else {
        throw StoreError(
          .tooLarge, "the text is \(bytes.count) bytes long; at most \(ImportOptions.mostBytes) are allowed")
      }
      return try Self.incoming(bytes, options)
    }
  }

  private static func incoming(
    _ bytes: UnsafeBufferPointer<UInt8>, _ options: ImportOptions
  ) throws(StoreError) -> Incoming {
    if options.format == .kept {
      let secrets = SealedSecrets.open(passphrase: options.passphrase)
      return try KeptDocument.read(bytes, prefix: options.prefix, secrets, options.progress)
    }
    if options.format == .nestedJSON, options.separator.isEmpty {
      // With it, `{"a":{"bc":1}}` and `{"ab":{"c":1}}` would be one key.
      throw StoreError(.invalid, "the separator between the parts of a key is empty; use one such as a dot")
    }
    let reporter = ProgressReporter(options.progress, total: bytes.count)
    try reporter.report(0)
    let separator = options.format == .nestedJSON ? options.separator : nil
    let text = try ForeignJSON(bytes, prefix: options.prefix, separator: separator)
    return Incoming(
      scope: ExactString(options.prefix), size: bytes.count, settings: text.settings, notCarried: text.notCarried,
      separator: separator)
  }
}
