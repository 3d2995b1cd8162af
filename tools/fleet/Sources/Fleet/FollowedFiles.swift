// The files that a machine follows into, and what is remembered of where they come from.

internal import Etcd
internal import FoundationEssentials
internal import Kept

/// The revision of a document, and the number of times that it was published.
package struct Stamp: Sendable, Hashable {
  package var revision: Int64
  package var version: Int64

  package init(revision: Int64, version: Int64) { (self.revision, self.version) = (revision, version) }

  /// Zeros for what is no stamp.
  init(_ value: Value?) {
    self.init(revision: value?["revision"]?.asInt64 ?? 0, version: value?["version"]?.asInt64 ?? 0)
  }

  var value: Value { .object(["revision": .number(revision), "version": .number(version)]) }
}

/// Where the file of a layer comes from.
struct Origin: Sendable, Hashable {
  /// The identity of the etcd.
  var cluster: UInt64
  /// The revision at which the documents were read.
  var revision: Int64
  /// The documents, by prefix.
  var sources: [String: Stamp]
}

/// The folder with `managed.json` and `system.json`, which one process at a time changes.
struct FollowedFiles: ~Copyable {
  let folder: String
  private let lock: FolderLock
  /// By the file of a layer that this program has written; one that an administrator has written is not there.
  private(set) var origins: [DocumentName: Origin] = [:]

  private var statePath: String { "\(folder)/.kept-fleet.json" }

  func path(_ layer: DocumentName) -> String { "\(folder)/\(layer.rawValue).json" }

  /// Throws `unavailable` if another process follows into the folder.
  init(_ folder: String) throws(StoreError) {
    self.folder = folder
    lock = try FolderLock(folder, mode: 0o755)
    origins = Self.parse(FileManager.default.contents(atPath: statePath))
  }

  /// Throws if the folder was removed or replaced.
  func checkInPlace() throws(StoreError) { try lock.checkInPlace() }

  /// Makes the file of a layer what etcd has; returns whether it has changed.
  ///
  /// Throws if the file cannot be written, or if it should be removed and etcd has lost what it was written from.
  mutating func apply(_ text: String?, to layer: DocumentName, _ origin: Origin) throws(StoreError) -> Bool {
    let path = path(layer)
    guard let text else { return try remove(layer, origin) }
    let bytes = Data(text.utf8)
    let isSame = AtomicFile.has(bytes, at: path)
    // The first time before the file, so that a file of ours is never taken for one of the administrator.
    if origins[layer] == nil { try remember(origin, for: layer) }
    if !isSame { try AtomicFile.write(bytes, to: path, mode: 0o644, durable: true) }
    if origins[layer]?.cluster != origin.cluster || origins[layer]?.sources != origin.sources {
      try remember(origin, for: layer)
    }
    return !isSame
  }

  /// Remembers how far etcd has come, so that one that has gone back is recognised.
  mutating func noteRevision(_ revision: Int64, of cluster: UInt64) {
    let old = origins
    for (layer, origin) in old where origin.cluster == cluster && origin.revision < revision {
      origins[layer]?.revision = revision
    }
    // It is written again at the next check.
    if old != origins { try? save(origins, durable: false) }
  }

  private mutating func remove(_ layer: DocumentName, _ origin: Origin) throws(StoreError) -> Bool {
    let path = path(layer)
    guard let old = origins[layer] else { return false }
    guard old.cluster == origin.cluster, old.revision <= origin.revision else {
      let reason =
        old.cluster == origin.cluster
        ? "has gone back from revision \(old.revision) to \(origin.revision)" : "is not the one that it came from"
      // Its revision will grow beyond the old one, which proves nothing.
      try remember(Origin(cluster: 0, revision: old.revision, sources: old.sources), for: layer)
      throw StoreError(
        .conflict,
        "\(path) stays, although etcd has no document for it, because etcd \(reason); publish the document "
          + "again, or remove the file")
    }
    try AtomicFile.remove(path)
    try remember(nil, for: layer)
    return true
  }

  private mutating func remember(_ origin: Origin?, for layer: DocumentName) throws(StoreError) {
    var origins = origins
    origins[layer] = origin
    try save(origins, durable: true)
    self.origins = origins
  }

  private func save(_ origins: [DocumentName: Origin], durable: Bool) throws(StoreError) {
    let members = origins.map { layer, origin in
      let sources = origin.sources.map { (ExactString($0.key), $0.value.value) }
      return (
        ExactString(layer.rawValue),
        Value.object([
          "cluster": .string(String(origin.cluster, radix: 16)), "revision": .number(origin.revision),
          "sources": .dictionary(ValueDictionary(sources)),
        ])
      )
    }
    try AtomicFile.write(
      Data((Value.dictionary(ValueDictionary(members)).json + "\n").utf8), to: statePath, durable: durable)
  }

  private static func parse(_ bytes: Data?) -> [DocumentName: Origin] {
    guard let bytes, let value = try? Value(json: String(decoding: bytes, as: UTF8.self)) else { return [:] }
    var origins: [DocumentName: Origin] = [:]
    for layer in DocumentName.layers {
      guard let member = value[ExactString(layer.rawValue)],
        let cluster = member["cluster"]?.asString.flatMap({ UInt64($0, radix: 16) }),
        let revision = member["revision"]?.asInt64, let sources = member["sources"]?.asDictionary
      else { continue }
      let stamps = sources.map { ($0.key.text, Stamp($0.value)) }
      origins[layer] = Origin(cluster: cluster, revision: revision, sources: Dictionary(stamps) { $1 })
    }
    return origins
  }
}
