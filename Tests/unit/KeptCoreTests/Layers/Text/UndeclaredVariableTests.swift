// Variables that set no declared key: which key was meant, and where that is said.

import Foundation
@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A variable that sets no declared key` {
  private static let declared = ["audio.maxVolume", "audio.muted", "theme", "ui_scale", "x", "größe"]

  @Test(arguments: [
    // Only capitals and separators differ.
    ("audio.max.volume", "audio.maxVolume"), ("audiomaxvolume", "audio.maxVolume"), ("audio_muted", "audio.muted"),
    ("ui.scale", "ui_scale"), ("ui-scale", "ui_scale"),
    // Slips of the pen.
    ("them", "theme"), ("them.e.s", "theme"), ("thmee", "theme"), ("audio.mutde", "audio.muted"),
    ("audio.max.volum", "audio.maxVolume"),
    // Nothing near.
    ("y", nil), ("volume", nil), ("audio", nil), ("audio.maximum.volume", nil),
  ])
  func `was meant for the nearest declared one`(key name: String, meant: String?) throws {
    let declared = try Self.declared.map { try KeyName($0) }
    #expect(UndeclaredVariable(try KeyName(name), among: declared).meant?.text == meant)
  }

  @Test func `is reported with the name to write`() throws {
    let variable = UndeclaredVariable(try key("audio.max.volume"), among: [try key("audio.maxVolume")])
    let words = """
      "audio.maxVolume": the environment variable PLAYER_AUDIO_MAX_VOLUME sets another key, which is not declared; the \
      name for this key is PLAYER_AUDIO_MAX_x56OLUME
      """
    #expect(variable.warning(prefix: "PLAYER_").description == words)
    let other = UndeclaredVariable(try key("nothing"), among: [try key("audio.maxVolume")])
    #expect(
      other.warning(prefix: "P_").description.hasPrefix("\"nothing\": the environment variable P_NOTHING sets this"))
  }

  @Test func `is named in the explanations of both keys, and in no other`() throws {
    setenv("KEPT_EXPLAINED_AUDIO_MAX_VOLUME", "30", 1)
    defer { unsetenv("KEPT_EXPLAINED_AUDIO_MAX_VOLUME") }
    let store = Store(
      storage: MemoryStorage(), options: StoreOptions(environmentPrefix: "KEPT_EXPLAINED_", errorHandler: { _ in }))
    func problem(_ key: String) throws -> String? {
      try store.explain(key).layers.first { $0.layer == .environment }?.problem
    }
    #expect(try problem("audio.max.volume") == nil)
    try store.declare(try Declaration(json: #"{"type":"integer"}"#), forKey: "audio.maxVolume")
    #expect(try problem("audio.maxVolume")?.contains("KEPT_EXPLAINED_AUDIO_MAX_x56OLUME") == true)
    let words = "the key is not declared; did you mean \"audio.maxVolume\" (KEPT_EXPLAINED_AUDIO_MAX_x56OLUME)?"
    #expect(try problem("audio.max.volume") == words)
    #expect(try store.snapshot().explain("audio.max.volume").layers.contains { $0.problem == words })
    #expect(try problem("audio") == nil)
    try store.declare(try Declaration(json: #"{"type":"integer"}"#), forKey: "audio.max.volume")
    #expect(try problem("audio.max.volume") == nil)
    #expect(try problem("audio.maxVolume") == nil)
  }
}
