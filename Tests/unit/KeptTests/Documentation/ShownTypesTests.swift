// `import Kept` shows what applications need, and the types that only authors of storages need are in KeptStorage.

import Foundation
import Testing

@Suite struct `The types of the engine` {
  private static let sources = URL(filePath: #filePath).appending(path: "../../../../../Sources").standardizedFileURL

  @Test func `are shown by Kept, except those that Kept.md lists under KeptStorage`() throws {
    let (declared, hidden) = (try Self.declared(), try Self.listedUnderKeptStorage())
    #expect(declared.count > 50 && hidden.count > 10 && hidden.contains("Batch") && hidden.isSubset(of: declared))
    let lines = declared.sorted().enumerated().map { index, name in
      let refusal = hidden.contains(name) ? " //! cannot find type '\(name)' in scope" : ""
      return "typealias T\(index) = Shown<\(Self.type(name))>\(refusal)"
    }
    try Compiler.check("import Kept\nenum Shown<T> {}\n" + lines.joined(separator: "\n"))
  }

  @Test func `are all shown by KeptStorage, with the rest of Kept`() throws {
    let names = try Self.declared().sorted() + ["Keys", "ValueEncoder"]
    let lines = names.enumerated().map { index, name in
      "typealias T\(index) = Shown<\(Self.type(name))>"
    }
    try Compiler.check("import KeptStorage\nenum Shown<T> {}\n" + lines.joined(separator: "\n"))
  }

  @Test func `may be arguments and results where they cannot be named`() throws {
    try Compiler.check(
      """
      import Kept
      import KeptUserDefaults
      struct Storage {}
      struct Batch {}
      func program() throws {
        let settings = Kept.Store(storage: MemoryStorage())
        let adopted = Store(storage: SimpleStorageAdapter(try UserDefaultsStorage(suite: "com.example.old")))
        do { try settings.set(1, forKey: "a") } catch StoreError.Code.conflict { adopted.close() }
        print(Storage(), Batch())
      }
      """)
  }

  private static let protocols: Set = [
    "Storage", "SimpleStorage", "ListingStorage", "SettingsReading", "SettingsAccess",
  ]

  private static let generic: Set = ["KeyTable"]

  private static func type(_ name: String) -> String {
    protocols.contains(name) ? "any " + name : generic.contains(name) ? name + "<Int>" : name
  }

  /// The public types that the modules beneath Kept declare.
  private static func declared() throws -> Set<String> {
    var names: Set<String> = []
    for module in ["KeptValues", "KeptSystem", "KeptSchema", "KeptCore"] {
      let files = FileManager.default.enumerator(at: sources.appending(path: module), includingPropertiesForKeys: nil)
      while let file = files?.nextObject() as? URL {
        guard file.pathExtension == "swift" else { continue }
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
          let declaration = /^public (final |indirect )?(class|struct|enum|actor|protocol|typealias) ([A-Za-z]+).*/
          if let match = line.wholeMatch(of: declaration) { names.insert(String(match.3)) }
        }
      }
    }
    return names
  }

  /// The names in the sections of Kept.md whose titles end with KeptStorage.
  private static func listedUnderKeptStorage() throws -> Set<String> {
    let page = try String(contentsOf: sources.appending(path: "Kept/Kept.docc/Kept.md"), encoding: .utf8)
    let sections = page.components(separatedBy: "\n### ").filter { $0.prefix { $0 != "\n" }.hasSuffix("KeptStorage") }
    return Set(sections.joined().matches(of: /``([A-Za-z]+)``/).map { String($0.1) })
  }
}
