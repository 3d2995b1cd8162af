// GVariant types in D-Bus notation, and what a reader knows of a type so far.

import KeptCore

/// A type such as `i`, `as`, `a{sv}` or `(ii)`, with two additional marks for what is not known yet.
struct GVariantType {
  /// The maximum length in D-Bus.
  static let longest = 255

  // Complete, with balanced brackets.
  private let codes: [UInt8]

  fileprivate init(codes: [UInt8]) {
    // A longer type is treated as unknown.
    self.codes = codes.count <= Self.longest ? codes : [UInt8(ascii: "*")]
  }

  private init(_ code: Unicode.Scalar) { codes = [UInt8(truncatingIfNeeded: code.value)] }

  static func basic(_ code: Unicode.Scalar) -> GVariantType { GVariantType(code) }
  static var unknown: GVariantType { GVariantType("*") }
  /// An integer of any width, or a double.
  static var number: GVariantType { GVariantType("#") }
  static var variant: GVariantType { GVariantType("v") }
  static func array(of element: GVariantType) -> GVariantType {
    GVariantType(codes: [UInt8(ascii: "a")] + element.codes)
  }
  static func maybe(_ content: GVariantType) -> GVariantType {
    GVariantType(codes: [UInt8(ascii: "m")] + content.codes)
  }

  static func entry(_ key: GVariantType, _ value: GVariantType) -> GVariantType {
    GVariantType(codes: [UInt8(ascii: "{")] + key.codes + value.codes + [UInt8(ascii: "}")])
  }

  static func tuple(of members: [GVariantType]) -> GVariantType {
    var codes = [UInt8(ascii: "(")]
    for member in members where codes.count <= longest { codes += member.codes }
    return GVariantType(codes: codes + [UInt8(ascii: ")")])
  }

  var text: String { String(decoding: codes, as: UTF8.self) }

  var first: Unicode.Scalar { codes.first.map { Unicode.Scalar($0) } ?? "*" }

  /// Whether a part of the type is not known.
  var isOpen: Bool { codes.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "#") } }

  /// The element type of an array or a maybe.
  var content: GVariantType {
    first == "a" || first == "m" ? GVariantType(codes: Array(codes.dropFirst())) : .unknown
  }

  /// The types of a tuple's members.
  var members: [GVariantType] {
    var members: [GVariantType] = []
    var start = 1
    while start < codes.count - 1 {
      let end = end(from: start)
      members.append(GVariantType(codes: Array(codes[start..<end])))
      start = end
    }
    return members
  }

  /// The types of a dictionary entry.
  var entryTypes: (key: GVariantType, value: GVariantType) {
    guard first == "{" else { return (.unknown, .unknown) }
    let types = members
    return types.count == 2 ? (types[0], types[1]) : (.unknown, .unknown)
  }

  /// The end of the type that begins at an index.
  private func end(from start: Int) -> Int {
    var place = start
    var open = 0
    while place < codes.count {
      let code = Unicode.Scalar(codes[place])
      place += 1
      if code == "(" || code == "{" { open += 1 }
      if code == ")" || code == "}" { open -= 1 }
      if open == 0, code != "a", code != "m" { break }
    }
    return place
  }
}

extension GVariantReader {
  /// Skips a type; nil if there is none, or if it is too long.
  mutating func scanType() -> GVariantType? {
    let start = position
    guard skipType(), position - start <= GVariantType.longest else { return nil }
    return GVariantType(codes: Array(bytes[start..<position]))
  }

  // The recursion is bounded by the longest type: each step consumes a character.
  private mutating func skipType(_ taken: Int = 0) -> Bool {
    guard taken <= GVariantType.longest, let code = next else { return false }
    position += 1
    switch code {
    case "b", "y", "n", "q", "i", "u", "x", "t", "h", "d", "s", "o", "g", "v": return true
    case "a", "m": return skipType(taken + 1)
    case "(":
      while !skip(")") {
        guard skipType(taken + 1) else { return false }
      }
      return true
    case "{":
      // A key has a basic type.
      guard let key = next, key != "(", key != "{", key != "a", key != "m", key != "v" else { return false }
      return skipType(taken + 1) && skipType(taken + 1) && skip("}")
    default: return false
    }
  }
}
