// docs/coming-from.md: each of its programs compiles, and contains the code of Kept in the table above it.

import Foundation
import Testing

@Suite struct ComingFromTests {
  @Test(arguments: ["SwiftDefaults", "swift-user-defaults", "TypedDefaults", "SafeDefaultsKit", "Persist"])
  func `what a table says of Kept stands in its program, which compiles`(library: String) throws {
    let page = URL(filePath: #filePath).appending(path: "../../../../../docs/coming-from.md").standardizedFileURL
    let sections = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix(library + "\n") })
    let fenced = section.components(separatedBy: "\n```")
    try #require(fenced.count == 3 && fenced[1].hasPrefix("swift\n"), "one program")
    let program = String(fenced[1].dropFirst("swift".count))

    // A line that must not compile shows that the compiler ran.
    try Compiler.check(program + "\nlet number: Int = \"text\" //! cannot convert value")

    let rows = section.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
    #expect(rows.count > 10)
    for row in rows.dropFirst() {
      let code = row.components(separatedBy: " | ").last?.components(separatedBy: "`") ?? []
      #expect(code.count > 1, "\(row)")
      for (index, piece) in code.enumerated() where !index.isMultiple(of: 2) {
        #expect(program.contains(piece), "\(piece)")
      }
    }
  }
}
