// The store of this machine.

internal import FoundationEssentials
internal import Glibc
internal import Kept

/// The state of a key in the store.
struct LocalValue: Sendable, Hashable {
  /// Nil if the key is absent, or its value cannot be read.
  var value: Value?
  var revision: Revision?
  var declaration: Declaration?
  /// Why the value cannot be read, if it cannot.
  var damage: String?
  /// Whether the reason is that it is an encrypted secret.
  var isLocked = false

  /// Whether a salvage may have lost the declaration of the key.
  var isDeclarationLost: Bool { declaration?.json == Declaration.lost.json }

  /// How long the value is in etcd, where base64 makes a secret longer.
  var sentBytes: Int {
    let count = value?.json.utf8.count ?? 0
    return isSecret ? (count + 120) / 3 * 4 : count
  }

  var isSecret: Bool { isLocked || declaration?.isSecret == true && !isDeclarationLost }

  static let lostDeclaration =
    "the declaration of the key may have been lost when the store was salvaged; start the program that declares it, or "
    + "use kept undeclare"

  static let absent = LocalValue(value: nil, revision: nil, declaration: nil)

  init(value: Value?, revision: Revision?, declaration: Declaration?) {
    (self.value, self.revision, self.declaration) = (value, revision, declaration)
  }

  init(_ entry: Entry?) {
    self.init(
      value: entry?.value, revision: entry?.value == nil ? nil : entry?.revision, declaration: entry?.declaration)
  }

  /// What a key has, also if its value is damaged, or is an encrypted secret whose key is not available.
  init(reading entry: () throws(StoreError) -> Entry?) throws(StoreError) {
    do throws(StoreError) { self.init(try entry()) } catch {
      guard error.code == .corrupt || error.code == .unavailable && error.key != nil else { throw error }
      self = .absent
      (damage, isLocked) = (error.message, error.code == .unavailable)
    }
  }
}

/// Values of the store at one time.
struct LocalReading: Sendable {
  var values: [ExactString: LocalValue]
  /// The last revision that has changed one of these keys, or a later one.
  var revision: Revision
  /// The revision of the store, or an earlier one that is not before `revision`.
  var storeRevision: Revision
}

/// A change from etcd.
struct Download: Sendable {
  var key: ExactString
  /// Nil removes the key.
  var value: Value?
  /// The state that the store must still have.
  var local: LocalValue
}

struct LocalSide: Sendable {
  /// Reads and observes the values of the user, whatever layers say.
  let plain: Store
  /// Writes keys that no administrator has locked.
  private let guarded: Store
  private let files: OpenStore
  let folder: String
  /// Identifies the store, so that one that was replaced by another is recognised.
  let identity: String

  init(_ options: SyncOptions) throws(StoreError) {
    let place = try StorePlace(options.store)
    let location = place.location
    let managed = options.managed.map { LayerPlace.path($0) } ?? (place.isIdentifier ? .standard : nil)
    guard let folder = place.folder else {
      throw StoreError(.unsupported, "a store in memory cannot be synchronized; use one in a folder")
    }
    plain = try Store.open(location, options: StoreOptions(errorHandler: { _ in }))
    guarded = try Store.open(location, options: StoreOptions(managed: managed, errorHandler: { _ in }))
    (self.folder, files) = (folder, OpenStore(plain, in: folder))
    identity = try Self.identity(in: folder)
  }

  /// Throws if the store was removed, replaced or damaged since it was opened.
  func check(isThorough: Bool) throws(StoreError) {
    guard (try? Self.identity(in: folder)) == identity else { throw files.replaced }
    try files.check(isThorough: isThorough)
  }

  /// The identity is in a file in the store's folder, which is removed and copied with it.
  private static func identity(in folder: String) throws(StoreError) -> String {
    let path = "\(folder)/\(Self.identityFile)"
    if access(path, F_OK) == 0 {
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw StoreError(.unavailable, "\(path) cannot be read; check its owner and permissions, or remove it")
      }
      return String(decoding: bytes, as: UTF8.self)
    }
    guard errno == ENOENT else { throw .system("examine \(path)", errno) }
    let identity = String(UInt64.random(in: .min ... .max), radix: 16)
    try AtomicFile.write(Data(identity.utf8), to: path, durable: true)
    return identity
  }

  private static let identityFile = "fleet"

  /// The warning about a salvage until it is acknowledged.
  func salvageProblem() throws(StoreError) -> String? {
    try plain.salvaged().map { "\($0.message) with kept doctor --repair" }
  }

  /// Another number after each salvage, also when that was acknowledged.
  func salvage() throws(StoreError) -> Revision { Self.salvage(before: try plain.currentRevision()) }

  /// The number of the last salvage before a revision: a store that was salvaged goes on at least 2^30 revisions later.
  static func salvage(before revision: Revision) -> Revision { revision >> 30 }

  /// Reads some keys at one revision.
  func read(_ keys: Set<ExactString>) throws -> LocalReading {
    try plain.transaction { transaction in
      var reading = LocalReading(values: [:], revision: 0, storeRevision: 0)
      var areThere = true
      for key in keys {
        let local =
          try (try? KeyName(key.text)).map { key throws(StoreError) in
            try LocalValue(reading: { () throws(StoreError) in try transaction.entry(for: key) })
          } ?? .absent
        reading.values[key] = local
        reading.revision = max(reading.revision, local.revision ?? 0)
        areThere = areThere && (local.value != nil || local.damage != nil)
      }
      reading.storeRevision = try plain.currentRevision()
      // When a key was removed is not known.
      if !areThere { reading.revision = reading.storeRevision }
      return reading
    }
  }

  /// Reads all keys that have a value, and the declarations of some others.
  func readAll(_ others: some Sequence<ExactString>) throws(StoreError) -> LocalReading {
    let snapshot = try plain.snapshot()
    var values: [ExactString: LocalValue] = [:]
    for key in try snapshot.storedKeys(prefix: "") {
      values[key.exact] = try LocalValue(reading: { () throws(StoreError) in try snapshot.entry(for: key) })
    }
    for other in others where values[other] == nil {
      values[other] = try (try? KeyName(other.text)).map { key throws(StoreError) in
        try LocalValue(reading: { () throws(StoreError) in try snapshot.entry(for: key) })
      }
    }
    return LocalReading(values: values, revision: snapshot.revision, storeRevision: snapshot.revision)
  }

  /// Makes changes together; returns why some were refused, or nil, with nothing done, if a key has changed.
  func apply(_ downloads: [Download], tag: String) throws -> [ExactString: String]? {
    do { return try applyAll(downloads, tag: tag) } catch let error as StoreError where error.code == .unavailable {
      // A secret that the store cannot encrypt, or does not take until someone decides how it keeps secrets.
      let refused = error.key.map { ExactString($0) }
      guard let index = downloads.firstIndex(where: { $0.key == refused }) else { throw error }
      var others = downloads
      let key = others.remove(at: index).key
      return try apply(others, tag: tag)?.merging([key: error.description]) { first, _ in first }
    }
  }

  private func applyAll(_ downloads: [Download], tag: String) throws -> [ExactString: String]? {
    do {
      return try guarded.transaction(tag: tag) { transaction in
        var refusals: [ExactString: String] = [:]
        for download in downloads {
          let key = try KeyName(download.key.text)
          let present = try LocalValue(reading: { () throws(StoreError) in try transaction.entry(for: key) })
          guard present.revision == download.local.revision, present.isSecret == download.local.isSecret
          else { throw Moved() }
          do throws(StoreError) {
            if let value = download.value {
              try transaction.set(value, forKey: key.text)
            } else {
              try transaction.remove(key.text)
            }
          } catch {
            guard [.locked, .invalid, .wrongType, .typeConflict, .tooLarge].contains(error.code) else { throw error }
            refusals[download.key] = error.description
          }
        }
        return refusals
      }
    } catch is Moved {
      return nil
    }
  }

  private struct Moved: Error {}

  /// The values that would be replaced and that the history cannot hold, without secrets; none if it is off.
  ///
  /// The history counts other bytes than those of JSON; these limits are well below its own.
  func valuesBeyondHistory(_ downloads: [Download]) -> [(ExactString, Value)] {
    let limits = try? plain.historyLimits()
    guard limits?.isOn != false else { return [] }
    func bytes(_ value: Value?) -> Int { value?.json.utf8.count ?? 0 }
    let all = downloads.reduce(0) { $0 + $1.key.text.utf8.count + bytes($1.local.value) + bytes($1.value) }
    let isHeld = limits.map { downloads.count <= $0.changes && all <= $0.bytes / 4 } ?? false
    return downloads.compactMap { download in
      guard let value = download.local.value, download.local.declaration?.isSecret != true else { return nil }
      return isHeld && bytes(value) <= 8_192 ? nil : (download.key, value)
    }
  }
}
