// A table for people: columns as wide as their contents, unless the terminal is narrower.

struct Table {
  let titles: [String]
  private(set) var rows: [[String]] = []
  /// Which columns are cut on a narrow terminal, in this order, and to what width at least; none leaves them out.
  private let steps: [(column: Int, least: Int)]

  init(_ titles: [String], shrinking steps: [(column: Int, least: Int)]) { (self.titles, self.steps) = (titles, steps) }

  mutating func add(_ row: [String]) { rows.append(row.map { Shown.line($0) }) }

  func print(to output: Output = .standard) {
    var widths = titles.indices.map { column in
      ([titles] + rows).reduce(0) { max($0, Shown.width($1[column])) }
    }
    for (column, least) in steps where output.isTerminal {
      // The last column has nothing between it and the edge.
      let excess = widths.reduce(-2) { $0 + ($1 > 0 ? $1 + 2 : 0) } - output.width
      if excess > 0 { widths[column] = max(min(least, widths[column]), widths[column] - excess) }
    }
    output.write(line: line(titles, widths).styled(.bold))
    for row in rows { output.write(line: line(row, widths)) }
  }

  private func line(_ row: [String], _ widths: [Int]) -> String {
    var line = ""
    for (text, width) in zip(row, widths) where width > 0 {
      line += Shown.cut(text, to: width).padded(to: width + 2)
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }
}
