// What a key may hold: one JSON Schema object, read once and asked at every write.

/// The declaration of a key: its type, and what else its values must be.
///
/// Two declarations are equal when their canonical texts are, byte by byte.
public final class Declaration: Sendable {
  /// The canonical text: numbers in the form of their type, and without `$comment`.
  public let json: String
  /// The declared type; of an ``unreadable`` declaration it says nothing.
  public let type: DeclaredType
  /// What a key without a value reads as, in the form that a store keeps.
  public let defaultValue: Value?
  /// What the key is for, in a line.
  public let summary: String?
  /// Whether values must stay out of messages and logs.
  public let isSecret: Bool
  /// Why this version cannot judge values by what is stored; a later one has written it.
  package let unreadable: StoreError?

  private let schema: Schema

  /// The largest canonical text, in bytes.
  public static let largestText = 64 << 10

  /// Reads a declaration from JSON.
  ///
  /// Throws `invalid` for a text or a word that is wrong, `unsupported` for a word that Kept does not know, and
  /// `tooLarge` beyond ``largestText``. A key such as `$id` needs no `$literal` around its object here.
  public convenience init(json: String) throws(StoreError) {
    try self.init(Value(schemaJSON: json))
  }

  /// Reads a declaration from a value.
  public convenience init(_ schema: Value) throws(StoreError) {
    self.init(try RootSchema(schema))
  }

  init(_ root: RootSchema) {
    json = root.json
    type = root.type
    defaultValue = root.defaultValue
    summary = root.summary
    isSecret = root.isSecret
    self.schema = root.schema
    unreadable = nil
  }

  /// The declaration that a store holds; see ``unreadable``.
  package static func stored(_ text: String) -> Declaration {
    do {
      return try Declaration(json: text)
    } catch {
      return Declaration(unreadable: text, because: error)
    }
  }

  private init(unreadable text: String, because error: StoreError) {
    json = text
    type = .object
    defaultValue = nil
    summary = nil
    // Whoever cannot read it cannot know.
    isSecret = true
    schema = Schema()
    unreadable = StoreError(
      .unsupported, "is declared in a way that this version cannot read; use the newer one. \(error.message)")
  }

  /// The value as it is stored under the declared key: 1.0 as 1 for an integer, 1 as 1.0 for a number, also inside.
  ///
  /// Throws `wrongType` for a value of another type, and `invalid` for one that breaks a rule.
  public func admitted(_ value: Value) throws(StoreError) -> Value {
    if let unreadable { throw unreadable }
    var admission = Admission(isSecret: isSecret)
    return try admission.admit(value, to: schema)
  }

  /// Throws `typeConflict` if the key was declared with another type, and `unsupported` if that cannot be known.
  package func follows(_ old: Declaration) throws(StoreError) {
    if let unreadable = unreadable ?? old.unreadable { throw unreadable }
    guard type == old.type else {
      throw StoreError(
        .typeConflict,
        "is declared with type \(old.type) and cannot be declared with type \(type); undeclare it first")
    }
  }
}

extension Declaration: Hashable {
  public static func == (a: Declaration, b: Declaration) -> Bool {
    a === b || ExactString(a.json) == ExactString(b.json)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(ExactString(json)) }
}
