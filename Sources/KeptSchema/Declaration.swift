// The declaration of a key: one JSON Schema object, parsed once and checked at every write.

import KeptSystem
public import KeptValues
import Synchronization

/// The declaration of a key: its type, and the constraints on its values.
///
/// Two declarations are equal when their canonical texts are, byte by byte.
// @unchecked for `known`, a word that is only accessed atomically.
public final class Declaration: @unchecked Sendable {
  /// The canonical text: numbers in the form of their type, and without `$comment`.
  public let json: String
  // A stored declaration is parsed on first use: many are only compared or copied. An AtomicLazyReference would do, but
  // looks up its own type at each use.
  private let known = Atomic<UnsafeRawPointer?>(nil)

  /// The declared type.
  ///
  /// It is meaningless if a later version has written the declaration.
  public var type: DeclaredType { contents.type }
  /// The default value of the key, in stored form.
  public var defaultValue: Value? { contents.defaultValue }
  /// The purpose of the key, in one line.
  public var summary: String? { contents.summary }
  /// Whether values must be kept out of messages and logs.
  public var isSecret: Bool { contents.isSecret }
  /// The name that the key had before.
  ///
  /// Declaring the key moves the value stored under it, or removes it if the key has a newer one.
  public var formerName: KeyName? { contents.formerName }
  /// ``formerName``; a declaration that has none is not parsed.
  package var writtenFormerName: KeyName? {
    let names = ExactString(json).withBytes { DeclarationList.formerNames(in: UnsafeRawBufferPointer($0)) }
    return names.isEmpty ? nil : formerName
  }
  /// Why values cannot be checked against the stored declaration: `unsupported` if a later version has written it,
  /// `corrupt` if it is not a JSON object.
  package var unreadable: StoreError? { contents.unreadable }

  /// The largest canonical text, in bytes.
  public static let largestText = 64 << 10

  /// Parses a declaration from JSON.
  ///
  /// Throws `invalid` for an invalid text or keyword, `unsupported` for a keyword that Kept does not support, and
  /// `tooLarge` beyond ``largestText``. An object with a key such as `$id` needs no `$literal` around it here.
  public convenience init(json: String) throws(StoreError) {
    try self.init(Value(schemaJSON: json))
  }

  /// Parses a declaration from a value.
  public convenience init(_ schema: Value) throws(StoreError) {
    self.init(try RootSchema(schema))
  }

  package convenience init(_ root: RootSchema) {
    self.init(stored: root.json)
    keep(Contents(root))
  }

  /// The stored declaration of a key whose own may have been lost with damage.
  ///
  /// The key may have been secret, so its values, which may be any, are not shown until it is declared again or
  /// undeclared.
  public static let lost = Declaration(stored: "{\"lost\":true}")

  /// The declaration that a store holds; see ``unreadable``.
  package static func stored(_ text: String) -> Declaration { Declaration(stored: text) }

  private init(stored text: String) { json = text }

  deinit {
    if let contents = known.load(ordering: .acquiring) { Unmanaged<Contents>.fromOpaque(contents).release() }
  }

  @inline(__always)
  private var contents: Contents {
    if let contents = known.load(ordering: .acquiring) { return Self.contents(contents) }
    return readContents()
  }

  @inline(never)
  private func readContents() -> Contents {
    let text = ExactString(json)
    if let known = Self.read.read({ $0.contents[text] }) { return keep(known) }
    let contents = Contents(stored: json)
    if contents.unreadable?.mayPass == true { return contents }
    Self.read.updateQuietly { $0.add(contents, of: text) }
    return keep(contents)
  }

  // A storage makes a new object of a stored declaration whenever it reads one.
  private static let read = Monitor(ReadContents())

  /// Stores the parsed contents, unless another thread was faster.
  @discardableResult
  private func keep(_ contents: Contents) -> Contents {
    let own = Unmanaged.passRetained(contents)
    let (_, other) = known.compareExchange(
      expected: nil, desired: UnsafeRawPointer(own.toOpaque()), ordering: .acquiringAndReleasing)
    guard let other else { return contents }
    own.release()
    return Self.contents(other)
  }

  private static func contents(_ known: UnsafeRawPointer) -> Contents {
    Unmanaged<Contents>.fromOpaque(known).takeUnretainedValue()
  }

  /// Parses a stored declaration now, for callers that would otherwise treat a value as secret because its declaration
  /// is unknown.
  ///
  /// Throws `failed` if there is not enough memory, and `unavailable` without the library for its pattern.
  package func makeKnown() throws(StoreError) {
    if let unreadable, unreadable.mayPass { throw unreadable }
  }

  /// Checks the stored text before it becomes a part of a longer one.
  ///
  /// Throws `corrupt` if it is not a JSON object, and `failed` if there is not enough memory.
  package func checkText(of key: KeyName) throws(StoreError) {
    if isObject { return }
    if let unreadable, unreadable.code != .unsupported { throw unreadable.about(key.text) }
  }

  /// Whether the text is a JSON object, without parsing it.
  private var isObject: Bool {
    ExactString(json).withBytes { text in
      guard text.first == UInt8(ascii: "{") else { return false }
      do throws(StoreError) {
        _ = try JSONScanner.scan(text)
        return true
      } catch { return false }
    }
  }

  /// The declaration with another value of a keyword, or without it.
  package func changing(_ word: ExactString, to value: Value?) throws(StoreError) -> Declaration {
    guard var words = try Value(schemaJSON: json).asDictionary else { return self }
    words[word] = value
    return try Declaration(.dictionary(words))
  }

  /// The value as it is stored under the declared key: 1.0 as 1 for an integer, 1 as 1.0 for a number, also inside
  /// containers.
  ///
  /// Throws `wrongType` for a value of another type, and `invalid` for one that violates a constraint.
  public func admitted(_ value: Value) throws(StoreError) -> Value { try admitted(value, from: nil) }

  /// Admits a value; if `hidden`, no error quotes it, as if this declaration were secret.
  package func admitted(_ value: Value, hidden: Bool) throws(StoreError) -> Value {
    try admitted(value, from: nil, hidden: hidden)
  }

  /// Admits one of many values, which together may not take longer than a few searches that are stopped.
  package func admitted(_ value: Value, from pool: Pattern.Pool?, hidden: Bool = false) throws(StoreError) -> Value {
    let contents = contents
    if let unreadable = contents.unreadable {
      // Nothing says that the key was declared at all.
      if self == .lost { return value }
      throw unreadable
    }
    var admission = Admission(isSecret: hidden || contents.isSecret, effort: Pattern.Effort(of: pool))
    defer { pool?.spend(admission.effort) }
    return try admission.admit(value, to: contents.schema)
  }

  /// The warning for a value that was set although the key, or a part of the value, is declared as deprecated.
  ///
  /// Returns nil if nothing is deprecated. The message quotes nothing of a secret.
  package func deprecation(of value: Value) -> StoreError? {
    let contents = contents
    guard contents.schema.mentionsDeprecated, let place = contents.schema.deprecation(in: value) else { return nil }
    let summary = contents.summary.map { " (summary: \(Excerpt.of($0)))" } ?? ""
    if place.isRoot {
      let other = contents.replacement.map { "\"\(Excerpt.of($0.text))\"" } ?? "its replacement"
      return StoreError(.deprecated, "was set, but is declared as deprecated; set \(other) instead\(summary)")
    }
    let shown = contents.isSecret ? "a deprecated part" : "the deprecated part \(place)"
    return StoreError(.deprecated, "was set with \(shown); leave it out\(summary)")
  }

  /// Throws `typeConflict` if the key was declared with another type, and `unsupported` if that cannot be determined.
  ///
  /// Any declaration may follow a damaged one.
  package func follows(_ old: Declaration) throws(StoreError) {
    if let unreadable { throw unreadable }
    if let unreadable = old.unreadable {
      guard unreadable.code == .corrupt else { throw unreadable }
      return
    }
    guard type == old.type else {
      throw StoreError(
        .typeConflict,
        "is declared with type \(old.type) and cannot be declared with type \(type); undeclare it first")
    }
  }
}

extension Value {
  /// Whether it is the text of ``Declaration/lost``.
  package var isLostDeclaration: Bool { self == .dictionary(["lost": true]) }
}

extension Declaration: Hashable {
  public static func == (a: Declaration, b: Declaration) -> Bool {
    a === b || ExactString(a.json) == ExactString(b.json)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(ExactString(json)) }
}

extension StoreError {
  /// Whether a later attempt to read a declaration may have enough memory, or the library for its pattern.
  fileprivate var mayPass: Bool { code == .failed || code == .unavailable }

  /// The message without its remedy.
  fileprivate var finding: String { String(message.utf8.prefix { $0 != UInt8(ascii: ";") }) ?? message }
}

/// The contents of the stored declarations that this process has read last, by their texts.
private struct ReadContents {
  private(set) var contents: [ExactString: Contents] = [:]
  private var bytes = 0

  private static let mostBytes = 256 << 10

  mutating func add(_ new: Contents, of text: ExactString) {
    bytes += text.text.utf8.count
    if bytes > Self.mostBytes { (contents, bytes) = ([:], text.text.utf8.count) }
    contents[text] = new
  }
}

/// The parsed text of a declaration.
private final class Contents: Sendable {
  let type: DeclaredType
  let defaultValue: Value?
  let summary: String?
  let replacement: KeyName?
  let formerName: KeyName?
  let isSecret: Bool
  let unreadable: StoreError?
  let schema: Schema

  init(_ root: RootSchema) {
    type = root.type
    defaultValue = root.defaultValue
    summary = root.summary
    replacement = root.replacement
    formerName = root.formerName
    isSecret = root.isSecret
    schema = root.schema
    unreadable = nil
  }

  convenience init(stored text: String) {
    if ExactString(text) == ExactString(Declaration.lost.json) {
      self.init(
        unreadable: StoreError(
          .corrupt,
          "may have lost its declaration when the store was salvaged; declare the key again, or undeclare it"))
      return
    }
    do throws(StoreError) {
      let schema = try Self.object(text)
      do throws(StoreError) {
        self.init(try RootSchema(schema))
      } catch {
        self.init(
          unreadable: error.mayPass
            ? error
            : StoreError(
              .unsupported, "has a declaration that this version cannot read (\(error.finding)); use a newer version"))
      }
    } catch {
      self.init(unreadable: error)
    }
  }

  private static func object(_ text: String) throws(StoreError) -> Value {
    let reason: String
    do throws(StoreError) {
      let schema = try Value(schemaJSON: text)
      if schema.asDictionary != nil { return schema }
      reason = "it is \(schema.describedAsJSON), not an object"
    } catch {
      guard error.code != .failed else { throw error }
      reason = error.finding
    }
    throw StoreError(.corrupt, "has a damaged declaration: \(reason); declare the key again")
  }

  private init(unreadable error: StoreError) {
    type = .object
    defaultValue = nil
    summary = nil
    replacement = nil
    formerName = nil
    // If it cannot be parsed, it may be secret.
    isSecret = true
    schema = Schema()
    unreadable = error
  }
}
