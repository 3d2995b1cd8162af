// How an export is read: member by member, so that the limits apply to each value and not to the text.
//
// An error in the text itself ends the read; an error in one key is a refusal, and all refusals are collected.

import KeptSchema
import KeptSecrets
import KeptValues

/// What becomes of encrypted secrets in an export.
enum SealedSecrets {
  /// They are opened with the passphrase; without one, the export is refused.
  case open(passphrase: String?)
  /// They are listed in ``Incoming/sealed``.
  case leave
}

/// The reader of an export.
final class KeptDocument {
  /// The version of the format.
  static let version: Int64 = 1
  private static let purpose = "import the settings"

  private var members: JSONMembers
  private let reporter: ProgressReporter
  private let wanted: ExactString
  private let found: Incoming
  private var prefix: ExactString = ""
  private var hasValues = false
  private var encryption: ValueDictionary = [:]
  private var sealed: [(key: KeyName, bytes: [UInt8])] = []
  // The memory of the settings and declarations.
  private var allowance = Allowance()

  /// Reads an export.
  ///
  /// Throws `invalid`, with an offset, if the text is not an export, `unsupported` for one of a later version, and
  /// `tooLarge`; and for encrypted secrets `unavailable` without a passphrase, and `denied` for a wrong one.
  /// - Parameter prefix: keys without this prefix are skipped.
  static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, prefix: String, _ secrets: SealedSecrets, _ progress: TransferProgress?
  ) throws(StoreError) -> Incoming {
    try checkVersion(of: bytes)
    let document = try KeptDocument(bytes, prefix: ExactString(prefix), ProgressReporter(progress, total: bytes.count))
    while let name = try document.members.nextKey() { try document.readMember(name) }
    document.found.sealed = Set(document.sealed.map(\.key))
    if case .open(let passphrase) = secrets, !document.sealed.isEmpty { try document.openSecrets(passphrase) }
    return try document.settled()
  }

  /// Whether an export has encrypted secrets; false for any other text.
  static func hasSecrets(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard var members = try? JSONMembers(bytes) else { return false }
    while let name = try? members.nextKey() {
      if name == "secrets" { return (try? members.ahead()) == .object }
      guard (try? members.pass()) != nil else { return false }
    }
    return false
  }

  private init(
    _ bytes: UnsafeBufferPointer<UInt8>, prefix: ExactString, _ reporter: ProgressReporter
  ) throws(StoreError) {
    members = try JSONMembers(bytes)
    self.reporter = reporter
    wanted = prefix
    found = Incoming(scope: prefix, size: bytes.count)
  }

  /// Checks the version before anything else, because the other members of a later version are unknown.
  private static func checkVersion(of bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    var members = try JSONMembers(bytes)
    while let name = try members.nextKey() {
      guard name == "kept" else {
        try members.pass()
        continue
      }
      let offset = members.position
      guard case .int(let found) = try members.value(), found > 0 else {
        throw StoreError(.invalid, offset: offset, "\"kept\" must be the version of the export, such as \(version)")
      }
      guard found == version else {
        throw StoreError(
          .unsupported,
          "the export has version \(found), but this library knows versions up to \(version); update the library")
      }
      return
    }
    throw StoreError(
      .invalid, offset: 0,
      "the text is not a Kept export: it has no member \"kept\"; to import another format, specify it")
  }

  private func readMember(_ name: String) throws(StoreError) {
    let offset = members.position
    switch name {
    case "kept": try members.pass()
    case "declarations": try readDeclarations()
    case "values": try readValues()
    case "omitted":
      found.omitted.formUnion(try keys(of: name))
      found.isWithoutSecrets = true
    case "encryption":
      guard let parameters = try members.value().asDictionary else {
        throw StoreError(.invalid, offset: offset, "\"encryption\" must be an object; export the store again")
      }
      encryption = parameters
    case "secrets": try readSecrets()
    case "unreadable": found.unreadable.formUnion(try keys(of: name))
    case "prefix":
      guard case .string(let text) = try members.value() else {
        throw StoreError(.invalid, offset: offset, "\"prefix\" must be the string that all keys begin with")
      }
      prefix = ExactString(text)
    case "revision":
      guard try members.value().asUInt64 != nil else {
        throw StoreError(.invalid, offset: offset, "\"revision\" must be a non-negative integer")
      }
    case "schemaVersion":
      guard let version = try members.value().asUInt64.flatMap({ UInt32(exactly: $0) }), version > 0 else {
        throw StoreError(.invalid, offset: offset, "\"schemaVersion\" must be an integer from 1 to \(UInt32.max)")
      }
      found.schemaVersion = version
    default:
      throw StoreError(
        .invalid, offset: offset, "the export has the unknown member \"\(Excerpt.of(name))\"; leave it out")
    }
  }

  private func readValues() throws(StoreError) {
    try openObject("values")
    hasValues = true
    while let name = try members.nextKey() {
      try reporter.report(members.position)
      let part = try members.part()
      try allowance.take(part.memory + 2 * name.utf8.count, to: Self.purpose)
      guard let key = key(name) else { continue }
      do throws(StoreError) {
        let value = try part.value()
        try Memory.makeRoom(in: &found.settings, to: Self.purpose)
        found.settings.append(Incoming.Setting(key: key, value: try value.checkedForStore()))
      } catch {
        guard error.code != .failed else { throw error.about(name) }
        found.refusals.append(error.about(name))
      }
    }
  }

  private func readSecrets() throws(StoreError) {
    try openObject("secrets")
    while let name = try members.nextKey() {
      try reporter.report(members.position)
      let offset = members.position
      let part = try members.part()
      try allowance.take(part.memory + name.utf8.count, to: Self.purpose)
      guard let key = key(name) else { continue }
      guard let bytes = try part.value().asString.flatMap(Base64.decode) else {
        throw StoreError(
          .invalid, key: name, offset: offset, "is not an encrypted secret, which is base64; export the store again")
      }
      sealed.append((key, bytes))
    }
  }

  private func openSecrets(_ passphrase: String?) throws(StoreError) {
    guard let passphrase else {
      throw StoreError(
        .unavailable,
        "the export has encrypted secrets, and no passphrase was given; give the one that it was exported with")
    }
    let seal = try ExportSeal(encryption, passphrase: passphrase)
    let plain = Set(found.settings.map(\.key))
    for (index, (key, bytes)) in sealed.enumerated() {
      guard !plain.contains(key) else {
        throw StoreError(.invalid, key: key.text, "is in \"values\" and in \"secrets\"; export the store again")
      }
      guard let opened = try seal.open(bytes, for: key) else {
        throw index == 0
          ? StoreError(
            .denied,
            "the passphrase is not the one of the export, or its secrets were changed; give the right one, or export "
              + "again")
          : StoreError(.corrupt, key: key.text, "its encrypted value was changed, or is of another key; export again")
      }
      let value = try? opened.withBytes { json throws(StoreError) in try Value(jsonBytes: json).checkedForStore() }
      guard let value else {
        throw StoreError(.corrupt, key: key.text, "its encrypted value is malformed; export again")
      }
      try Memory.makeRoom(in: &found.settings, to: Self.purpose)
      found.settings.append(Incoming.Setting(key: key, value: value))
      found.secrets.insert(key)
    }
  }

  private func readDeclarations() throws(StoreError) {
    try openObject("declarations")
    var declarations: [(key: KeyName, declaration: Declaration)] = []
    while let name = try members.nextKey() {
      try reporter.report(members.position)
      let part = try members.part()
      // A declaration also keeps its text.
      try allowance.take(2 * part.memory + name.utf8.count, to: Self.purpose)
      guard let key = key(name) else { continue }
      do throws(StoreError) {
        let schema = try part.value(isSchema: true)
        let declaration = schema.isLostDeclaration ? .lost : try Declaration(schema)
        declarations.append((key, declaration))
        if declaration.isSecret { found.secrets.insert(key) }
      } catch {
        found.secrets.insert(key)
        guard error.code != .failed else { throw error.about(name) }
        found.refusals.append(error.about(name))
      }
    }
    found.declarations = declarations
  }

  @inline(never)
  private func openObject(_ name: String) throws(StoreError) {
    guard try members.open() else {
      throw StoreError(.invalid, offset: members.position, "\"\(name)\" must be an object that maps keys to \(name)")
    }
  }

  /// Returns a key with the wanted prefix; nil for any other, and for an invalid one, which is refused.
  @inline(never)
  private func key(_ name: String) -> KeyName? {
    guard ExactString(name).hasPrefix(wanted) else { return nil }
    do throws(StoreError) { return try KeyName(name) } catch {
      found.refusals.append(error.about(name))
      return nil
    }
  }

  private func keys(of name: String) throws(StoreError) -> [KeyName] {
    let offset = members.position
    guard let elements = try members.value().asArray else {
      throw StoreError(.invalid, offset: offset, "\"\(name)\" must be an array of keys")
    }
    var keys: [KeyName] = []
    try Allowance.ask(forEntries: elements.count, to: Self.purpose)
    for element in elements {
      guard let text = element.asString, let key = try? KeyName(text) else {
        throw StoreError(.invalid, offset: offset, "\"\(name)\" must be an array of keys")
      }
      keys.append(key)
    }
    return keys
  }

  /// Returns the content after checking that it is complete.
  private func settled() throws(StoreError) -> Incoming {
    guard hasValues else {
      throw StoreError(.invalid, offset: 0, "the export has no member \"values\"; export the store again")
    }
    for setting in found.settings { try checkPrefix(of: setting.key) }
    for declared in found.declarations ?? [] { try checkPrefix(of: declared.key) }
    // An export says nothing about keys outside its own prefix.
    if prefix.hasPrefix(wanted) {
      found.scope = prefix
    } else if !wanted.hasPrefix(prefix) {
      throw StoreError(
        .invalid,
        "the export has only keys that begin with \"\(Excerpt.of(prefix.text))\", none with "
          + "\"\(Excerpt.of(wanted.text))\"; use another prefix")
    }
    return found
  }

  @inline(never)
  private func checkPrefix(of key: KeyName) throws(StoreError) {
    guard !key.exact.hasPrefix(prefix) else { return }
    throw StoreError(
      .invalid, key: key.text,
      "does not begin with \"\(Excerpt.of(prefix.text))\", the prefix of the export; correct one of them")
  }
}
