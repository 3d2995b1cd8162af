// The text form of an explanation.

@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `An explanation as text` {
  private func store(_ arguments: String..., declaring schema: String) throws -> Store {
    var options = StoreOptions()
    options.arguments = ["program"] + arguments
    let store = try Store.open("memory:", options: options)
    try store.declare(Declaration(json: schema), forKey: "volume")
    return store
  }

  @Test func `is the value with the reason, and a line for each layer`() throws {
    let store = try store("-volume", "200", declaring: #"{"type":"integer","default":50,"maximum":100}"#)
    try store.set(70, forKey: "volume")
    let lines = "\(try store.explain("volume"))".split(separator: "\n")
    #expect(lines[0].hasPrefix("volume = 70: the stored value applies; overridden: declared; skipped, because "))
    #expect(lines[1].hasPrefix("  arguments    skipped  200  (-volume)  the value 200 is above the maximum 100"))
    #expect(lines[2...] == ["  user         wins     70", "  registered   silent", "  declared     hidden   50"])
  }

  @Test func `says of a key without a value that it is absent`() throws {
    let text = "\(try store(declaring: #"{"type":"integer"}"#).explain("volume"))"
    #expect(text.hasPrefix("volume = absent: no layer has a value\n  arguments    silent\n"))
  }

  @Test func `has no value of a secret`() throws {
    let store = try store("-volume", "hunter2", declaring: #"{"type":"string","secret":true,"default":"swordfish"}"#)
    try store.set("opensesame", forKey: "volume")
    let text = "\(try store.explain("volume"))"
    #expect(text.contains("volume = secret: ") && text.contains("  arguments    wins     (secret)  (-volume)\n"))
    for value in ["hunter2", "swordfish", "opensesame"] { #expect(!text.contains(value)) }
  }
}
