// Secrets of a store whose file `secrets` says that they are encrypted: they read and write as others do, and are in no
// file of the store.

import Foundation
@testable import KeptEngine
@testable import KeptSchema
@testable import KeptSecrets
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A secret in an encrypted store` {
  private let folder: TemporaryFolder
  private let path: String
  private let keyFile: String
  // In nanoseconds: a provider that has given no key is asked again as this says.
  private let clock = Monitor<Int64>(1_795_000_000_000_000_000)

  init() throws {
    folder = try TemporaryFolder()
    (path, keyFile) = (folder.path + "/store", folder.path + "/key")
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try encrypt()
  }

  /// Makes the file `secrets`, with a key file as the provider.
  private func encrypt() throws {
    var document = SecretsDocument.plain()
    _ = try document.encrypt(with: .keyFile(keyFile), KeyFile.make(keyFile), at: .now)
    try SecretsFile.write(document, in: OpenFolder.own(path))
  }

  private func open() throws -> (LocalStorage, Store) {
    let storage = try LocalStorage(StoreFolder(path: path), busyTimeoutMilliseconds: 5000) { [clock] in
      clock.update {
        $0 += 1000
        return $0
      }
    }
    return (storage, Store(storage: storage))
  }

  private func openWithSecret() throws -> (LocalStorage, Store) {
    let opened = try open()
    try opened.1.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "token")
    return opened
  }

  private func lock() throws { try FileManager.default.moveItem(atPath: keyFile, toPath: keyFile + ".away") }
  private func unlock() throws { try FileManager.default.moveItem(atPath: keyFile + ".away", toPath: keyFile) }
  private func passTime() { clock.update { $0 += 3_600_000_000_000 } }

  /// The files of the store that contain a text.
  private func files(with text: String) throws -> [String] {
    let files = try #require(FileManager.default.enumerator(atPath: path))
    return try files.compactMap { $0 as? String }.filter { name in
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder), !isFolder.boolValue
      else { return false }
      return try Data(contentsOf: URL(filePath: "\(path)/\(name)")).range(of: Data(text.utf8)) != nil
    }
  }

  @Test(arguments: [0, 300, 100_000])
  func `is read as it was set, and in no file at any time`(_ length: Int) throws {
    let tail = String(repeating: "x", count: length)
    let (storage, store) = try openWithSecret()
    try store.set("open", forKey: "other")
    for round in ["SECRET1", "SECRET2"] {
      try store.set(.string(round + tail), forKey: "token")
      #expect(try store.value(forKey: "token") == .string(round + tail))
      #expect(try files(with: "SECRET") == [])
      try storage.engine.checkpoint()
      #expect(try store.value(forKey: "token") == .string(round + tail))
      #expect(try store.snapshot().value(forKey: "token") == .string(round + tail))
      #expect(try files(with: "SECRET") == [])
    }
    let revision = try store.currentRevision()
    try store.set(.string("SECRET2" + tail), forKey: "token")
    #expect(try store.currentRevision() == revision, "nothing is committed")
    store.close()
    #expect(try files(with: "SECRET") == [] && !files(with: "open").isEmpty)
    let (_, again) = try open()
    #expect(try again.value(forKey: "token") == .string("SECRET2" + tail) && again.value(forKey: "other") == "open")
    #expect(try again.remove("token") && !again.contains("token"))
    again.close()
  }

  @Test func `of any kind is read as it was set`() throws {
    let (storage, store) = try open()
    for (index, value) in Value.oneOfEachKind.enumerated() {
      let type =
        switch value {
        case .bool: "boolean"
        case .int, .uint: "integer"
        case .double: "number"
        case .bytes: "bytes"
        case .date: "date"
        case .array: "array"
        case .dictionary: "object"
        default: "string"
        }
      try store.declare(Declaration(json: #"{"type":"\#(type)","secret":true}"#), forKey: "k\(index)")
      try store.set(value, forKey: "k\(index)")
    }
    func check(_ store: Store) throws {
      for (index, value) in Value.oneOfEachKind.enumerated() { #expect(try store.value(forKey: "k\(index)") == value) }
    }
    try check(store)
    try storage.engine.checkpoint()
    try check(store)
    store.close()
    let (_, again) = try open()
    try check(again)
  }

  @Test func `is read by another process, and read where another process sets it`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    let child = try ChildProcess(opening: path)
    #expect(try child.ask("get", "token") == #""SECRET1""#)
    let received = ReceivedNotices()
    let subscription = try store.observe(.key(key("token")), received.add)
    #expect(try child.ask("set", "token", #""SECRET2""#) == "ok")
    #expect(received.first(1)[0].changes.map(\.new) == ["SECRET2"])
    #expect(try store.value(forKey: "token") == "SECRET2")
    #expect(try files(with: "SECRET") == [])
    try child.finish()
    subscription.cancel()
  }

  @Test func `is delivered to observers with the old and the new value`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    let received = ReceivedNotices()
    let subscription = try store.observe(.prefix("t"), initial: true, received.add)
    try store.set("SECRET2", forKey: "token")
    let changes = received.first(2).flatMap(\.changes)
    #expect(changes.map(\.new) == ["SECRET1", "SECRET2"] && changes.last?.old == "SECRET1")
    subscription.cancel()
  }

  @Test func `is sealed and erased when its key is declared later`() throws {
    let (_, store) = try open()
    try store.set("SECRET1", forKey: "token")
    try store.set("SECRET2", forKey: "token")
    #expect(try files(with: "SECRET") != [])
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "token")
    #expect(try store.value(forKey: "token") == "SECRET2")
    store.close()
    #expect(try files(with: "SECRET") == [])
    let (_, again) = try open()
    #expect(try again.value(forKey: "token") == "SECRET2")
    #expect(try again.history(of: "token").changes.allSatisfy { $0.old == .absent || $0.old == .secret })
  }

  @Test func `that was replaced is restored by an undo, and sealed again`() throws {
    let (storage, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    storage.engine.endChange()
    try store.set("SECRET2", forKey: "token")
    storage.engine.endChange()
    let replaced = try store.currentRevision()
    try storage.engine.checkpoint()
    #expect(try store.history(of: "token").changes.map(\.old) == [.secret, .absent])
    #expect(try !store.history(of: "token").json.contains("SECRET"))
    try store.undo(revision: replaced)
    #expect(try store.value(forKey: "token") == "SECRET1")
    try store.undo(revision: store.currentRevision())
    #expect(try store.value(forKey: "token") == "SECRET2")
    // It would be stored as it is.
    try store.undeclare("token")
    let last = try store.history(of: "token").changes[0].revision
    #expect(code { try store.undo(revision: last) } == .unsupported)
    store.close()
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `is unavailable without its key, and everything else works`() throws {
    let (first, set) = try openWithSecret()
    try set.set("SECRET1", forKey: "token")
    try set.set(1, forKey: "other")
    try first.engine.checkpoint()
    set.close()
    try lock()
    let (storage, store) = try openWithSecret()
    let refusal = #expect(throws: StoreError.self) { try store.value(forKey: "token") }
    #expect(refusal?.code == .unavailable && refusal?.key == "token")
    #expect(refusal?.message.contains("the key file \(keyFile)") == true, "\(refusal?.message ?? "")")
    #expect(try store.value(forKey: "other") == 1 && store.keys() == ["other", "token"])
    try store.set(2, forKey: "other")
    #expect(try store.snapshot().value(forKey: "other") == 2)
    #expect(code { try store.snapshot().value(forKey: "token") } == .unavailable)
    let received = ReceivedNotices()
    let subscription = try store.observe(.prefix(""), received.add)
    try store.set(3, forKey: "other")
    #expect(received.first(1)[0].changes.map(\.new) == [3])
    try store.declare(Declaration(json: #"{"type":"string","secret":true,"summary":"S"}"#), forKey: "token")
    try storage.engine.checkpoint()
    // No provider is asked again at once.
    try unlock()
    #expect(code { try store.value(forKey: "token") } == .unavailable)
    passTime()
    #expect(try store.value(forKey: "token") == "SECRET1" && store.declaration(forKey: "token")?.summary == "S")
    // Observers receive it as soon as it can be read.
    #expect(received.first(2)[1].changes.map(\.new) == ["SECRET1"])
    subscription.cancel()
    store.close()
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `is replaced without its key, with the rules of its declaration, and read with it`() throws {
    let (_, first) = try openWithSecret()
    let rules = try Declaration(json: #"{"type":"string","secret":true,"maxLength":10}"#)
    try first.declare(rules, forKey: "token")
    try first.declare(rules, forKey: "pin")
    try first.set("SECRET1", forKey: "token")
    try first.set("SECRETpin", forKey: "other")
    first.close()
    try lock()
    let (storage, store) = try open()
    try store.set("SECRET2", forKey: "token")
    #expect(code { try store.set("SECRET is too long", forKey: "token") } == .invalid)
    #expect(code { try store.set(1, forKey: "token") } == .wrongType)
    #expect(code { try store.value(forKey: "token") } == .unavailable)
    try store.transaction { _ = try $0.set("SECRET3", forKey: "pin") }
    // What becomes a secret is sealed too.
    try store.declare(rules, forKey: "other")
    let revision = try store.currentRevision()
    try store.set("SECRET2", forKey: "token")
    #expect(try store.currentRevision() == revision + 1, "the old value cannot be compared")
    try storage.engine.checkpoint()
    storage.engine.endChange()
    store.close()
    #expect(try files(with: "SECRET") == [])
    try unlock()
    let (unlocked, again) = try open()
    #expect(try again.value(forKey: "token") == "SECRET2" && again.value(forKey: "pin") == "SECRET3")
    #expect(try again.value(forKey: "other") == "SECRETpin")
    // A rotation, the history and a backup have it like others.
    unlocked.engine.endChange()
    try again.set("SECRET4", forKey: "token")
    unlocked.engine.endChange()
    try again.rotateSecrets()
    #expect(try again.value(forKey: "pin") == "SECRET3" && again.secretsStatus().unsealed == 0)
    try again.undo(revision: again.currentRevision())
    #expect(try again.value(forKey: "token") == "SECRET2")
    #expect(try again.verify().isSound)
    again.close()
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `of a commit of many keys is replaced without its key, whatever others commit`() throws {
    let (_, first) = try openWithSecret()
    try first.set("SECRET1", forKey: "token")
    first.close()
    try lock()
    let (storage, store) = try open()
    let other = try LocalStorage(path: path)
    storage.readers.maintenance.end()
    #expect(code { try store.value(forKey: "token") } == .unavailable)
    var batch = Batch()
    for number in 0..<1100 { batch.edit(try key("k\(number)"), .set(1)) }
    batch.edit(try key("token"), .set("SECRET2"))
    let long = try LongCommit(batch, storage.engine.snapshot().chain, storage)
    try other.commit(key("k7"), .set(0))
    try storage.engine.takeTurn(timeoutMilliseconds: 5000) { turn throws(StoreError) in
      #expect(try turn.read { chain throws(StoreError) in try !long.settle(chain) }, "it must be made again")
    }
    let received = ReceivedNotices()
    let subscription = try store.observe(.prefix(""), received.add)
    _ = try store.commit(batch)
    let token = try key("token")
    #expect(!received.first(1)[0].changes.contains { $0.key == token }, "it cannot be read here")
    subscription.cancel()
    store.close()
    try unlock()
    let (_, again) = try open()
    #expect(try again.value(forKey: "token") == "SECRET2" && again.value(forKey: "k7") == 1)
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `is not sealed with a public key that was exchanged, where the data key is known`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    let file = path + "/secrets"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let start = try #require(text.range(of: #""public":""#)).upperBound
    var other = SecretsDocument.plain()
    _ = try other.encrypt(with: .keyFile(keyFile), KeyFile.read(keyFile), at: .now)
    let their = try #require(other.json.range(of: #""public":""#)).upperBound
    let length = 44
    let changed = text.replacingCharacters(
      in: start..<text.index(start, offsetBy: length),
      with: other.json[their...].prefix(length))
    try Data(changed.utf8).write(to: URL(filePath: file))
    // It has the data keys; another one gets a key that the file does not fit.
    for store in [store, try open().1] {
      let refusal = #expect(throws: StoreError.self) { try store.set("SECRET2", forKey: "token") }
      #expect(refusal?.code == .unavailable && refusal?.message.contains("the file secrets was changed") == true)
    }
    try lock()
    passTime()
    #expect(throws: StoreError.self, "it had the data keys") { try store.set("SECRET2", forKey: "token") }
    try unlock()
    passTime()
    try Data(text.utf8).write(to: URL(filePath: file))
    #expect(try store.value(forKey: "token") == "SECRET1")
  }

  @Test func `can be removed without its key`() throws {
    let (_, first) = try openWithSecret()
    try first.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "pin")
    try first.set("SECRET1", forKey: "token")
    try first.set("SECRET2", forKey: "pin")
    first.close()
    try lock()
    let (_, store) = try open()
    try store.transaction { transaction in
      let isRemoved = try transaction.remove("pin")
      #expect(try isRemoved && !transaction.contains("pin"))
    }
    #expect(try store.remove("token") && !store.contains("token") && !store.contains("pin"))
  }

  /// A stored value, as it is sealed.
  private func sealed(_ name: String, in storage: LocalStorage) throws -> [UInt8] {
    try storage.engine.read { chain throws(StoreError) in
      let plain = Chain(chain)
      plain.secrets = Bare()
      guard case .bytes(let sealed) = try plain.state(of: try KeyName(name)).value else { return [] }
      return sealed
    }
  }

  /// Commits a sealed value.
  private func put(_ sealed: [UInt8], _ name: String, in storage: LocalStorage) throws {
    let key = try key(name)
    try storage.engine.commit { chain, frames throws(StoreError) in
      try frames.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0))
      try frames.add(sealed: sealed, for: key)
      try frames.end()
    }
  }

  @Test(arguments: [false, true])
  func `that is exchanged for another key's, or for an older one, is corrupt`(_ isFolded: Bool) throws {
    let (storage, store) = try openWithSecret()
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "other")
    try store.set("SECRET1", forKey: "token")
    let old = try sealed("token", in: storage)
    #expect(old.count == 7 + 1 + SealedHeader.overhead)
    try put(old, "other", in: storage)
    try put(old, "token", in: storage)
    if isFolded { try storage.engine.checkpoint() }
    #expect(code { try store.value(forKey: "other") } == .corrupt)
    #expect(code { try store.value(forKey: "token") } == .corrupt)
    try store.set("SECRET3", forKey: "token")
    #expect(try store.value(forKey: "token") == "SECRET3")
  }

  @Test(arguments: [false, true])
  func `that a later version has sealed is not damage, and is replaced or removed by a user alone`(
    _ isFolded: Bool
  ) throws {
    let (storage, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    let later = [3] + (try sealed("token", in: storage)).dropFirst().prefix(9)
    try put(later, "token", in: storage)
    if isFolded { try storage.engine.checkpoint() }
    let refusal = #expect(throws: StoreError.self) { try store.value(forKey: "token") }
    #expect(refusal?.code == .unavailable && refusal?.key == "token")
    #expect(refusal?.message.contains("a later version of Kept has encrypted the value") == true)
    let found = try store.verify()
    #expect(found.damage.isEmpty && found.locked.map(\.key) == ["token"])
    #expect(try store.keys() == ["token"])
    #expect(try store.explain("token").layer == .user)
    // Its data key must stay, which this version cannot know.
    try store.rotateSecrets()
    #expect(try document().keys.count == 2 && sealed("token", in: storage) == later)
    #expect(try store.secretsStatus().unsealed == 1)
    try store.set("SECRET2", forKey: "token")
    #expect(try store.value(forKey: "token") == "SECRET2")
    try put(later, "token", in: storage)
    #expect(try store.remove("token") && !store.contains("token"))
    store.close()
  }

  /// Leaves values sealed.
  private final class Bare: SecretOpening {
    func open(_ sealed: [UInt8], of key: KeyName, at revision: Revision) throws(StoreError) -> Value { .bytes(sealed) }
    func reseal(_ value: StoredValue, of key: KeyName, at revision: Revision?) -> [UInt8]? { nil }
  }

  @Test func `of a commit of many keys is sealed for the revision that it gets`() throws {
    let (storage, store) = try openWithSecret()
    let other = try LocalStorage(path: path)
    try store.set("SECRET0", forKey: "token")
    storage.readers.maintenance.end()
    func batch(_ value: Value) throws -> Batch {
      var batch = Batch()
      for number in 0..<1100 { batch.edit(try key("k\(number)"), .set(value)) }
      batch.edit(try key("token"), .set("SECRET1"))
      return batch
    }
    var long = try LongCommit(batch(1), storage.engine.snapshot().chain, storage)
    // Of no key of the commit, so that its frame is moved; and of one, so that it is written again.
    for name in ["apart", "k7"] {
      try other.commit(key(name), .set(0))
      try storage.engine.takeTurn(timeoutMilliseconds: 5000) { turn throws(StoreError) in
        #expect(try turn.read { chain throws(StoreError) in try long.settle(chain) })
        long.finish()
        try turn.publish(long.frames)
      }
      #expect(try store.value(forKey: "token") == "SECRET1", "\(name)")
      #expect(try store.value(forKey: "k8") == 1)
      let commit = long.commit(over: try storage.engine.snapshot())
      #expect(commit.changes.last?.new.value == "SECRET1")
      try store.remove("token")
      try store.remove("k8")
      long = try LongCommit(batch(1), storage.engine.snapshot().chain, storage)
    }
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `is read by a store that is opened only to read`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    store.close()
    let reader = Store(storage: try ReadOnlyStorage(StoreFolder(path: path)))
    #expect(try reader.value(forKey: "token") == "SECRET1")
  }

  @Test func `is stored as it is where the file says so, and refused where there is no file`() throws {
    try FileManager.default.removeItem(atPath: path + "/secrets")
    let (storage, store) = try openWithSecret()
    try expectRefusals(of: store)
    #expect(try files(with: "SECRET1") == [])
    try SecretsFile.write(.plain(), in: OpenFolder.own(path))
    try store.set("SECRET2", forKey: "token")
    #expect(try files(with: "SECRET2") != [])
    try FileManager.default.removeItem(atPath: keyFile)
    try encrypt()
    try store.set("SECRET3", forKey: "token")
    #expect(try files(with: "SECRET3") == [] && store.value(forKey: "token") == "SECRET3")
    #expect(try storage.value(key("token")) == "SECRET3")
  }

  /// Every way to store it is refused with its key and the remedy, and changes nothing.
  private func expectRefusals(of store: Store) throws {
    let revision = try store.currentRevision()
    var batch = Batch()
    for number in 0..<1100 { batch.edit(try key("k\(number)"), .set(1)) }
    batch.edit(try key("token"), .set("SECRET1"))
    let memory = Store(storage: MemoryStorage())
    try memory.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "token")
    try memory.set("SECRET1", forKey: "token")
    let export = try memory.export(
      ExportOptions(includesDeclarations: true, includesSecrets: true, leavesSecretsPlain: true))
    let ways: [() throws -> Void] = [
      { try store.set("SECRET1", forKey: "token") },
      { try store.transaction { _ = try $0.set("SECRET1", forKey: "token") } },
      { _ = try store.commit(batch) },
      { try store.import(export) },
      { try store.import(export, ImportOptions(replaces: true, includesDeclarations: true)) },
      { try store.migrate([Migration(to: 2, "a token") { _ = try $0.set("SECRET1", forKey: "token") }]) },
    ]
    for (index, way) in ways.enumerated() {
      let refusal = #expect(throws: StoreError.self, "\(index)") { try way() }
      #expect(refusal?.code == .unavailable && refusal?.key == "token", "\(index): \(refusal?.description ?? "")")
      #expect(refusal?.message.contains("kept secrets STORE init") == true, "\(index): \(refusal?.description ?? "")")
    }
    #expect(try store.currentRevision() == revision && !store.contains("token"))
  }

  /// A store with a plain token, as it was before a decision was needed.
  private func openUndecided() throws -> (LocalStorage, Store) {
    let opened = try openPlain()
    try FileManager.default.removeItem(atPath: path + "/secrets")
    return opened
  }

  @Test func `that was plain before stays, also when it is declared, until someone decides`() throws {
    let (_, store) = try openUndecided()
    try store.set("SECRET3", forKey: "pin")
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "pin")
    for _ in 0..<2 {
      let found = try store.declare(listJSON: Self.renamed)
      #expect(found.map(\.key) == ["name"] && found[0].message.contains("run kept secrets STORE init"))
    }
    #expect(try store.value(forKey: "token") == "SECRET2" && store.value(forKey: "pin") == "SECRET3")
    #expect(code { try store.set("SECRET4", forKey: "pin") } == .unavailable)
    _ = try store.declare([key("lost")], [.lost])
    try store.set(1, forKey: "lost")
    let backup = folder.path + "/backup"
    try store.backup(to: backup)
    let other = try Store.open(folder.path + "/other")
    #expect(code { try other.restore(from: backup) } == .unavailable)
    #expect(try other.keys() == [])
    let finding = try #require(StorePlace(path).examine().findings.first { $0.what.contains("decided") })
    #expect(finding.severity == .attention && finding.what.contains("2 have a plain value"), "\(finding.what)")
    try store.encryptSecrets(with: .keyFile(keyFile))
    #expect(try store.declare(listJSON: Self.renamed).isEmpty && store.value(forKey: "name") == "SECRET2")
    store.close()
    try FileManager.default.removeItem(atPath: backup)
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `is sealed and readable after a process was killed at any time`() throws {
    try openWithSecret().1.close()
    for round in 0..<20 {
      let child = try ChildProcess(opening: path)
      for number in 0..<round { _ = try child.ask("set", "token", "\"SECRET\(round).\(number)\"") }
      child.kill()
      #expect(try files(with: "SECRET") == [])
      let (_, store) = try open()
      #expect(try round == 0 || store.value(forKey: "token") == .string("SECRET\(round).\(round - 1)"))
      store.close()
    }
  }

  @Test func `is as it was in a snapshot of the past`() throws {
    let (storage, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    storage.engine.endChange()
    let first = try store.currentRevision()
    try store.set("SECRET2", forKey: "token")
    #expect(try store.snapshot(at: first).value(forKey: "token") == "SECRET1")
  }

  /// Secrets that this process has not read yet.
  private func reopen() throws -> Store {
    let (storage, set) = try openWithSecret()
    try set.set("SECRET1", forKey: "token")
    storage.engine.endChange()
    try set.set(1, forKey: "other")
    set.close()
    return try open().1
  }

  private static let renamed =
    #"{"properties":{"name":{"type":"string","secret":true,"renamedFrom":"token"}}}"#

  @Test func `that this process has not read yet moves from a former name`() throws {
    let store = try reopen()
    #expect(try store.declare(listJSON: Self.renamed).isEmpty)
    #expect(try store.value(forKey: "name") == "SECRET1" && !store.contains("token"))
  }

  @Test func `is not replaced by an older value, once an older program has declared its former name again`() throws {
    let store = try reopen()
    try store.declare(listJSON: Self.renamed)
    try store.declare(Declaration(json: #"{"type":"string"}"#), forKey: "token")
    try store.set("older", forKey: "token")
    try store.set("SECRET2", forKey: "name")
    for _ in 1...2 {
      #expect(try store.declare(listJSON: Self.renamed).isEmpty)
      #expect(try store.value(forKey: "name") == "SECRET2" && !store.contains("token"))
    }
  }

  @Test func `that is locked moves from a former name later, when the list is declared again`() throws {
    try reopen().close()
    try lock()
    let (_, store) = try open()
    for _ in 0..<2 {
      let found = try store.declare(listJSON: Self.renamed)
      #expect(found.map(\.key) == ["name"] && found.map(\.code) == [.unavailable])
      #expect(found[0].message.contains("under the former name \"token\""), "\(found[0].message)")
    }
    #expect(try store.declaration(forKey: "name") != nil)
    try unlock()
    passTime()
    #expect(try store.declare(listJSON: Self.renamed).isEmpty)
    #expect(try store.value(forKey: "name") == "SECRET1" && !store.contains("token"))
  }

  @Test func `that this process has not read yet and does not fit a new declaration is reported`() throws {
    let store = try reopen()
    let found = try store.declare(
      Declaration(json: #"{"type":"string","secret":true,"maxLength":3}"#), forKey: "token")
    #expect(found?.key == "token" && found?.message.contains("SECRET") == false)
  }

  @Test func `that this process has not read yet is compared with the past and with a backup`() throws {
    let store = try reopen()
    let first = try store.currentRevision() - 1
    #expect(try StoreContents(store.snapshot(at: first))[key("token")] == .value("SECRET1"))
    store.close()
    let reader = Store(storage: try ReadOnlyStorage(StoreFolder(path: path)))
    #expect(try StoreContents(reader)[key("token")] == .value("SECRET1"))
  }

  // MARK: - Changing the keys

  private func document() throws -> SecretsDocument {
    try #require(try SecretsFile.read(in: OpenFolder.own(path)))
  }

  /// A store that keeps its secrets plain, with one that was set twice, and its key's file missing.
  private func openPlain() throws -> (LocalStorage, Store) {
    try FileManager.default.removeItem(atPath: path + "/secrets")
    try FileManager.default.removeItem(atPath: keyFile)
    let opened = try openWithSecret()
    try opened.1.keepSecretsPlain()
    for number in 1...2 {
      try opened.1.set(.string("SECRET\(number)"), forKey: "token")
      opened.0.engine.endChange()
    }
    return opened
  }

  @Test(arguments: [false, true]) func `that was plain is sealed, and in no file afterwards`(_ isFolded: Bool) throws {
    let (storage, store) = try openPlain()
    if isFolded { try storage.engine.checkpoint() }
    #expect(try store.secretsStatus().state == .plain && store.secretsStatus().unsealed == 1)
    #expect(try files(with: "SECRET2") != [])
    let revision = try store.currentRevision()
    try store.encryptSecrets(with: .keyFile(keyFile))
    #expect(try files(with: "SECRET") == [])
    #expect(try store.value(forKey: "token") == "SECRET2" && store.currentRevision() == revision)
    let status = try store.secretsStatus(askingProviders: true)
    #expect(status.state == .encrypted && status.providers.map(\.provider) == [.keyFile(keyFile)])
    #expect(status.providers[0].reason == nil)
    #expect(status.unsealed == 0 && status.created != nil)
    store.close()
    #expect(try files(with: "SECRET") == [])
    let (_, again) = try open()
    #expect(try again.value(forKey: "token") == "SECRET2")
    #expect(throws: StoreError.self) { try again.keepSecretsPlain() }
  }

  @Test func `is named in the older copies that have it in plain`() throws {
    let (_, store) = try openPlain()
    var copies = ["\(path)/backups/1-before-version-2.backup", "\(path)/quarantine/1.backup", "\(path).good"]
    for name in ["backups", "quarantine", "quarantine/2"] {
      try FileManager.default.createDirectory(
        atPath: "\(path)/\(name)", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }
    for copy in copies { try store.backup(to: copy) }
    let damaged = path + "/quarantine/2/values"
    try Data("damaged".utf8).write(to: URL(filePath: damaged))
    #expect(try store.plainCopies() == [], "nothing is encrypted")
    try store.encryptSecrets(with: .keyFile(keyFile))
    try store.backup(to: path + "/backups/3.backup")
    #expect(try Set(store.plainCopies()) == Set(copies + [damaged]))
    // A key that becomes secret after the copy was made.
    try store.set("SECRET3", forKey: "later")
    copies.append(path + "/backups/4.backup")
    try store.backup(to: copies[3])
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "later")
    #expect(try Set(store.plainCopies()) == Set(copies + [damaged]))
    store.close()
    let findings = try StorePlace(path).examine().findings.map(\.what)
    for copy in copies + [damaged] { #expect(findings.contains { $0.contains(copy) }, "\(copy): \(findings)") }
    for copy in copies + [damaged] { try FileManager.default.removeItem(atPath: copy) }
    #expect(try StorePlace(path).examine().findings.allSatisfy { !$0.what.contains("plain") })
  }

  @Test func `has the new data key after a rotation, and so have its old values`() throws {
    let (storage, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    storage.engine.endChange()
    let first = try store.currentRevision()
    try storage.engine.checkpoint()
    try store.set("SECRET2", forKey: "token")
    storage.engine.endChange()
    let second = try store.currentRevision()
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "long")
    let long = Value.string(String(repeating: "SECRET", count: 20_000))
    try store.set(long, forKey: "long")
    let snapshot = try store.snapshot()
    for number in 2...3 as ClosedRange<UInt32> {
      try store.rotateSecrets()
      #expect(try document().keys.map(\.number) == [number] && store.secretsStatus().unsealed == 0)
      #expect(try store.value(forKey: "token") == "SECRET2" && store.value(forKey: "long") == long)
      #expect(try store.snapshot(at: first).value(forKey: "token") == "SECRET1")
      #expect(try snapshot.value(forKey: "token") == "SECRET2", "an older snapshot")
    }
    store.close()
    let (_, again) = try open()
    try again.undo(revision: second)
    #expect(try again.value(forKey: "token") == "SECRET1" && files(with: "SECRET") == [])
  }

  @Test func `is readable with the file that is there, and sealed again later, when a rotation was killed`() throws {
    let (storage, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    storage.engine.endChange()
    let first = try store.currentRevision()
    try store.set("SECRET2", forKey: "token")
    storage.engine.endChange()
    var document = try document()
    let keys = try document.rotate(ProviderAccess(), at: .now)
    try storage.replace(self.document(), by: document, keys)
    store.close()
    // Killed before values were sealed again, and after it.
    for number in 3...4 as ClosedRange<UInt32> {
      let (_, again) = try open()
      #expect(try again.value(forKey: "token") == "SECRET2")
      #expect(try again.snapshot(at: first).value(forKey: "token") == "SECRET1")
      #expect(try again.secretsStatus().unsealed == (number == 3 ? 2 : 0))
      try again.rotateSecrets()
      #expect(try self.document().keys.map(\.number) == [number])
      again.close()
    }
  }

  @Test func `is read and set by a process that has the old key, after another one has rotated it`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    let child = try ChildProcess(opening: path)
    #expect(try child.ask("get", "token") == #""SECRET1""#)
    try store.rotateSecrets()
    #expect(try child.ask("set", "token", #""SECRET2""#) == "ok")
    #expect(try store.value(forKey: "token") == "SECRET2")
    #expect(try child.ask("rotate") == "ok")
    #expect(try store.value(forKey: "token") == "SECRET2" && document().keys.map(\.number) == [3])
    try store.set("SECRET3", forKey: "token")
    #expect(try child.ask("get", "token") == #""SECRET3""#)
    try child.finish()
  }

  @Test func `of a long commit is sealed with the key of the time when it is written`() throws {
    let (storage, store) = try openPlain()
    storage.readers.maintenance.end()
    var batch = Batch()
    for number in 0..<1100 { batch.edit(try key("k\(number)"), .set(1)) }
    batch.edit(try key("token"), .set("SECRET3"))
    let long = try LongCommit(batch, storage.engine.snapshot().chain, storage)
    try store.encryptSecrets(with: .keyFile(keyFile))
    try storage.engine.takeTurn(timeoutMilliseconds: 5000) { turn throws(StoreError) in
      #expect(try turn.read { chain throws(StoreError) in try !long.settle(chain) }, "it must be made again")
    }
    #expect(try storage.commit(batch).changes.last?.new.value == "SECRET3")
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `has several providers, which are added, renewed and removed`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    #expect(code { try store.removeSecretsProvider(.keyFile(keyFile)) } == .invalid, "the only one")
    #expect(code { try store.removeSecretsProvider(.keyring) } == .absent)
    #expect(code { try store.encryptSecrets(with: .passphrase("words")) } == .invalid)
    try store.encryptSecrets(with: .keyFile(keyFile))
    try store.addSecretsProvider(.passphrase("words"))
    try store.addSecretsProvider(.passphrase("other words"))
    #expect(try store.secretsStatus().providers.map(\.provider) == [.keyFile(keyFile), .passphrase("")])
    #expect(code { try store.rotateSecrets() } == .unavailable, "a provider gives no key")
    #expect(try document().keys.map(\.number) == [1])
    try store.rotateSecrets(passphrase: "other words")
    store.close()
    try FileManager.default.removeItem(atPath: keyFile)
    let (_, again) = try open()
    #expect(code { try again.value(forKey: "token") } == .unavailable)
    #expect(code { try again.unlockSecrets(passphrase: "words") } == .denied, "it was renewed")
    try again.unlockSecrets(passphrase: "other words")
    #expect(try again.value(forKey: "token") == "SECRET1")
    again.close()
    let (_, moved) = try open()
    try moved.removeSecretsProvider(.keyFile(keyFile))
    try moved.addSecretsProvider(.keyFile(keyFile + "2"), passphrase: "other words")
    #expect(try moved.value(forKey: "token") == "SECRET1")
    #expect(try moved.secretsStatus().providers.map(\.provider) == [.passphrase(""), .keyFile(keyFile + "2")])
  }

  @Test func `whose keys are lost comes back with their file, or is removed before they are replaced`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    let (file, backup) = (path + "/secrets", folder.path + "/secrets")
    try store.backup(to: folder.path + "/backup")
    try FileManager.default.moveItem(atPath: file, toPath: backup)
    func expectRefusals(_ code: StoreError.Code, _ remedy: String) {
      for decide in [store.keepSecretsPlain, { try store.encryptSecrets(with: .keyFile(keyFile)) }] {
        let refusal = #expect(throws: StoreError.self) { try decide() }
        #expect(refusal?.code == code && refusal?.message.contains(remedy) == true, "\(refusal?.message ?? "")")
      }
    }
    let lost = "(\"token\"), but the file secrets with their keys is missing; bring it back"
    expectRefusals(.unavailable, lost)
    let uses = [
      { _ = try store.value(forKey: "token") }, { try store.set("SECRET2", forKey: "token") },
      { _ = try store.secretsStatus() },
    ]
    for use in uses {
      let refusal = #expect(throws: StoreError.self) { try use() }
      #expect(refusal?.code == .unavailable && refusal?.message.contains(lost) == true, "\(refusal?.message ?? "")")
    }
    try FileManager.default.copyItem(atPath: backup, toPath: file)
    #expect(try store.value(forKey: "token") == "SECRET1")
    try Data("{".utf8).write(to: URL(filePath: file))
    expectRefusals(.corrupt, "move it away, and bring it back from a backup")
    #expect(code { try store.set("SECRET2", forKey: "token") } == .corrupt)
    let refusal = #expect(throws: StoreError.self) { try store.restore(from: folder.path + "/backup") }
    #expect(refusal?.message.hasPrefix("the file secrets of the store is damaged") == true, "not the backup")
    try FileManager.default.removeItem(atPath: file)
    try store.restore(from: folder.path + "/backup")
    #expect(try store.value(forKey: "token") == "SECRET1")
    try FileManager.default.removeItem(atPath: file)
    #expect(try store.remove("token"))
    try store.encryptSecrets(with: .keyFile(keyFile))
    try store.set("SECRET2", forKey: "token")
    #expect(try store.value(forKey: "token") == "SECRET2" && files(with: "SECRET") == [])
  }

  @Test func `of a store without the file, in memory or opened only to read cannot be encrypted`() throws {
    let memory = Store(storage: MemoryStorage())
    #expect(code { try memory.encryptSecrets(with: .keyFile(keyFile)) } == .unsupported)
    try openWithSecret().1.close()
    let reader = Store(storage: try ReadOnlyStorage(StoreFolder(path: path)))
    #expect(try reader.secretsStatus().state == .encrypted)
    #expect(code { try reader.rotateSecrets() } == .denied)
    try FileManager.default.removeItem(atPath: path + "/secrets")
    let (_, store) = try open()
    #expect(try store.secretsStatus().state == .undecided)
    #expect(code { try store.rotateSecrets() } == .invalid)
  }

  // MARK: - Backups

  private func files(in folder: String, with text: String) throws -> [String] {
    let files = try #require(FileManager.default.enumerator(atPath: folder))
    return files.compactMap { $0 as? String }.filter { name in
      let data = try? Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
      return data?.range(of: Data(text.utf8)) != nil
    }
  }

  @Test func `is in a backup encrypted, and restored on another machine with the passphrase`() throws {
    let (storage, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    storage.engine.endChange()
    try store.set("SECRET2", forKey: "token")
    try store.addSecretsProvider(.passphrase("words"))
    let (backup, ran) = (folder.path + "/backup", folder.path + "/ran")
    let program = folder.path + "/program"
    try "#!/bin/sh\ntouch \(ran)\necho MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n".write(
      toFile: program, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
    try store.addSecretsProvider(.program([program]))
    try store.backup(to: backup)
    store.close()
    #expect(try files(in: folder.path, with: "SECRET") == [])
    try FileManager.default.removeItem(atPath: keyFile)
    try FileManager.default.removeItem(atPath: ran)

    let other = folder.path + "/other"
    let moved = try Store.open(other)
    let refusal = #expect(throws: StoreError.self) { try moved.restore(from: backup) }
    #expect(refusal?.code == .unavailable && refusal?.message.contains("comes from elsewhere") == true)
    try moved.restore(from: backup, passphrase: "words")
    #expect(try moved.value(forKey: "token") == "SECRET2")
    try moved.set("SECRET3", forKey: "token")
    moved.close()
    #expect(!FileManager.default.fileExists(atPath: ran), "a program of a backup is not run")
    let again = try Store.open(other)
    #expect(code { try again.value(forKey: "token") } == .unavailable)
    try again.addSecretsProvider(.keyFile(keyFile), passphrase: "words")
    #expect(try again.value(forKey: "token") == "SECRET3")
    #expect(!FileManager.default.fileExists(atPath: ran))
    try again.addSecretsProvider(.program([program]))
    #expect(FileManager.default.fileExists(atPath: ran), "a user has named it here")
    again.close()
    #expect(try files(in: folder.path, with: "SECRET") == [])
  }

  /// A program that prints a key, and notes that it was run.
  private func program(_ name: String, _ key: String) throws -> String {
    let program = folder.path + "/" + name
    try "#!/bin/sh\ntouch \(program).ran\necho \(key)\n".write(toFile: program, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
    return program
  }

  private func wasRun(_ program: String) -> Bool {
    defer { try? FileManager.default.removeItem(atPath: program + ".ran") }
    return FileManager.default.fileExists(atPath: program + ".ran")
  }

  /// A backup, opened as a store by the folder's name, whose key some programs have.
  private func backup(with programs: [String]) throws -> String {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    for program in programs { try store.addSecretsProvider(.program([program])) }
    try store.removeSecretsProvider(.keyFile(keyFile))
    let backup = folder.path + "/backup"
    try store.backup(to: backup + "/")
    store.close()
    for program in programs { #expect(wasRun(program)) }
    return backup
  }

  private static let (keyText, otherText) = (
    "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", "QUJDMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
  )

  @Test func `of a backup whose key only a program has is read once a user names that program`() throws {
    let program = try program("program", Self.keyText)
    let store = try Store.open(try backup(with: [program]))
    #expect(code { try store.value(forKey: "token") } == .unavailable)
    let other = try self.program("other", Self.keyText)
    #expect(code { try store.addSecretsProvider(.program([other])) } == .unavailable)
    #expect(!wasRun(program), "a user has named another one")
    try store.addSecretsProvider(.program([program]))
    #expect(try store.value(forKey: "token") == "SECRET1")
    store.close()
    let again = try Store.open(folder.path + "/backup")
    #expect(try again.value(forKey: "token") == "SECRET1" && again.secretsStatus().providers.count == 1)
  }

  @Test func `of a backup that names two programs is read with the one that a user names, and the other is not run`()
    throws
  {
    let programs = [try program("first", Self.keyText), try program("second", Self.otherText)]
    let store = try Store.open(try backup(with: programs))
    try store.addSecretsProvider(.program([programs[1]]))
    #expect(try store.value(forKey: "token") == "SECRET1" && !wasRun(programs[0]))
    store.close()
    let again = try Store.open(folder.path + "/backup")
    #expect(code { try again.value(forKey: "token") } == .unavailable)
    try again.removeSecretsProvider(.program([programs[0]]))
    try again.addSecretsProvider(.program([programs[1]]))
    again.close()
    #expect(try Store.open(folder.path + "/backup").value(forKey: "token") == "SECRET1" && !wasRun(programs[0]))
  }

  @Test func `of a backup is opened by a program that the store that restores it has itself`() throws {
    let program = try program("program", Self.keyText)
    let backup = try backup(with: [program])
    let store = try Store.open(folder.path + "/other")
    #expect(code { try store.restore(from: backup) } == .unavailable)
    #expect(!wasRun(program))
    try store.encryptSecrets(with: .program([program]))
    try store.restore(from: backup)
    #expect(try store.value(forKey: "token") == "SECRET1")
  }

  @Test func `is in a backup that is opened as a store`() throws {
    let (storage, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    storage.engine.endChange()
    let first = try store.currentRevision()
    try store.set("SECRET2", forKey: "token")
    let copy = folder.path + "/copy/"
    try store.backup(to: copy)
    let opened = try Store.open(copy)
    #expect(try opened.value(forKey: "token") == "SECRET2")
    #expect(try opened.snapshot(at: first).value(forKey: "token") == "SECRET1")
    try opened.rotateSecrets()
    opened.close()
    let again = try Store.open(copy)
    #expect(try again.value(forKey: "token") == "SECRET2" && again.secretsStatus().unsealed == 0)
  }

  @Test func `of an encrypted backup is sealed in a store that has had it in plain`() throws {
    let (_, plain) = try openUndecided()
    plain.close()
    let (other, backup) = (folder.path + "/other", folder.path + "/backup")
    try FileManager.default.copyItem(atPath: path, toPath: other)
    let (_, store) = try open()
    try store.encryptSecrets(with: .keyFile(keyFile))
    try store.backup(to: backup)
    let undecided = try Store.open(other)
    try undecided.restore(from: backup)
    #expect(try undecided.value(forKey: "token") == "SECRET2" && undecided.secretsStatus().unsealed == 0)
    #expect(try files(in: folder.path, with: "SECRET") == [])
    undecided.close()
  }

  @Test func `comes back from a backup of before a rotation, and no copy has it in plain`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    let backup = folder.path + "/backup"
    try store.backup(to: backup)
    try store.rotateSecrets()
    try store.set("SECRET2", forKey: "token")
    let restored = try store.restore(from: backup)
    #expect(try store.value(forKey: "token") == "SECRET1")
    #expect(restored.quarantine != nil)
    #expect(try files(in: folder.path, with: "SECRET") == [])
    try store.restore(from: #require(restored.quarantine))
    #expect(try store.value(forKey: "token") == "SECRET2")
  }

  @Test func `that is locked is not damage, and stays when a store is repaired`() throws {
    let (_, store) = try openWithSecret()
    try store.set("SECRET1", forKey: "token")
    #expect(try store.verify().locked.isEmpty)
    store.close()
    try lock()
    let found = try StorePlace(path).examine()
    #expect(found.verification?.isSound == true && found.verification?.locked.map(\.key) == ["token"])
    #expect(found.findings.first { $0.key == "token" }?.severity == .attention)
    #expect(found.findings.first { $0.key == "token" }?.isRepairable == false)
  }
}
