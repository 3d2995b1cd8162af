// The files that a machine writes, and the record of their origin.

internal import Etcd
internal import FoundationEssentials
internal import Kept

/// The revision of a document, and the number of times that it was published.
package struct Stamp: Sendable, Hashable {
  package var revision: Int64
  package var version: Int64

  package init(revision: Int64, version: Int64) { (self.revision, self.version) = (revision, version) }

  /// Zeros for a value that is not a stamp.
  init(_ value: Value?) {
    self.init(revision: value?["revision"]?.asInt64 ?? 0, version: value?["version"]?.asInt64 ?? 0)
  }

  var value: Value { .object(["revision": .number(revision), "version": .number(version)]) }
}

/// The part of a layer's file that comes from the document of one group.
struct Source: Sendable, Hashable {
  var stamp: Stamp
  /// The document, so that it stays when a later one is wrong; nil from a version that did not remember it.
  var text: String?
  /// Whether etcd no longer has the document, although it was not removed there.
  var isLost = false

  var value: Value {
    .object([
      "revision": .number(stamp.revision), "version": .number(stamp.version), "text": text.map { .string($0) },
      "lost": isLost ? .bool(true) : nil,
    ])
  }
}

/// A document that was on the machine, and was replaced or removed since.
struct PastDocument: Sendable, Hashable {
  var revision: Int64
  var digest: String

  init(revision: Int64, text: String) { (self.revision, digest) = (revision, Agreement.digest(.string(text))) }

  init(_ item: Item) { self.init(revision: item.revision, text: String(decoding: item.value, as: UTF8.self)) }

  init?(_ value: Value) {
    guard let revision = value["revision"]?.asInt64, let digest = value["digest"]?.asString else { return nil }
    (self.revision, self.digest) = (revision, digest)
  }

  var value: Value { .object(["revision": .number(revision), "digest": .string(digest)]) }
}

/// The last few documents that were on the machine, by layer and prefix.
typealias PastDocuments = [DocumentName: [String: [PastDocument]]]

/// Where the file of a layer comes from.
struct Origin: Sendable, Hashable {
  /// The identity of the etcd.
  var cluster: UInt64
  /// The revision at which the documents were read.
  var revision: Int64
  /// The documents, by prefix.
  var sources: [String: Source]
}

/// The folder with `managed.json` and `system.json`, which one process at a time changes.
struct FollowedFiles: ~Copyable {
  let folder: String
  private let lock: FolderLock
  /// The origins of the files that this program has written; a file of the administrator does not have one.
  private(set) var origins: [DocumentName: Origin] = [:]
  private(set) var past: PastDocuments = [:]
  /// The layers whose files existed when their origin was lost.
  private var unknown: Set<DocumentName> = []

  private var statePath: String { "\(folder)/.kept-fleet.json" }

  func path(_ layer: DocumentName) -> String { "\(folder)/\(layer.rawValue).json" }

  /// Throws `unavailable` if another process writes to the folder.
  init(_ folder: String) throws(StoreError) {
    self.folder = folder
    lock = try FolderLock(folder, mode: 0o755)
    (origins, past, unknown) = Self.parse(FileManager.default.contents(atPath: statePath))
    unknown = Set(forgotten.keys)
  }

  /// The contents of the files whose origin was lost, as long as they exist.
  var forgotten: [DocumentName: Data] {
    let files = unknown.compactMap { layer -> (DocumentName, Data)? in
      guard origins[layer] == nil, FileManager.default.fileExists(atPath: path(layer)) else { return nil }
      return (layer, FileManager.default.contents(atPath: path(layer)) ?? Data())
    }
    return Dictionary(files) { $1 }
  }

  /// Throws if the folder was removed or replaced.
  func checkInPlace() throws(StoreError) { try lock.checkInPlace() }

  /// Writes the document in etcd to the file of a layer; returns whether the file has changed.
  ///
  /// Throws if the file cannot be written or removed.
  mutating func apply(_ text: String?, to layer: DocumentName, _ origin: Origin) throws(StoreError) -> Bool {
    let path = path(layer)
    guard let text else { return try remove(layer) }
    let bytes = Data(text.utf8)
    let isSame = AtomicFile.has(bytes, at: path)
    // Before the file: then a file of ours is never taken for one of the administrator, and if this process is killed
    // in between, an etcd that has lost a document by the next start does not take its locks away.
    let known = origins[layer]
    if known?.cluster != origin.cluster || known?.sources != origin.sources { try remember(origin, for: layer) }
    guard !isSame else { return false }
    do throws(StoreError) { try AtomicFile.write(bytes, to: path, mode: 0o644, durable: true) } catch {
      // What is reported is on disk; the next time, it is remembered again.
      origins[layer] = known ?? origin
      throw error
    }
    return true
  }

  /// Records the revision of etcd, so that an etcd with an earlier one is recognised.
  mutating func noteRevision(_ revision: Int64, of cluster: UInt64) {
    let old = origins
    for (layer, origin) in old where origin.cluster == cluster && origin.revision < revision {
      origins[layer]?.revision = revision
    }
    // It is written again at the next check.
    if old != origins { try? save(origins, past, durable: false) }
  }

  private mutating func remove(_ layer: DocumentName) throws(StoreError) -> Bool {
    // A file of the administrator is not removed.
    guard origins[layer] != nil else { return false }
    try AtomicFile.remove(path(layer))
    try remember(nil, for: layer)
    return true
  }

  /// Records documents that etcd has lost: their part of the file stays until they are published again.
  mutating func noteLoss(of layer: DocumentName, under prefixes: [String]) throws(StoreError) {
    guard var origin = origins[layer], !prefixes.isEmpty else { return }
    for prefix in prefixes { origin.sources[prefix]?.isLost = true }
    try remember(origin, for: layer)
  }

  private mutating func remember(_ origin: Origin?, for layer: DocumentName) throws(StoreError) {
    var (origins, past) = (origins, past)
    for (prefix, source) in origins[layer]?.sources ?? [:] {
      guard let text = source.text, origin?.sources[prefix]?.stamp.revision != source.stamp.revision else { continue }
      let (documents, replaced) = (
        past[layer]?[prefix] ?? [], PastDocument(revision: source.stamp.revision, text: text)
      )
      // It is remembered again after a file could not be written.
      if documents.last != replaced { past[layer, default: [:]][prefix] = (documents + [replaced]).suffix(16) }
    }
    origins[layer] = origin
    try save(origins, past, durable: true)
    (self.origins, self.past) = (origins, past)
  }

  private func save(
    _ origins: [DocumentName: Origin], _ past: PastDocuments, durable: Bool
  ) throws(StoreError) {
    var members = origins.map { layer, origin in
      let sources = origin.sources.map { (ExactString($0.key), $0.value.value) }
      return (
        ExactString(layer.rawValue),
        Value.object([
          "cluster": .string(String(origin.cluster, radix: 16)), "revision": .number(origin.revision),
          "sources": .dictionary(ValueDictionary(sources)),
        ])
      )
    }
    for layer in unknown where origins[layer] == nil { members.append((ExactString(layer.rawValue), .object([]))) }
    let pastMembers = past.map { layer, documents in
      let members = documents.map { (ExactString($0.key), Value.array($0.value.map(\.value))) }
      return (ExactString(layer.rawValue), Value.dictionary(ValueDictionary(members)))
    }
    members.append(("past", .dictionary(ValueDictionary(pastMembers))))
    try AtomicFile.write(
      Data((Value.dictionary(ValueDictionary(members)).json + "\n").utf8), to: statePath, durable: durable)
  }

  /// The origins, the past documents, and the layers whose origin is lost.
  private static func parse(_ bytes: Data?) -> ([DocumentName: Origin], PastDocuments, Set<DocumentName>) {
    guard let bytes, let members = try? Value(json: String(decoding: bytes, as: UTF8.self)).asDictionary
    else { return ([:], [:], Set(DocumentName.layers)) }
    var (origins, past): ([DocumentName: Origin], PastDocuments) = ([:], [:])
    var unknown: Set<DocumentName> = []
    for layer in DocumentName.layers {
      let name = ExactString(layer.rawValue)
      for member in members["past"]?[name]?.asDictionary ?? ValueDictionary() {
        past[layer, default: [:]][member.key.text] = (member.value.asArray ?? []).compactMap(PastDocument.init)
      }
      guard let member = members[name] else { continue }
      guard
        let cluster = member["cluster"]?.asString.flatMap({ UInt64($0, radix: 16) }),
        let revision = member["revision"]?.asInt64, let sources = member["sources"]?.asDictionary
      else {
        unknown.insert(layer)
        continue
      }
      let documents = sources.map { member in
        let (stamp, text) = (Stamp(member.value), member.value["text"]?.asString)
        return (member.key.text, Source(stamp: stamp, text: text, isLost: member.value["lost"] == .bool(true)))
      }
      origins[layer] = Origin(cluster: cluster, revision: revision, sources: Dictionary(documents) { $1 })
    }
    return (origins, past, unknown)
  }
}
