// A document for one layer: its check, and what several of them are together.

package import FoundationEssentials
internal import Glibc
package import Kept
internal import Synchronization

/// Why a document was not applied.
package struct Refusal: Error, Sendable, Hashable {
  package let document: DocumentName
  package let prefix: String
  package let revision: Int64
  package let reason: String
}

/// The contents of a file of a layer, as docs/guide/layers.md describes them.
package struct LayerDocument: Sendable {
  package let text: String
  package let values: ValueDictionary
  package let locked: Set<ExactString>
  package let lockedPrefixes: Set<ExactString>

  /// Checks a document as Kept will, and its values against declarations.
  ///
  /// Throws what Kept would report, or the first value that does not fit.
  package init(
    _ bytes: Data, _ document: DocumentName, declared: [KeyName: Declaration]
  ) throws(StoreError) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(.invalid, "it is not UTF-8; encode it as UTF-8")
    }
    let value = try Value(json: text)
    try Self.checkForm(bytes, document)
    self.text = text
    values = value.asDictionary?["values"]?.asDictionary ?? ValueDictionary()
    locked = Self.texts(value, "locked")
    lockedPrefixes = Self.texts(value, "lockedPrefixes")
    for member in values {
      let key = try KeyName(member.key.text)
      guard let declaration = declared[key] else { continue }
      do throws(StoreError) { _ = try declaration.admitted(member.value) } catch {
        throw StoreError(error.code, key: key.text, error.message)
      }
    }
  }

  /// The keys with values that are not declared.
  package func undeclared(in declared: [KeyName: Declaration]) -> [String] {
    declared.isEmpty ? [] : values.map(\.key).filter { key in !declared.keys.contains { $0.exact == key } }.map(\.text)
  }

  /// The contents of several documents in one: of two values for a key the later one counts, and what one locks is
  /// locked.
  ///
  /// A single document stays as it was written.
  package static func merged(_ documents: [LayerDocument]) -> String {
    guard documents.count > 1 else { return documents.first?.text ?? "{}" }
    let values = ValueDictionary(documents.flatMap { $0.values.map { ($0.key, $0.value) } })
    var members: [(ExactString, Value)] = [("values", .dictionary(values))]
    let locks: [(ExactString, KeyPath<LayerDocument, Set<ExactString>>)] = [
      ("locked", \.locked), ("lockedPrefixes", \.lockedPrefixes),
    ]
    for (name, path) in locks {
      let all = documents.reduce(into: Set()) { $0.formUnion($1[keyPath: path]) }
      if !all.isEmpty { members.append((name, .array(all.sorted().map { .string($0.text) }))) }
    }
    return Value.dictionary(ValueDictionary(members)).json + "\n"
  }

  private static func texts(_ value: Value, _ member: ExactString) -> Set<ExactString> {
    Set((value.asDictionary?[member]?.asArray ?? []).compactMap { $0.asString.map { ExactString($0) } })
  }

  /// Lets Kept read the document from a file, as programs will.
  static func checkForm(_ bytes: Data, _ document: DocumentName) throws(StoreError) {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = "\(folder.path)/\(document.rawValue).json"
    try AtomicFile.write(bytes, to: path)
    let reported = Mutex<StoreError?>(nil)
    let place = LayerPlace.path(path)
    let options = StoreOptions(
      managed: document == .managed ? place : nil, system: document == .system ? place : nil,
      errorHandler: { error in reported.withLock { $0 = $0 ?? error } })
    do throws(StoreError) {
      try Store.open("memory:", options: options).close()
      if let error = reported.withLock({ $0 }) { throw error }
    } catch {
      throw StoreError(
        error.code, key: error.key, offset: error.offset, error.message.replacing(path, with: "the document"))
    }
  }
}

/// A folder of this process alone.
private struct TemporaryFolder {
  let path: String

  init() throws(StoreError) {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(parent)/kept-fleet.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw .system("make a folder in \(parent)", errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
