// A table for people: columns as wide as their contents, the last ones cut at the edge of the terminal.

struct Table {
  let titles: [String]
  private(set) var rows: [[String]] = []
  /// The column that gets what is left of the line.
  let flexible: Int

  init(_ titles: [String], flexible: Int) { (self.titles, self.flexible) = (titles, flexible) }

  mutating func add(_ row: [String]) { rows.append(row.map { Shown.line($0) }) }

  func print(to output: Output = .standard) {
    let widths = titles.indices.map { column in
      ([titles] + rows).reduce(0) { max($0, Shown.width($1[column])) }
    }
    let others = widths.enumerated().reduce(0) { $0 + ($1.offset == flexible ? 0 : $1.element + 2) }
    let room = output.isTerminal ? max(12, output.width - others) : .max
    output.write(line: line(titles, widths, room).styled(.bold))
    for row in rows { output.write(line: line(row, widths, room)) }
  }

  private func line(_ row: [String], _ widths: [Int], _ room: Int) -> String {
    var line = ""
    for (column, text) in row.enumerated() {
      let width = column == flexible ? min(widths[column], room) : widths[column]
      let cut = Shown.cut(text, to: width)
      line += cut
      if column < row.count - 1 { line += String(repeating: " ", count: width - Shown.width(cut) + 2) }
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }
}
