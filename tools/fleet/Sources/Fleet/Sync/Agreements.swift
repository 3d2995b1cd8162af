// What both sides have had, which tells what has changed since. What is not yet sent is found by this comparison: there
// is no queue that could be lost.
//
// Invariants, each of which a kill may interrupt only between two of these steps:
// - What is sent is written down before it is sent, and what was agreed after both sides have it. In between, etcd has
//   either what it had, or what was sent.
// - The agreements are of one store and of one set of keys in etcd. They are forgotten before others are begun.

internal import FoundationEssentials
internal import Glibc
internal import Kept

/// What a key had when both sides were the same.
struct Agreement: Sendable, Hashable {
  /// The revision of etcd that had changed the key; 0 if it was absent.
  var etcd: Int64
  /// The revision of the store that had changed the key; nil if it was absent, 0 if the store has another value.
  var local: Revision?
  /// What was about to be sent since.
  var sent: Sent?

  struct Sent: Sendable, Hashable {
    var local: Revision?
    /// Nil for a removal.
    var value: Value?
  }
}

/// The two sides of an agreement.
struct Sides: Sendable, Hashable {
  /// The identity of etcd, and that of the keys under the prefix: a new etcd can have the identity of the old one.
  var cluster: UInt64
  var keys: String
  var prefix: String
  /// The store's folder, by its number and the time at which it was made.
  var store: String
  /// The last quarantine of the store: values may be missing since.
  var salvage: String?

  var value: Value {
    .object([
      "cluster": .string(String(cluster, radix: 16)), "keys": .string(keys), "prefix": .string(prefix),
      "store": .string(store), "salvage": salvage.map { .string($0) },
    ])
  }
}

/// The agreements of a store with etcd.
struct Agreements: ~Copyable {
  private let folder: String
  private let lock: FolderLock
  private var sides: Value?
  private var store: Store?
  private(set) var table: [ExactString: Agreement] = [:]

  private var sidesPath: String { "\(folder)/place.json" }
  private var storePath: String { "\(folder)/agreed.kept" }

  /// Throws `unavailable` if another process uses the folder.
  init(_ folder: String) throws(StoreError) {
    self.folder = folder
    lock = try FolderLock(folder, mode: 0o700)
    sides = FileManager.default.contents(atPath: sidesPath)
      .flatMap { try? Value(json: String(decoding: $0, as: UTF8.self)) }
  }

  /// The last quarantine that was seen of the store.
  var salvage: String? { sides?["salvage"]?.asString }

  /// Opens what was agreed between these sides; between others, nothing was.
  ///
  /// Returns whether earlier agreements were forgotten.
  mutating func open(_ sides: Sides) throws(StoreError) -> Bool {
    if self.sides == sides.value, store != nil { return false }
    let isNew = self.sides != sides.value
    if isNew {
      store?.close()
      (store, table) = (nil, [:])
      do { try FileManager.default.removeItem(atPath: storePath) } catch {
        guard (error as? CocoaError)?.code == .fileNoSuchFile else {
          throw StoreError(.unavailable, "cannot remove \(storePath): \(error)")
        }
      }
      try AtomicFile.write(Data((sides.value.json + "\n").utf8), to: sidesPath, durable: true)
    }
    let store = try Store.open(storePath, options: StoreOptions(errorHandler: { _ in }))
    // Without a history: it would keep values.
    try store.setHistoryLimits(.off)
    table = try Self.read(store)
    let hadSides = self.sides != nil
    (self.store, self.sides) = (store, sides.value)
    return isNew && hadSides
  }

  /// Writes down agreements; nil forgets one.
  mutating func update(_ changes: [ExactString: Agreement?]) throws(StoreError) {
    guard let store, !changes.isEmpty else { return }
    do {
      try store.transaction { transaction in
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
      table[key.exact] = try snapshot.entry(for: key)?.value.flatMap(Agreement.init)
    }
    return table
  }
}

extension Agreement {
  var value: Value {
    .object([
      "etcd": .number(etcd), "local": local.map { .number($0) },
      "sent": sent.map { sent in
        .object(["local": sent.local.map { .number($0) }, "value": sent.value.map { .string($0.json) }])
      },
    ])
  }

  /// Nil for what is no agreement.
  init?(_ value: Value) {
    guard let etcd = value["etcd"]?.asInt64 else { return nil }
    self.etcd = etcd
    local = value["local"]?.asInt64.map { Revision(clamping: $0) }
    sent = value["sent"].map { sent in
      Sent(
        local: sent["local"]?.asInt64.map { Revision(clamping: $0) },
        value: sent["value"]?.asString.flatMap { try? Value(json: $0) })
    }
  }
}
