// A document for one layer: its check, and the combination of several.

package import FoundationEssentials
package import Kept

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

  /// Checks a document as Kept does, and its values against declarations.
  ///
  /// Throws what Kept would report, or the first value that does not fit.
  package init(
    _ bytes: Data, _ document: DocumentName, declared: [KeyName: Declaration]
  ) throws(StoreError) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(.invalid, "the document is not UTF-8; encode it as UTF-8")
    }
    try document.layer.check(text)
    let value = try Value(json: text)
    self.text = text
    values = value.asDictionary?["values"]?.asDictionary ?? ValueDictionary()
    locked = Self.texts(value, "locked")
    lockedPrefixes = Self.texts(value, "lockedPrefixes")
    for member in values {
      let key = try KeyName(member.key.text)
      guard let declaration = declared[key] else { continue }
      guard !declaration.isSecret else {
        throw StoreError(
          .invalid, key: key.text, "is declared secret, and etcd would have its value in plain; leave it out")
      }
      do throws(StoreError) { _ = try declaration.admitted(member.value) } catch {
        throw StoreError(error.code, key: key.text, error.message)
      }
    }
  }

  /// Whether a file that has another document loses nothing with this one in its place.
  func keepsAll(of other: LayerDocument) -> Bool {
    locked.isSuperset(of: other.locked) && lockedPrefixes.isSuperset(of: other.lockedPrefixes)
      && other.values.allSatisfy { values[$0.key] == $0.value }
  }

  /// The keys with values that are not declared.
  package func undeclared(in declared: [KeyName: Declaration]) -> [String] {
    declared.isEmpty ? [] : values.map(\.key).filter { key in !declared.keys.contains { $0.exact == key } }.map(\.text)
  }

  /// The contents of several documents in one: of two values for a key the later one is used, and a key that one locks
  /// is locked.
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
}
