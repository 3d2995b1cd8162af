// Reads the output of `dconf dump`: a group for each folder with settings, and a GVariant for each name. The path
// components of a folder are components of the keys.

import KeptCore

extension ForeignText {
  mutating func readDconf(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(StoreError) {
    try JSONScanner.checkUTF8(bytes, from: start)
    var lines = TextLines(bytes, from: start)
    var folder: Folder?
    while let line = lines.next() {
      try checkAccepted()
      switch lines.first(of: line) {
      case nil, "#": continue
      case "[": folder = Folder(name: try folderName(line, in: lines))
      default:
        guard let folder else { throw lines.invalid(line, "stands above the first group; write [/] for the top") }
        // An array of numbers takes more than its text: it asks for itself.
        try ask(forReading: 2 * line.content.count)
        try readSetting(line, in: lines, of: folder)
      }
    }
  }

  private struct Folder {
    /// nil for the folder that was dumped.
    let name: String?
  }

  private func folderName(_ line: TextLines.Line, in lines: TextLines) throws(StoreError) -> String? {
    let content = line.content
    guard lines.bytes[content.upperBound - 1] == UInt8(ascii: "]"), content.count > 2 else {
      throw lines.invalid(line, "begins with [ and must be a group: [org/gnome/desktop] or [/]")
    }
    let path = lines.bytes[content.lowerBound + 1..<content.upperBound - 1]
    var name: String?
    for part in path.split(separator: UInt8(ascii: "/")) {
      name = naming.join(name, lines.text(part.startIndex..<part.endIndex))
    }
    return name
  }

  private mutating func readSetting(
    _ line: TextLines.Line, in lines: TextLines, of folder: Folder
  ) throws(StoreError) {
    let equals = UInt8(ascii: "=")
    guard let end = lines.place(of: equals, or: equals, in: line.content) else {
      throw lines.invalid(line, "is no [group], no comment and no name=value")
    }
    let name = lines.trimmed(line.content.lowerBound..<end)
    guard !name.isEmpty else { throw lines.invalid(line, "has no name in front of its value") }
    let text = UnsafeBufferPointer(rebasing: lines.bytes[..<line.content.upperBound])
    var reader = GVariantReader(text, from: end + 1)
    carry(naming.join(folder.name, lines.text(name)), try reader.wholeValue(), at: line.place)
  }
}
