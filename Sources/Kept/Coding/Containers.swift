// Optionals, arrays and dictionaries in the store, and errors with a place inside them.

import KeptSchema
import KeptValues

/// nil is the absence of a value: it removes the key, and is null inside arrays and dictionaries.
extension Optional: Storable where Wrapped: Storable {
  public init(stored value: Value) throws(StoreError) {
    self = if case .null = value { nil } else { try Wrapped(stored: value) }
  }

  public func stored() throws(StoreError) -> Value {
    guard let wrapped = self else { return .null }
    let value = try wrapped.stored()
    guard value != .null else {
      throw StoreError(.invalid, "the value is .some(nil), which would be read back as nil; write nil")
    }
    return value
  }

  public static var schema: Schema? {
    var schema = Wrapped.schema
    schema?.allowsNull = true
    return schema
  }
}

extension Array: Storable where Element: Storable {
  public init(stored value: Value) throws(StoreError) {
    guard case .array(let values) = value else { throw .mismatch(value, asked: .array) }
    self.init()
    reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      do { append(try Element(stored: value)) } catch { throw error.at(.element(index)) }
    }
  }

  public func stored() throws(StoreError) -> Value {
    var values: [Value] = []
    values.reserveCapacity(count)
    for (index, element) in enumerated() {
      do { values.append(try element.stored()) } catch { throw error.at(.element(index)) }
    }
    return .array(values)
  }

  public static var schema: Schema? { .array(of: Element.schema) }
}

// Dictionaries with other keys are not Storable, on purpose: JSON could not show them to C and Python.
extension Dictionary: Storable where Key == String, Value: Storable {
  public init(stored value: KeptValues.Value) throws(StoreError) {
    guard case .dictionary(let members) = value else { throw .mismatch(value, asked: .dictionary) }
    self.init(minimumCapacity: members.count)
    for member in try members.checkedForMergedNames() {
      let name = member.key.text
      do { self[name] = try Value(stored: member.value) } catch { throw error.at(.member(name)) }
    }
  }

  public func stored() throws(StoreError) -> KeptValues.Value {
    var pairs: [(ExactString, KeptValues.Value)] = []
    pairs.reserveCapacity(count)
    for (name, value) in self {
      do { pairs.append((ExactString(name), try value.stored())) } catch { throw error.at(.member(name)) }
    }
    return .dictionary(ValueDictionary(pairs))
  }

  public static var schema: Schema? { .object(of: Value.schema) }
}
