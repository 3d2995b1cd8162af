// All public types are Sendable, so that a program with several tasks can use them.

import Foundation
import Testing

@Suite struct `Every type that programs can name` {
  private static let parameters = [
    "Key": "<Int>", "Constraint": "<Int>", "Handle": "<Int>", "Setting": "<Int>", "SettingProjection": "<Int>",
    "ArgumentOverride": "<Int>", "Transformer": "<Int, String>", "TypedStore": "<Camera>", "AnyTypedStore": "<Camera>",
    "KeyTable": "<Int>",
  ]
  private static let others = [
    "Key<Int>.Change", "Key<Int>.Changes", "Handle<Int>.Change", "Handle<Int>.Changes", "Notice.Origin",
    "Change.Event", "Value.Kind", "StoreError.Code", "Batch.Edit", "Store.Notices", "any Storage", "any SimpleStorage",
    "any ListingStorage", "any Storable", "any KeyedStorable", "any SettingsGroup", "any GroupKey",
    "any ArgumentOverriding",
  ]

  @Test func `is Sendable`() throws {
    let declared = try Self.declared()
    #expect(declared.count > 40 && declared.contains("Store") && declared.contains("Handle"))
    let types = declared.map { $0 + (Self.parameters[$0] ?? "") } + Self.others
    let lines = types.map { "check((\($0)).self)" }
    try Compiler.check(
      """
      import KeptStorage
      struct Camera: Codable, KeyedStorable { static let key = "camera" }
      func check<T: Sendable>(_ type: T.Type) {}
      func checkAll() {
      \(lines.joined(separator: "\n"))
      }
      """)
  }

  /// The public types of the modules, except those that need a package trait.
  private static func declared() throws -> [String] {
    let sources = URL(filePath: #filePath).appending(path: "../../../../../Sources").standardizedFileURL
    var names: Set<String> = []
    for module in ["Kept", "KeptCore"] {
      let files = FileManager.default.enumerator(at: sources.appending(path: module), includingPropertiesForKeys: nil)
      while let file = files?.nextObject() as? URL {
        guard file.pathExtension == "swift", !file.path.contains("/Integrations/") else { continue }
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
          let declaration = /^public (final |indirect )?(class|struct|enum|actor) ([A-Za-z]+).*/
          if let match = line.wholeMatch(of: declaration) { names.insert(String(match.3)) }
        }
      }
    }
    return names.sorted()
  }
}
