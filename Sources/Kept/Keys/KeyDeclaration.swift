// Creates the declaration of a key from its type, its constraints, its default, its summary, and whether it is secret.

import KeptSchema
import KeptValues

/// The properties of a key except its name and its type.
struct KeyDescription: Sendable {
  var rules: [@Sendable (inout Schema) throws(StoreError) -> Void] = []
  var summary: String?
  var isSecret = false
}

extension Key {
  /// The declaration, with the current value of the default.
  ///
  /// Throws `unsupported` for a type without a particular schema, and `invalid` for contradictions.
  func makeDeclaration() throws(StoreError) -> Declaration {
    do throws(StoreError) { return try Declaration(try schema().atRoot) } catch { throw error.about(name) }
  }

  private func schema() throws(StoreError) -> Schema {
    let stored = try write(defaultValue)
    guard var schema = coding.stored.schema ?? Schema(kindOf: stored) else {
      throw StoreError(
        .unsupported,
        "cannot be declared: neither \(coding.stored) nor a default specifies its type; give the type a schema")
    }
    for rule in description.rules { try rule(&schema) }
    schema["default"] = stored == .null ? nil : stored
    schema["summary"] = description.summary.map { .string($0) }
    schema["secret"] = description.isSecret ? true : nil
    return schema
  }
}
