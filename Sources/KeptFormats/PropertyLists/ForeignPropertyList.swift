// Detects the kind of a property list. The members of its dictionary are the settings.

import KeptCore

extension ForeignText {
  mutating func readPropertyList(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(StoreError) {
    if start == 0, bytes.starts(with: "bplist".utf8) { return try readBinaryPropertyList(bytes) }
    try JSONScanner.checkUTF8(bytes, from: start)
    // Texts grow while they are read, and briefly exist beside their values.
    try Memory.ask(for: 4 * bytes.count, to: "read a property list")
    // The dictionary that contains the settings does not count towards their nesting.
    var reader = PropertyListReader(bytes, from: start, nesting: Limits.nesting + 1)
    reader.skipSpace()
    let isXML = reader.next == "<"
    guard let value = isXML ? reader.xmlText() : reader.oldStyleText() else {
      if let shortage = reader.shortage { throw shortage }
      throw StoreError(.invalid, offset: reader.position, Self.unreadable(isXML: isXML))
    }
    guard let members = value.asDictionary else { throw Self.noDictionary(value.described) }
    for member in members { carry(member.key.text, member.value) }
    for end in reader.repeats { leaveOut("byte \(end)", ForeignValue.Losses.repeatedKeySentence) }
  }

  private mutating func readBinaryPropertyList(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    var reader = try BinaryPropertyList(bytes)
    guard let members = try reader.rootMembers() else { throw Self.noDictionary("something else") }
    for (key, reference) in members {
      let key = try reader.object(key)
      let found = try reader.object(reference)
      guard let name = key.asKey else {
        leaveOut("a member", "its key is no text")
        continue
      }
      carry(name, found)
    }
  }

  private static func unreadable(isXML: Bool) -> String {
    let form =
      isXML
      ? "an element of XML that property lists have, with a value of 64 bits or of the years 0 to 9999"
      : "a value of an old-style property list, such as {key = value;}"
    return "the property list cannot be read here or just before; \(form) must stand here, nested at most"
      + " \(Limits.nesting) deep"
  }

  private static func noDictionary(_ found: String) -> StoreError {
    StoreError(
      .invalid, offset: 0, "the property list must be a dictionary, whose keys are the settings; this one is \(found)")
  }
}
