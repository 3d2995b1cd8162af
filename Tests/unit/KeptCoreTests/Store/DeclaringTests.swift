// Declared keys in a store: reads, refusals, and which observers are notified.

import Foundation
import KeptEngine
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A declared key` {
  private let folder: TemporaryFolder
  private let received = ReceivedNotices()
  init() throws { folder = try TemporaryFolder() }

  private let volume = #"{"type":"integer","minimum":0,"maximum":100,"default":50}"#

  private func open(_ kind: StoreUnderTest) throws -> Store { try kind.open(in: folder, StoreOptions()) }

  /// They are read in groups, whose ends must lose none.
  @Test(arguments: StoreUnderTest.allCases, [1, 64, 65, 128, 200])
  func `is listed among many if its value fits`(_ kind: StoreUnderTest, _ count: Int) throws {
    let maker = try open(kind)
    let keys = (1000..<1000 + count).map { "k\($0)" }
    for (number, name) in keys.enumerated() { try maker.set(number % 3 == 0 ? -1 : 1, forKey: name) }
    try maker.set(1, forKey: "undeclared")
    let integer = try Declaration(json: volume)
    let declared = try (keys + ["without a value"]).map { (key: try key($0), declaration: integer) }
    #expect(try maker.declare(declared).count == (count + 2) / 3)
    let fitting = keys.enumerated().filter { $0.offset % 3 != 0 }.map(\.element) + ["undeclared"]
    #expect(try maker.keys() == fitting)
    maker.close()
    // Memory keeps nothing.
    let other = try open(kind)
    if try other.contains("undeclared") { #expect(try other.keys() == fitting && other.keys() == fitting) }
  }

  @Test(arguments: StoreUnderTest.allCases, [1, 63, 64, 200])
  func `reports what does not fit each time it is declared, among few or many`(
    _ kind: StoreUnderTest, count: Int
  ) throws {
    let store = try open(kind)
    let members = (0..<count).map { number in #""k\#(number)":{"type":"integer"}"# }.joined(separator: ",")
    let list = try DeclarationList(json: #"{"properties":{\#(members)}}"#)
    for key in ["k0", "k\(count - 1)", "z"] { try store.set("loud", forKey: key) }
    let expected = Set(["k0", "k\(count - 1)"]).sorted()
    for _ in 1...3 { #expect(try store.declare(list).map(\.key) == expected) }
    let revision = try store.currentRevision()
    let news = try DeclarationList(json: #"{"properties":{\#(members),"z":{"type":"integer"}}}"#)
    for _ in 1...2 { #expect(try store.declare(news).map(\.key) == expected + ["z"]) }
    #expect(try store.currentRevision() == revision + 1)
    try store.set(1, forKey: "k0")
    #expect(try store.declare(news).map(\.key) == (expected + ["z"]).filter { $0 != "k0" })
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `that is deprecated is reported once, when it is set`(_ kind: StoreUnderTest) throws {
    let reports = Reports()
    let store = try kind.open(in: folder, StoreOptions(errorHandler: { reports.add($0) }))
    if kind == .folder { try store.keepSecretsPlain() }
    try store.declare(Declaration(json: #"{"type":"integer","deprecated":true,"summary":"use level"}"#), forKey: "v")
    try store.declare(
      Declaration(json: #"{"type":"array","items":{"deprecated":true,"type":"string"},"secret":true}"#), forKey: "s")
    #expect(throws: StoreError.self) { try store.set("loud", forKey: "v") }
    #expect(try store.value(forKey: "v") == nil && !store.remove("v"))
    #expect(reports.all == [])
    for number in Int64(1)...3 { try store.set(.int(number), forKey: "v") }
    try store.set(3, forKey: "v")
    #expect(
      reports.all == [
        "\"v\": was set, but is declared as deprecated; set its replacement instead (summary: use level)"
      ])
    try store.set([], forKey: "s")
    try store.transaction { try $0.set(["hush"], forKey: "s") }
    #expect(reports.all.count == 2 && reports.all[1].contains("was set with a deprecated part;"))
    try store.declare(Declaration(json: #"{"type":"integer","deprecated":true}"#), forKey: "v")
    try store.set(3, forKey: "v")
    #expect(reports.all.count == 2, "values stored already are not looked at")
    try store.set(4, forKey: "v")
    #expect(reports.all.count == 3, "another declaration is reported again")
    try store.declare(
      Declaration(json: #"{"type":"integer","deprecated":true,"since":"1.0","replacedBy":"level"}"#), forKey: "v")
    try store.set(5, forKey: "v")
    #expect(reports.all.last == "\"v\": was set, but is declared as deprecated; set \"level\" instead")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `delivers its default to observers, but no equal value`(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let subscription = try store.observe(.prefix(""), initial: true, received.add)
    try store.declare(Declaration(json: volume), forKey: "v")
    try store.declare(Declaration(json: #"{"type":"integer","default":50}"#), forKey: "v")
    try store.set(50, forKey: "v")
    try store.set(51, forKey: "v")
    let notices = received.first(4)
    #expect(notices.map { $0.changes.map(\.new) } == [[], [50], [50], [51]])
    #expect(notices[2].changes.map(\.newLayer) == [.user], "another layer decides")
    #expect(notices.map(\.revision) == [0, 1, 3, 4])
    subscription.cancel()
  }

  @Test func `is known to later openers, and to a handle that has read it before`() throws {
    let early = try Store(storage: LocalStorage(path: folder.path + "/store"))
    #expect(try early.value(forKey: "v") == nil)
    let declaring = try Store(storage: LocalStorage(path: folder.path + "/store"))
    try declaring.declare(Declaration(json: volume), forKey: "v")
    #expect(try early.value(forKey: "v") == 50)
    let late = try Store(storage: LocalStorage(path: folder.path + "/store"))
    #expect(try late.value(forKey: "v") == 50)
    #expect(try late.declarations().declarations.map(\.key.text) == ["v"])
    #expect(throws: StoreError.self) { try late.set(101, forKey: "v") }
  }

  @Test func `of a later version is ignored by reads, and refuses writes`() throws {
    let store = try open(.folder)
    try store.declare(Declaration(json: volume), forKey: "v")
    try store.set(5, forKey: "v")
    store.close()
    let newer = Array(#"{"type":"integer","anyOf":[]}"#.utf8)
    try newer.withUnsafeBytes { text in try plant(in: folder.path + "/store") { $0.declaration = text } }
    let later = try Store(storage: LocalStorage(path: folder.path + "/store"))
    #expect(try later.value(forKey: "v") == 5)
    let error = #expect(throws: StoreError.self) { try later.set(10, forKey: "v") }
    #expect(error?.code == .unsupported)
    #expect(throws: StoreError.self) { try later.declare(Declaration(json: volume), forKey: "v") }
    #expect(try later.undeclare("v"))
    try later.set("free", forKey: "v")
  }

  @Test func `that cannot be read stays corrupt, and is declared once it is set anew`() throws {
    let store = try open(.folder)
    try store.set(5, forKey: "v")
    store.close()
    try plant(in: folder.path + "/store") { $0.value = .unreadable }
    let later = try Store(storage: LocalStorage(path: folder.path + "/store"))
    for _ in 1...2 {
      let error = #expect(throws: StoreError.self) { try later.declare(Declaration(json: volume), forKey: "v") }
      #expect(error?.code == .corrupt)
      #expect(throws: StoreError.self) { try later.value(forKey: "v") }
    }
    let blind = try later.begin()
    try blind.set(7, forKey: "v")
    _ = try blind.commit()
    try later.declare(Declaration(json: volume), forKey: "v")
    #expect(try later.value(forKey: "v") == 7)
  }

  @Test(arguments: [1, 64])
  func `that was secret is not shown when it is declared otherwise`(_ count: Int) throws {
    let store = try Store.open("memory:")
    let keys = try (0..<count).map { try KeyName("token\($0)") }
    func declare(_ json: String) throws -> [StoreError] {
      try store.declare(keys.map { ($0, try Declaration(json: json)) })
    }
    #expect(try declare(#"{"type":"string","secret":true}"#).isEmpty)
    for key in keys { try store.set("hush", forKey: key.text) }
    let misfits = try declare(#"{"type":"string","maxLength":3}"#)
    #expect(misfits.count == count && !misfits.contains { $0.description.contains("hush") })
    #expect(try store.explain("token0").isSecret == false)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `that was secret is not shown by a transaction that declares it otherwise`(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    if kind == .folder { try store.keepSecretsPlain() }
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "token")
    try store.set("hush", forKey: "token")
    let short = try Declaration(json: #"{"type":"string","maxLength":3}"#)
    try store.transaction { transaction in
      try transaction.declare(Declaration(json: #"{"type":"string"}"#), forKey: "token")
      // The first time it is a new declaration, the second time it is unchanged.
      for _ in 1...2 {
        let misfit = try transaction.declare(short, forKey: "token")
        #expect(misfit?.description.contains("hush") == false)
      }
      let error = #expect(throws: StoreError.self) { try transaction.set("hush-hush", forKey: "token") }
      #expect(error?.code == .invalid && error?.description.contains("hush") == false)
    }
    let open = #expect(throws: StoreError.self) { try store.set("long", forKey: "token") }
    #expect(open?.description.contains("\"long\"") == true, "now it is not a secret")
  }

  @Test func `that is secret is delivered to code, and shown nowhere`() throws {
    let store = try open(.folder)
    try store.keepSecretsPlain()
    try store.declare(Declaration(json: #"{"type":"string","secret":true,"maxLength":9}"#), forKey: "token")
    let subscription = try store.observe(.key(key("token")), received.add)
    try store.set("hush-hush", forKey: "token")
    let error = #expect(throws: StoreError.self) { try store.set("hush-hush-hush", forKey: "token") }
    #expect(error?.description.contains("hush") == false)
    let change = received.first(1)[0].changes[0]
    #expect(change.new == "hush-hush" && !"\(change)".contains("hush"))
    let why = try store.explain("token")
    #expect(why.isSecret && !why.json.contains("hush"))
    subscription.cancel()
  }
}

/// The errors that an error handler received.
private final class Reports: Sendable {
  private let received = Monitor([String]())

  var all: [String] { received.read(\.self) }

  func add(_ error: StoreError) { received.update { $0.append(error.description) } }
}
