// The format of an export, one canonical JSON object:
//
//   {"declarations":{…},"encryption":{…},"kept":1,"omitted":["token"],"prefix":"","revision":17,"schemaVersion":2,
//    "secrets":{…},"unreadable":[…],"values":{…}}
//
// "declarations" and "unreadable" are present if requested, "omitted" unless secrets are included, "encryption" and
// "secrets" if there are encrypted ones, and "schemaVersion" if a program has assigned one. Equal stores have equal
// exports, except for the revision and for encrypted secrets.

import KeptSchema
import KeptSecrets
import KeptSystem
public import KeptValues

/// The options of an export.
public struct ExportOptions: Sendable {
  /// Only keys that begin with it.
  public var prefix: String
  /// Whether declarations are included.
  public var includesDeclarations: Bool
  /// Whether the values of secret keys are included, encrypted with the passphrase; otherwise only their keys are
  /// listed.
  public var includesSecrets: Bool
  /// The passphrase that secrets are encrypted with.
  public var passphrase: String?
  /// Whether secrets are included as they are, without a passphrase, readable for anyone who can read the export.
  public var leavesSecretsPlain: Bool
  /// Whether keys that cannot be read are listed, instead of making the export fail.
  public var leavesOutUnreadable: Bool
  public var progress: TransferProgress?

  public init(
    prefix: String = "", includesDeclarations: Bool = false, includesSecrets: Bool = false,
    passphrase: String? = nil, leavesSecretsPlain: Bool = false, leavesOutUnreadable: Bool = false,
    progress: TransferProgress? = nil
  ) {
    self.prefix = prefix
    self.includesDeclarations = includesDeclarations
    self.includesSecrets = includesSecrets
    self.passphrase = passphrase
    self.leavesSecretsPlain = leavesSecretsPlain
    self.leavesOutUnreadable = leavesOutUnreadable
    self.progress = progress
  }
}

extension Store {
  /// Exports the stored values at one revision as canonical JSON.
  ///
  /// Defaults and other layers are not included. In C: `kept_export_json`. In Python: `settings.export()`.
  ///
  /// Throws `corrupt`, with the key, for a value that cannot be read, `unsupported` for a storage that cannot list its
  /// keys, and `invalid` for secrets with neither a passphrase nor ``ExportOptions/leavesSecretsPlain``.
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
    try FileDraft.place(in: FileTarget(path)) { draft throws(StoreError) in
      try CText.lent({ text throws(StoreError) in try export.write(to: &text, draft) }) { text throws(StoreError) in
        try draft.write(text)
      }
    }
  }
}

/// The contents of a store at one revision, for an export.
private final class Export {
  private let options: ExportOptions
  private let contents: any StoredContents
  private let prefix: ExactString
  private var declarations: [(key: KeyName, declaration: Declaration)] = []
  private var omitted: [Value] = []
  private var unreadable: [Value] = []
  /// What encrypts secrets; nil until there is one.
  private var seal: ExportSeal?
  private var sealed: [(key: String, text: String)] = []

  init(of store: Store, _ options: ExportOptions) throws(StoreError) {
    (self.options, prefix) = (options, ExactString(options.prefix))
    let isSealing = options.includesSecrets && !options.leavesSecretsPlain
    guard isSealing == (options.passphrase != nil), options.includesSecrets || !options.leavesSecretsPlain else {
      throw StoreError(
        .invalid,
        isSealing
          ? "secrets are exported encrypted, and no passphrase was given; give one, or let them be plain"
          : "a passphrase and plain secrets exclude each other, and both need secrets to be included; leave one out")
    }
    contents = try store.contents(below: prefix, to: "export")
  }

  /// Writes the text, with the values to the draft, if there is one.
  func write(to text: inout CText, _ draft: FileDraft?) throws(StoreError) {
    var total = 0
    if options.progress != nil {
      try contents.forEach(below: prefix) { item, _ throws(StoreError) in
        if item.hasValue, !isOmitted(item) { total += 1 }
      }
    }
    let reporter = ProgressReporter(options.progress, total: total)
    // The values come last, and what is left out of them first.
    try CText.lent({ values throws(StoreError) in try writeValues(to: &values, reporter) }) {
      values throws(StoreError) in
      writeHead(to: &text)
      try text.check()
      if let draft {
        try text.withBytes { bytes throws(StoreError) in try draft.write(bytes) }
        text.removeAll()
        try draft.write(values)
      } else {
        text.append(contentsOf: values)
      }
      text.write("}}")
    }
    try reporter.finish()
  }

  private func isOmitted(_ item: StoredItem) -> Bool {
    !options.includesSecrets && item.declaration?.isSecret == true
  }

  private func writeValues(to text: inout CText, _ reporter: ProgressReporter) throws(StoreError) {
    var done = 0
    try contents.forEach(below: prefix) { item, writeValue throws(StoreError) in
      if item.declaration != nil || item.reason != nil, try !take(item) { return }
      guard item.hasValue else { return }
      try reporter.report(done)
      if let passphrase = options.passphrase, item.declaration?.isSecret == true {
        try seal(item, passphrase, writeValue)
        return done += 1
      }
      if done > sealed.count { text.append(UInt8(ascii: ",")) }
      text.append(quoted: item.key)
      text.append(UInt8(ascii: ":"))
      try writeValue(&text)
      try text.check()
      done += 1
    }
  }

  private func seal(
    _ item: StoredItem, _ passphrase: String, _ writeValue: (inout CText) throws(StoreError) -> Void
  ) throws(StoreError) {
    let made = if let seal { seal } else { try ExportSeal(passphrase: passphrase) }
    seal = made
    let key = String(decoding: item.key, as: UTF8.self)
    let text = try CText.lent(writeValue) { json throws(StoreError) in try made.seal(json, for: KeyName(key)) }
    // As a member of a text, it would not be read again.
    do throws(StoreError) { try Value.string(text).checkSize() } catch {
      throw StoreError(.tooLarge, key: key, "is a secret that is too long for an export; make a backup instead")
    }
    sealed.append((key, text))
  }

  /// Notes what must be known of an entry; returns whether its value is exported.
  private func take(_ item: StoredItem) throws(StoreError) -> Bool {
    let name = String(decoding: item.key, as: UTF8.self)
    try item.declaration?.makeKnown()
    if options.includesDeclarations, let declaration = item.declaration { try take(declaration, of: KeyName(name)) }
    guard item.hasValue || item.reason != nil else { return false }
    if isOmitted(item) {
      omitted.append(.string(name))
      return false
    }
    guard let reason = item.reason else { return true }
    guard options.leavesOutUnreadable else { throw reason }
    unreadable.append(.string(name))
    return false
  }

  private func take(_ declaration: Declaration, of key: KeyName) throws(StoreError) {
    do throws(StoreError) { try declaration.checkText(of: key) } catch {
      guard error.code == .corrupt, options.leavesOutUnreadable else { throw error }
      return unreadable.append(.string(key.text))
    }
    declarations.append((key, declaration))
  }

  /// Writes everything up to the first value.
  private func writeHead(to text: inout CText) {
    text.write("{")
    if options.includesDeclarations {
      text.write("\"declarations\":{")
      for (index, (key, declaration)) in declarations.enumerated() {
        text.appendName(key.text, isFirst: index == 0)
        text.write(declaration.json)
      }
      text.write("},")
    }
    if let seal {
      text.appendName("encryption", isFirst: true)
      Value.dictionary(seal.parameters).write(to: &text)
      text.write(",")
    }
    text.write("\"kept\":\(KeptDocument.version)")
    if !options.includesSecrets { text.append(.array(omitted), as: "omitted") }
    text.append(.string(options.prefix), as: "prefix")
    text.write(",\"revision\":\(contents.revision)")
    if contents.schemaVersion > 0 { text.write(",\"schemaVersion\":\(contents.schemaVersion)") }
    if seal != nil {
      text.write(",\"secrets\":{")
      for (index, (key, sealed)) in sealed.enumerated() {
        text.appendName(key, isFirst: index == 0)
        Value.string(sealed).write(to: &text)
      }
      text.write("}")
    }
    if options.leavesOutUnreadable { text.append(.array(unreadable), as: "unreadable") }
    text.write(",\"values\":{")
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
