// The section "Declarations" of kept.h: what a key holds.

public import CKept
import CPlatform
import KeptCore
import KeptSchema
import KeptValues

@_cdecl("kept_declare_json") @implementation
public func kept_declare_json(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ schema: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let settings = try store.settings()
    let key = try key.key()
    let declaration: Declaration
    do throws(StoreError) {
      declaration = try Declaration(json: schema.schema())
    } catch {
      throw error.about(key.text)
    }
    return try settings.declare(declaration, forKey: key.text)?.asMisfit
  }
}

@_cdecl("kept_declare_list") @implementation
public func kept_declare_list(
  _ store: OpaquePointer?, _ schema: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let (settings, start) = (try store.settings(), try schema.required("schema"))
    let text = UnsafeRawBufferPointer(start: start, count: strlen(start))
    return try settings.declare(text) { () throws(StoreError) in try DeclarationList(json: schema.schema()) }
      .first?.asMisfit
  }
}

@_cdecl("kept_declare_file") @implementation
public func kept_declare_file(
  _ store: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    try store.settings().declare(contentsOf: path.text("path")).first?.asMisfit
  }
}

@_cdecl("kept_undeclare") @implementation
public func kept_undeclare(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let settings = try store.settings()
    let key = try key.key()
    guard try settings.undeclare(key.text) else { throw undeclared(key) }
  }
}

@_cdecl("kept_declaration_json") @implementation
public func kept_declaration_json(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?,
  _ schema: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let settings = try store.reading()
    let out = try schema.required("schema")
    let key = try key.key()
    guard let declaration = try settings.declaration(forKey: key.text) else { throw undeclared(key) }
    out.pointee = try copied(declaration.json)
  }
}

@_cdecl("kept_declarations_json") @implementation
public func kept_declarations_json(
  _ store: OpaquePointer?, _ prefix: UnsafePointer<CChar>?,
  _ schema: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try schema.required("schema")
    let snapshot = try store.snapshotOrNil()
    let prefix = try prefix.text("prefix")
    let list =
      if let snapshot { try snapshot.declarations(prefix: prefix) } else {
        try store.store().declarations(prefix: prefix)
      }
    out.pointee = try copied(list.json)
  }
}

private func undeclared(_ key: KeyName) -> StoreError {
  StoreError(.absent, key: key.text, "is not declared; it may hold any value")
}

extension Optional where Wrapped == UnsafePointer<CChar> {
  /// A copy of JSON text; `invalid`, with the byte offset, for text that is not UTF-8.
  fileprivate func schema() throws(StoreError) -> String {
    let start = try required("schema")
    if let text = String(validatingCString: start) { return text }
    let text = UnsafeBufferPointer(start: start, count: strlen(start))
    var bytes = text.lazy.map { UInt8(bitPattern: $0) }.makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    var offset = 0
    while case .valid(let scalar) = parser.parseScalar(from: &bytes) { offset += scalar.count }
    throw StoreError(.invalid, offset: offset, "the schema is not UTF-8; convert it first")
  }
}

extension StoreError {
  /// The warning that the declaration was made, but the stored value does not fit.
  fileprivate var asMisfit: StoreError { StoreError(.misfit, key: key, message) }
}
