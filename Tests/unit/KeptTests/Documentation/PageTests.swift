// The pages of Kept.docc: the Swift blocks of a page, in order, are one program that compiles. That of README.md needs
// generated code: Tests/docs/readme builds it.

import Foundation
import Testing

@Suite struct PageTests {
  @Test(arguments: try Page.all())
  func `the Swift in a page is a program that compiles`(page: Page) throws {
    try #require(page.program.contains("import Kept"))
    // A line that must not compile shows that the compiler ran.
    try Compiler.check(page.program + "\nlet planted: Int = \"text\" //! cannot convert value")
  }

  @Test(arguments: try Page.articles())
  func `an article ends with where C and Python have the same`(article: Page) throws {
    let sections = article.text.components(separatedBy: "\n## ")
    #expect(sections.last?.hasPrefix("In C and Python\n") == true)
  }

  @Test func `of a page only its Swift is compiled, each line in its place`() {
    let page = Page(name: "page", text: "a\n```json\n{}\n```\n```swift\nlet a = 1\n```\nb\n```swift\nprint(a)\n```\n")
    #expect(page.program == "\n\n\n\n\nlet a = 1\n\n\n\nprint(a)\n\n")
  }
}

/// A page of documentation.
struct Page: Sendable, CustomTestStringConvertible {
  let name: String
  let text: String

  var testDescription: String { name }

  /// The lines of its Swift blocks; every other line is empty, so that the compiler's line numbers match the page.
  var program: String {
    var block: Substring?
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> Substring in
      if line.hasPrefix("```") {
        block = block == nil ? line.dropFirst(3) : nil
        return ""
      }
      return block == "swift" ? line : ""
    }
    return lines.joined(separator: "\n")
  }

  /// The catalogue's first page, and its articles.
  static func all() throws -> [Page] { try [Page(catalogue.appending(path: "Kept.md"))] + articles() }

  static func articles() throws -> [Page] {
    let folder = catalogue.appending(path: "Articles")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.map(Page.init).sorted { $0.name < $1.name }
  }

  private static let catalogue = URL(filePath: #filePath).appending(path: "../../../../../Sources/Kept/Kept.docc")
    .standardizedFileURL
}

extension Page {
  private init(_ file: URL) throws {
    self.init(name: file.lastPathComponent, text: try String(contentsOf: file, encoding: .utf8))
  }
}
