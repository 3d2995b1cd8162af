// docs/guide/coming-from.md: each of its programs compiles, and contains the code of Kept in the table above it.

import Foundation
import Testing

@Suite struct ComingFromTests {
  @Test(arguments: ["SwiftDefaults", "swift-user-defaults", "TypedDefaults", "SafeDefaultsKit", "Persist"])
  func `what a table says of Kept is in its program, which compiles`(library: String) throws {
    let page = URL(filePath: #filePath).appending(path: "../../../../../docs/guide/coming-from.md").standardizedFileURL
    let sections = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix(library + "\n") })
    let fenced = section.components(separatedBy: "\n```")
    try #require(fenced.count == 3 && fenced[1].hasPrefix("swift\n"), "one program")
    let program = String(fenced[1].dropFirst("swift".count))

    // A line that must not compile shows that the compiler ran.
    try Compiler.check(program + "\nlet number: Int = \"text\" //! cannot convert value")

    // A line of the program may be broken where the table has one line.
    let code = program.filter { !$0.isWhitespace }
    let rows = section.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
    #expect(rows.count > 10)
    for row in rows.dropFirst() {
      let pieces = row.components(separatedBy: " | ").last?.components(separatedBy: "`") ?? []
      #expect(pieces.count > 1, "\(row)")
      for (index, piece) in pieces.enumerated() where !index.isMultiple(of: 2) {
        #expect(code.contains(piece.filter { !$0.isWhitespace }), "\(piece)")
      }
    }
  }
}
