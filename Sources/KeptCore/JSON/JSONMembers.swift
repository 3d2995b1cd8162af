// A JSON object read member by member: the text may be larger than a value can be, and each member is judged alone.

/// A place among the members of a JSON object, and of the objects in it that are opened.
struct JSONMembers {
  private var scanner: JSONScanner
  /// The keys so far of each object that is open.
  private var keys: [Set<ExactString>] = []
  private var isBehindMember = false

  /// Opens the object that the whole text is.
  ///
  /// Throws `invalid` if it is none.
  /// - Parameter isForeign: whether another program has written it.
  @inline(never)
  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0, isForeign: Bool = false) throws(StoreError) {
    scanner = JSONScanner(bytes, from: start)
    scanner.isForeign = isForeign
    guard try open() else { throw scanner.invalid("the JSON text must be an object, whose members are keys") }
  }

  /// How many bytes are read.
  var position: Int { scanner.position }

  /// Passes over the next key of the object that was opened last; its value must be passed over next, or opened.
  ///
  /// nil closes the object: the next key is one of the object around it. Behind the outermost nothing may stand.
  @inline(never)
  mutating func nextKey() throws(StoreError) -> String? {
    guard !keys.isEmpty else { return nil }
    scanner.skipSpace()
    if scanner.skip("}") {
      keys.removeLast()
      isBehindMember = true
      if keys.isEmpty { try expectEnd() }
      return nil
    }
    if isBehindMember, !scanner.skip(",") {
      throw scanner.invalid("',' or '}' must stand here, after a member of an object")
    }
    try scanner.scanKey(unlike: &keys[keys.count - 1])
    isBehindMember = true
    return String(decoding: scanner.text, as: UTF8.self)
  }

  private mutating func expectEnd() throws(StoreError) {
    scanner.skipSpace()
    guard scanner.next == nil else { throw scanner.invalid("the JSON text goes on after its object; remove the rest") }
  }

  /// Reads the value of a key.
  mutating func value() throws(StoreError) -> Value { try part().value() }

  /// Passes over the value of a key, which is checked as JSON then, but not yet as a value.
  @inline(never)
  mutating func part() throws(StoreError) -> JSONPart {
    let place = try scanner.scanPart()
    return JSONPart(bytes: UnsafeBufferPointer(rebasing: scanner.bytes[place]), findings: scanner.findings)
  }

  /// Passes over the value of a key; an object may be of any size.
  mutating func pass() throws(StoreError) {
    guard try open() else {
      _ = try part()
      return
    }
    while try nextKey() != nil { _ = try part() }
  }

  /// Opens the value of a key if it is an object.
  @inline(never)
  mutating func open() throws(StoreError) -> Bool {
    scanner.skipSpace()
    guard scanner.next == "{" else { return false }
    guard keys.count < JSONScanner.bracketNesting else { throw StoreError.nestedTooDeeply(at: scanner.position) }
    scanner.position += 1
    keys.append([])
    isBehindMember = false
    return true
  }

  /// What the value of a key begins as.
  enum Ahead {
    case noObject, emptyObject, object
    /// An object whose first key has a dollar sign in front, as the forms of Extended JSON.
    case form
  }

  func ahead() throws(StoreError) -> Ahead {
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
struct JSONPart {
  fileprivate let bytes: UnsafeBufferPointer<UInt8>
  fileprivate let findings: JSONFindings

  /// How many bytes of memory the value takes, at most.
  var memory: Int { findings.memory }

  /// Reads the value.
  ///
  /// Throws `invalid` or `tooLarge` for one that is JSON, but cannot be stored.
  /// - Parameter isSchema: whether it is a JSON Schema, whose words may begin with a dollar sign.
  @inline(never)
  func value(isSchema: Bool = false) throws(StoreError) -> Value {
    let value = try JSONBuilder.value(of: bytes, findings, isSchema: isSchema)
    try value.checkSize()
    return value
  }
}
