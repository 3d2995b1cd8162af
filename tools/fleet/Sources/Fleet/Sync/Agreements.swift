// What both sides have had, which tells what has changed since. What is not yet sent is found by this comparison: there
// is no queue that could be lost.
//
// Invariants, each of which a kill may interrupt only between two of these steps:
// - What is sent is written down before it is sent, and what was agreed after both sides have it. In between, etcd has
//   either what it had, or what was sent; the fence tells which (Fence.swift). Nothing is sent while that is not known.
// - What is taken from etcd is written down before it goes into the store, and forgotten when it was agreed. In
//   between, the store's history tells whether the store has it.
// - The agreements are of one store and of one set of keys in etcd. They are forgotten before others are begun.

internal import FoundationEssentials
internal import Glibc
internal import Kept

/// What a key had when both sides were the same.
struct Agreement: Sendable, Hashable {
  /// The revision of etcd that had changed the key; 0 if it was absent.
  var etcd: Int64
  /// The revision of the store that had changed the key; nil if it was absent.
  var local: Revision?
  /// What was about to be sent since.
  var sent: Sent?

  struct Sent: Sendable, Hashable {
    /// The number of the transaction, as in the fence.
    var number: String
    /// The revision of the store; nil for a removal.
    var local: Revision?
    /// Whether nothing was agreed of the key before.
    var isFirst: Bool
  }
}

/// What was about to go from etcd into the store.
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

  /// Throws if what was agreed was removed, replaced or damaged since it was opened.
  func check(isThorough: Bool) throws(StoreError) {
    try lock.checkInPlace()
    try files?.check(isThorough: isThorough)
  }

  /// Opens what was agreed between these sides; between others, nothing was.
  ///
  /// Returns whether earlier agreements were forgotten.
  mutating func open(_ sides: Sides, salvage: Revision) throws(StoreError) -> Bool {
    if self.sides == sides.value, files != nil { return false }
    let isNew = self.sides != sides.value
    if isNew {
      files?.store.close()
      (files, table) = (nil, [:])
      try note(nil)
      do { try FileManager.default.removeItem(atPath: storePath) } catch {
        guard (error as? CocoaError)?.code == .fileNoSuchFile else {
          throw StoreError(.unavailable, "cannot remove \(storePath): \(error)")
        }
      }
      try note(sides.value, salvage)
    }
    let store = try Store.open(storePath, options: StoreOptions(errorHandler: { _ in }))
    // Without a history: it would keep values.
    try store.setHistoryLimits(.off)
    table = try Self.read(store)
    let hadSides = self.sides != nil
    (files, self.sides) = (OpenStore(store, in: storePath), sides.value)
    return isNew && hadSides
  }

  /// Forgets what was agreed of keys that the store has lost in a salvage.
  mutating func forget(_ lost: Set<ExactString>, after salvage: Revision) throws(StoreError) {
    try update(Dictionary(uniqueKeysWithValues: lost.map { ($0, nil) }), durability: .durable)
    if let sides { try note(sides, salvage) }
  }

  private mutating func note(_ sides: Value, _ salvage: Revision) throws(StoreError) {
    let place = Value.object(["sides": sides, "salvage": .number(salvage)])
    try AtomicFile.write(Data((place.json + "\n").utf8), to: sidesPath, durable: true)
    self.salvage = salvage
  }

  /// What was sent and not answered.
  var undecided: [ExactString: Agreement.Sent] { table.compactMapValues(\.sent) }

  /// Notes what became of what was sent: the last of it is the transaction that the fence names.
  mutating func settle(_ undecided: [ExactString: Agreement.Sent], _ fence: Fence?) throws(StoreError) {
    var settled: [ExactString: Agreement?] = [:]
    for (key, sent) in undecided {
      guard let agreement = table[key] else { continue }
      if let fence, sent.number == fence.number {
        settled.updateValue(sent.local.map { Agreement(etcd: fence.revision, local: $0) }, forKey: key)
      } else {
        settled.updateValue(
          sent.isFirst ? nil : Agreement(etcd: agreement.etcd, local: agreement.local), forKey: key)
      }
    }
    try update(settled)
  }

  /// What was about to go into the store when this program was killed.
  var taking: Taking? {
    guard let value = Self.value(at: takingPath), let after = value["after"]?.asInt64 else { return nil }
    let keys = (value["keys"]?.asDictionary ?? ValueDictionary()).compactMap { key in
      key.value.asInt64.map { (key.key, $0) }
    }
    return Taking(keys: Dictionary(keys) { $1 }, after: Revision(clamping: after))
  }

  /// Writes down what is about to go into the store; nil when it was agreed.
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

  /// Writes down agreements; nil forgets one.
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
      // One that is damaged is compared anew.
      table[key.exact] = try LocalValue(reading: { () throws(StoreError) in try snapshot.entry(for: key) })
        .value.flatMap(Agreement.init)
    }
    return table
  }
}

extension Agreement {
  var value: Value {
    .object([
      "etcd": .number(etcd), "local": local.map { .number($0) },
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
    sent = value["sent"].flatMap { sent in
      guard let number = sent["number"]?.asString else { return nil }
      return Sent(
        number: number, local: sent["local"]?.asInt64.map { Revision(clamping: $0) },
        isFirst: sent["first"] == .bool(true))
    }
  }
}
