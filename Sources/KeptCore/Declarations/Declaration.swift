// stub until merged
public final class Declaration: Sendable, Hashable {
  package let unreadable: StoreError?
  public let json: String
  public let type: DeclaredType
  public let defaultValue: Value?
  public let summary: String?
  public let isSecret: Bool
  public init(_ schema: Value) throws(StoreError) { unreadable = nil; json = schema.json; type = .integer; defaultValue = nil; summary = nil; isSecret = false }
  public convenience init(json: String) throws(StoreError) { try self.init(Value(json: json)) }
  package static func stored(_ text: String) -> Declaration { try! Declaration(json: text) }
  public func admitted(_ value: Value) throws(StoreError) -> Value { value }
  package func follows(_ old: Declaration) throws(StoreError) {}
  public static func == (a: Declaration, b: Declaration) -> Bool { a.json == b.json }
  public func hash(into hasher: inout Hasher) { hasher.combine(json) }
}
public struct DeclarationList: Sendable {
  public var declarations: [(key: KeyName, declaration: Declaration)]
  public init(json: String) throws(StoreError) { declarations = [] }
  public init(contentsOf path: String) throws(StoreError) { declarations = [] }
  public init(_ d: [(key: KeyName, declaration: Declaration)]) { declarations = d }
  public var json: String { "" }
}
