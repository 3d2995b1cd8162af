// Parses the text form of a GVariant. The grammar: https://docs.gtk.org/glib/gvariant-text-format.html.
//
// Integers of all widths become integers; strings, object paths and signatures become text; an array of bytes becomes
// bytes; a variant becomes its content. A tuple and a dictionary entry become arrays, which is reported. `nothing`
// becomes null. Kept cannot represent a handle, or a dictionary whose keys are not text.

import KeptCore

/// A position in the text of a GVariant.
struct GVariantReader: TextCursor {
  /// What memory is for.
  static let purpose = "read a GVariant"

  let bytes: UnsafeBufferPointer<UInt8>
  var position: Int
  var found = ForeignValue(value: .null)
  /// The number of dictionary entries outside of a dictionary.
  var looseEntries = 0
  private var depth = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
    self.bytes = bytes
    position = start
  }

  /// A value, and what is known of its type.
  struct Typed {
    var value: Value
    var type: GVariantType
  }

  /// Parses the complete remaining text as one value.
  mutating func wholeValue() throws(StoreError) -> ForeignValue {
    found.value = try value(as: .unknown).value
    skipSpace()
    guard isAtEnd else { throw invalid("the text goes on behind its value; remove the rest") }
    if looseEntries > 0 { found.losses.tuple = true }
    return found
  }

  /// Parses a value of a type, as far as the type is known.
  mutating func value(as type: GVariantType) throws(StoreError) -> Typed {
    // Values inside as many containers, annotations and variants as a store takes containers.
    guard depth <= Limits.nesting else { throw StoreError.nestedTooDeeply(at: position) }
    depth += 1
    defer { depth -= 1 }
    skipSpace()
    var type = type
    // A maybe with a value needs no `just` before it.
    while type.first == "m", !isAt("nothing"), !isAt("just") { type = type.content }
    switch next {
    case "@": return try annotated()
    case "<": return try variant(type)
    case "[": return try array(type)
    case "{": return try dictionary(type)
    case "(": return try tuple(type)
    case "'", "\"": return try string(type)
    case "b" where isAt("b'") || isAt("b\""): return try byteString(type)
    case nil: throw invalid("the text ends where a value must stand")
    default: return try word(type)
    }
  }

  /// A value with a type annotation, such as `@as []`.
  private mutating func annotated() throws(StoreError) -> Typed {
    position += 1
    let start = position
    guard let type = scanType() else {
      throw invalid(at: start, "a type of GVariant must stand here, of at most \(GVariantType.longest) characters")
    }
    return Typed(value: try value(as: type).value, type: type)
  }

  private mutating func variant(_ type: GVariantType) throws(StoreError) -> Typed {
    try expect(type, among: "v")
    position += 1
    let value = try value(as: .unknown).value
    try expect(">", behind: "the value of a variant")
    return Typed(value: value, type: .variant)
  }
}

// MARK: - Expectations

extension GVariantReader {
  func invalid(at offset: Int? = nil, _ message: String) -> StoreError {
    StoreError(.invalid, offset: offset ?? position, message)
  }

  /// Throws unless the expected type begins with one of some characters, or is unknown.
  func expect(_ type: GVariantType, among kinds: StaticString) throws(StoreError) {
    if type.first == "*" { return }
    for index in 0..<kinds.utf8CodeUnitCount where Unicode.Scalar(kinds.utf8Start[index]) == type.first { return }
    throw invalid("the value here must have the type \(type.text)")
  }

  mutating func expect(_ mark: Unicode.Scalar, behind what: String) throws(StoreError) {
    guard skipMark(mark) else { throw invalid("'\(mark)' must stand here, behind \(what)") }
  }

  mutating func skipMark(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    return skip(mark)
  }
}
