// A JSON object read member by member: the text may exceed the limits of a value, and each member is checked alone.

/// A position among the members of a JSON object, and of the nested objects that have been opened.
package struct JSONMembers {
  private var scanner: JSONScanner
  /// The keys read so far of each open object.
  private var keys: [ScannedKeys] = []
  private var isBehindMember = false

  /// Opens the object that the whole text consists of.
  ///
  /// Throws `invalid` if the text is not an object.
  /// - Parameter isForeign: whether another program has written it.
  @inline(never)
  package init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0, isForeign: Bool = false) throws(StoreError) {
    scanner = JSONScanner(bytes, from: start)
    scanner.isForeign = isForeign
    guard try open() else { throw scanner.invalid("the JSON text must be an object that maps keys to values") }
  }

  /// The number of bytes read so far.
  package var position: Int { scanner.position }
  /// Why the last key of another program's text cannot be a key.
  package var obstacle: StoreError? { scanner.obstacle }

  /// Reads the next key of the object that was opened last; its value must then be skipped or opened.
  ///
  /// nil closes the object: the next key belongs to the enclosing object. After the outermost object the text must end.
  @inline(never)
  package mutating func nextKey() throws(StoreError) -> String? {
    guard !keys.isEmpty else { return nil }
    scanner.skipSpace()
    if scanner.skip("}") {
      keys.removeLast()
      isBehindMember = true
      if keys.isEmpty { try expectEnd() }
      return nil
    }
    if isBehindMember, !scanner.skip(",") {
      throw scanner.invalid("expected ',' or '}' after a member of an object")
    }
    scanner.obstacle = nil
    let key = try scanner.scanKey(unlike: &keys[keys.count - 1])
    isBehindMember = true
    return key.text
  }

  private mutating func expectEnd() throws(StoreError) {
    scanner.skipSpace()
    guard scanner.next == nil else { throw scanner.invalid("unexpected text after the JSON object; remove it") }
  }

  /// Reads the value of a key.
  package mutating func value() throws(StoreError) -> Value { try part().value() }

  /// Skips the value of a key, which is checked as JSON here, and not yet as a value.
  @inline(never)
  package mutating func part() throws(StoreError) -> JSONPart {
    let place = try scanner.scanPart()
    return JSONPart(
      bytes: UnsafeBufferPointer(rebasing: scanner.bytes[place]), findings: scanner.findings, obstacle: scanner.obstacle
    )
  }

  /// Skips the value of a key; an object may be of any size.
  package mutating func pass() throws(StoreError) {
    guard try open() else {
      _ = try part()
      return
    }
    while try nextKey() != nil { _ = try part() }
  }

  /// Opens the value of a key if it is an object.
  @inline(never)
  package mutating func open() throws(StoreError) -> Bool {
    scanner.skipSpace()
    guard scanner.next == "{" else { return false }
    scanner.position += 1
    keys.append(ScannedKeys())
    isBehindMember = false
    return true
  }

  /// The kind of a key's value, by its beginning.
  package enum Ahead {
    case noObject, emptyObject, object
    /// An object whose first key begins with a dollar sign, as the forms of Extended JSON do.
    case form
  }

  package func ahead() throws(StoreError) -> Ahead {
    var scanner = scanner
    scanner.skipSpace()
    guard scanner.skip("{") else { return .noObject }
    scanner.skipSpace()
    if scanner.next == "}" { return .emptyObject }
    guard scanner.next == "\"" else { return .object }
    try scanner.scanString(isKey: true)
    return scanner.text.first == UInt8(ascii: "$") ? .form : .object
  }
}

/// The JSON of one value in a larger text.
package struct JSONPart {
  fileprivate let bytes: UnsafeBufferPointer<UInt8>
  fileprivate let findings: JSONFindings
  fileprivate let obstacle: StoreError?

  /// An upper bound of the memory that the value takes, in bytes.
  package var memory: Int { findings.memory }

  /// Reads the value.
  ///
  /// Throws `invalid` or `tooLarge` for a value that is JSON, but cannot be stored.
  /// - Parameter isSchema: whether it is a JSON Schema, whose keywords may begin with a dollar sign.
  @inline(never)
  package func value(isSchema: Bool = false) throws(StoreError) -> Value {
    if let obstacle { throw obstacle }
    let value = try JSONBuilder.value(of: bytes, findings, isSchema: isSchema)
    try value.checkSize()
    return value
  }
}
