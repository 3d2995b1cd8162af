// The Swift code in documentation comments compiles: each example is the body of a function, after common declarations.

import Foundation
import Testing

@Suite struct DocCommentTests {
  /// Declarations that the examples leave out.
  ///
  /// `.volume`, `.theme` and `.frame` are declared by the example of `Keys`.
  private static let takenForGranted = """
    import Foundation
    import Kept
    import KeptStorage
    import KeptUserDefaults
    import Synchronization

    enum Theme: String, Storable { case system, light, dark }
    enum Size: String, Codable { case small, medium, large }
    struct Frame: Codable, Storable {
      static let zero = Frame()
      var width = 0
    }
    struct Mark: Codable {}
    struct Page: Codable {}
    struct Colour: RawRepresentable { var rawValue: String }
    struct CameraConfig: Codable, KeyedStorable {
      static let key = "CameraConfig"
      var size = Size.medium
    }
    struct PlayerLaunch: LaunchArgumentEncodable { @ArgumentOverride(.theme) var theme: Theme? }
    extension Keys {
      static let level = Key("CurrentLevel", default: 1)
      static let userName = Key<String?>("UserName")
      static let gain = Key("gain", default: 1.0)
    }
    let settings = Store(storage: MemoryStorage())
    nonisolated(unsafe) let player = Process()
    """

  @Test func `every example in a doc comment compiles`() throws {
    let examples = try Self.examples()
    #expect(examples.count > 20)
    let bodies = examples.enumerated().map { number, example in
      // Extensions are at file level, and bare members belong to a type.
      if example.hasPrefix("extension ") { return example }
      let opening = example.hasPrefix("static ") ? "enum Example\(number)" : "func example\(number)() async throws"
      return "\(opening) {\n\(example)\n}"
    }
    // A line that must not compile shows that the compiler ran.
    let program = ([Self.takenForGranted] + bodies).joined(separator: "\n")
    try Compiler.check(program + "\nlet planted: Int = \"text\" //! cannot convert value")
  }

  /// The Swift blocks in the documentation comments of all modules that Swift programs import.
  ///
  /// A file with an `#if` belongs to another build: with a trait, or on macOS.
  private static func examples() throws -> [String] {
    let sources = URL(filePath: #filePath).appending(path: "../../../../../Sources").standardizedFileURL
    var examples: [String] = []
    for module in ["Kept", "KeptValues", "KeptSystem", "KeptSchema", "KeptCore", "KeptUserDefaults"] {
      let files = FileManager.default.enumerator(at: sources.appending(path: module), includingPropertiesForKeys: nil)
      for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
        let source = try String(contentsOf: file, encoding: .utf8)
        if !source.contains("\n#if ") { examples += blocks(of: source) }
      }
    }
    return examples
  }

  private static func blocks(of source: String) -> [String] {
    let comments = source.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("///") }
    let text = comments.map { $0.dropFirst($0.hasPrefix("/// ") ? 4 : 3) }.joined(separator: "\n")
    return text.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
  }
}
