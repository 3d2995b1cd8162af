// The state that both sides had, which shows what has changed since. Changes that were not sent are found by this
// comparison: there is no queue that could be lost.
//
// Invariants, also after a kill between two of these steps:
// - A change is recorded before it is sent, and the agreement after both sides have it. In between, etcd has either the
//   old value or the new one; the fence shows which (Fence.swift). Nothing is sent while that is not known.
// - A change from etcd is recorded before it is stored, and the record is removed when the value is agreed. In between,
//   the store's history shows whether the store has it.
// - The agreements are of one store, one prefix and one set of keys in etcd. Before others are begun, they are
//   forgotten; if only the set is another one, they lose their revisions.

internal import FoundationEssentials
internal import Glibc
internal import Kept

/// The state of a key when both sides were the same.
struct Agreement: Sendable, Hashable {
  /// The revision of etcd that had changed the key; 0 if it was absent, and `lost` if that etcd is gone.
  var etcd: Int64
  /// The revision of the store that had changed the key; nil if it was absent.
  var local: Revision?
  /// A digest of the value that etcd had; nil if it was absent, is a secret, or is not known.
  var digest: String?
  /// A change that was about to be sent since.
  var sent: Sent?

  struct Sent: Sendable, Hashable {
    /// The number of the transaction, as in the fence.
    var number: String
    /// The revision of the store; nil for a removal.
    var local: Revision?
    /// Whether nothing was agreed of the key before.
    var isFirst: Bool
  }

  /// A revision that no etcd reaches.
  static let lost = Int64.max

  static func digest(_ value: Value) -> String {
    // FNV-1a.
    let hash = value.json.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return String(hash, radix: 16)
  }
}

/// A change of etcd that was about to be stored.
struct Taking: Sendable {
  /// The revision of etcd that has changed each key; 0 for an absent one.
  var keys: [ExactString: Int64]
  /// The revision of the store before it.
  var after: Revision
}

/// The two sides of an agreement.
struct Sides: Sendable, Hashable {
  /// The identity of etcd, and that of the keys under the prefix: a new etcd can have the identity of the old one.
  var cluster: UInt64
  var keys: String
  var prefix: String
  /// The random text in the store's folder.
  var store: String

  var value: Value {
    .object([
      "cluster": .string(String(cluster, radix: 16)), "keys": .string(keys), "prefix": .string(prefix),
      "store": .string(store),
    ])
  }
}

/// The agreements of a store with etcd.
struct Agreements: ~Copyable {
  private let folder: String
  private let lock: FolderLock
  private var sides: Value?
  /// The last salvage of the store that was seen.
  private(set) var salvage: Revision?
  private var files: OpenStore?
  private(set) var table: [ExactString: Agreement] = [:]

  private var sidesPath: String { "\(folder)/place.json" }
  private var storePath: String { "\(folder)/agreed.kept" }
  private var takingPath: String { "\(folder)/taking.json" }

  /// Throws `unavailable` if another process uses the folder.
  init(_ folder: String) throws(StoreError) {
    self.folder = folder
    lock = try FolderLock(folder, mode: 0o700)
    let place = Self.value(at: "\(folder)/place.json")
    (sides, salvage) = (place?["sides"], place?["salvage"]?.asInt64.map { Revision(clamping: $0) })
  }

  var warning: String? { lock.warning }

  /// Throws if the agreements were removed, replaced or damaged since they were opened.
  func check(isThorough: Bool) throws(StoreError) {
    try lock.checkInPlace()
    try files?.check(isThorough: isThorough)
  }

  /// Opens the agreements of these sides; those of another store or prefix are discarded.
  ///
  /// Returns whether there were other sides before.
  mutating func open(_ sides: Sides, salvage: Revision) throws(StoreError) -> Bool {
    let (old, value) = (self.sides, sides.value)
    if old == value, files != nil { return false }
    let isSameStore = old?["store"] == value["store"] && old?["prefix"] == value["prefix"]
    if !isSameStore {
      files?.store.close()
      (files, table) = (nil, [:])
      do { try FileManager.default.removeItem(atPath: storePath) } catch {
        guard (error as? CocoaError)?.code == .fileNoSuchFile else {
          throw StoreError(.unavailable, "cannot remove \(storePath): \(error)")
        }
      }
    }
    if files == nil {
      let store = try Store.open(storePath, options: StoreOptions(errorHandler: { _ in }))
      // Without a history: it would keep values.
      try store.setHistoryLimits(.off)
      table = try Self.read(store)
      files = OpenStore(store, in: storePath)
    }
    if old != value {
      try note(nil)
      try update(
        table.mapValues { Agreement(etcd: Agreement.lost, local: $0.local, digest: $0.digest) }, durability: .durable)
      try note(value, isSameStore ? self.salvage ?? salvage : salvage)
    }
    self.sides = value
    return old != nil && old != value
  }

  /// Removes the agreements of keys that the store has lost in a salvage.
  mutating func forget(_ lost: Set<ExactString>, after salvage: Revision) throws(StoreError) {
    try update(Dictionary(uniqueKeysWithValues: lost.map { ($0, nil) }), durability: .durable)
    if let sides { try note(sides, salvage) }
  }

  private mutating func note(_ sides: Value, _ salvage: Revision) throws(StoreError) {
    let place = Value.object(["sides": sides, "salvage": .number(salvage)])
    try AtomicFile.write(Data((place.json + "\n").utf8), to: sidesPath, durable: true)
    self.salvage = salvage
  }

  /// The changes that were sent and not answered.
  var undecided: [ExactString: Agreement.Sent] { table.compactMapValues(\.sent) }

  /// Records the result of the sent changes: the last of them is the transaction that the fence names.
  mutating func settle(_ undecided: [ExactString: Agreement.Sent], _ fence: Fence?) throws(StoreError) {
    var settled: [ExactString: Agreement?] = [:]
    for (key, sent) in undecided {
      guard let agreement = table[key] else { continue }
      if let fence, sent.number == fence.number {
        settled.updateValue(sent.local.map { Agreement(etcd: fence.revision, local: $0) }, forKey: key)
      } else {
        settled.updateValue(
          sent.isFirst
            ? nil : Agreement(etcd: agreement.etcd, local: agreement.local, digest: agreement.digest), forKey: key)
      }
    }
    try update(settled)
  }

  /// The change that was about to be stored when this program was killed.
  var taking: Taking? {
    guard let value = Self.value(at: takingPath), let after = value["after"]?.asInt64 else { return nil }
    let keys = (value["keys"]?.asDictionary ?? ValueDictionary()).compactMap { key in
      key.value.asInt64.map { (key.key, $0) }
    }
    return Taking(keys: Dictionary(keys) { $1 }, after: Revision(clamping: after))
  }

  /// Records the change that is about to be stored; nil when it was agreed.
  func note(_ taking: Taking?) throws(StoreError) {
    guard let taking else {
      unlink(takingPath)
      return
    }
    let keys = ValueDictionary(taking.keys.map { ($0.key, .number($0.value)) })
    let value = Value.object(["after": .number(taking.after), "keys": .dictionary(keys)])
    try AtomicFile.write(Data(value.json.utf8), to: takingPath)
  }

  private static func value(at path: String) -> Value? {
    FileManager.default.contents(atPath: path).flatMap { try? Value(json: String(decoding: $0, as: UTF8.self)) }
  }

  /// Records agreements; nil removes one.
  mutating func update(
    _ changes: [ExactString: Agreement?], durability: Durability = .shared
  ) throws(StoreError) {
    guard let store = files?.store, !changes.isEmpty else { return }
    do {
      try store.transaction(durability: durability) { transaction in
        for (key, agreement) in changes {
          if let agreement {
            try transaction.set(agreement.value, forKey: key.text)
          } else {
            try transaction.remove(key.text)
          }
        }
      }
    } catch let error as StoreError { throw error } catch { throw StoreError(.failed, "\(error)") }
    for (key, agreement) in changes { table[key] = agreement }
  }

  private static func read(_ store: Store) throws(StoreError) -> [ExactString: Agreement] {
    let snapshot = try store.snapshot()
    var table: [ExactString: Agreement] = [:]
    for key in try snapshot.storedKeys(prefix: "") {
      // A damaged one is compared again.
      table[key.exact] = try LocalValue(reading: { () throws(StoreError) in try snapshot.entry(for: key) })
        .value.flatMap(Agreement.init)
    }
    return table
  }
}

extension Agreement {
  var value: Value {
    .object([
      "etcd": .number(etcd), "local": local.map { .number($0) }, "digest": digest.map { .string($0) },
      "sent": sent.map { sent in
        .object([
          "number": .string(sent.number), "local": sent.local.map { .number($0) }, "first": .bool(sent.isFirst),
        ])
      },
    ])
  }

  /// Nil for a value that is not an agreement.
  init?(_ value: Value) {
    guard let etcd = value["etcd"]?.asInt64 else { return nil }
    self.etcd = etcd
    local = value["local"]?.asInt64.map { Revision(clamping: $0) }
    digest = value["digest"]?.asString
    sent = value["sent"].flatMap { sent in
      guard let number = sent["number"]?.asString else { return nil }
      return Sent(
        number: number, local: sent["local"]?.asInt64.map { Revision(clamping: $0) },
        isFirst: sent["first"] == .bool(true))
    }
  }
}
