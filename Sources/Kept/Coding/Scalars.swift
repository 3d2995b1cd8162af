// Bools, text and bytes are stored as their own kinds, without parsing or conversion.

public import FoundationEssentials
import KeptSchema
import KeptValues

extension Bool: Storable, CodedAsStored {
  public init(stored value: Value) throws(StoreError) {
    guard case .bool(let bool) = value else { throw .mismatch(value, asked: .bool) }
    self = bool
  }

  public func stored() -> Value { .bool(self) }

  public static var schema: Schema? { .boolean }
}

extension String: Storable, CodedAsStored {
  public init(stored value: Value) throws(StoreError) {
    guard case .string(let text) = value else { throw .mismatch(value, asked: .string) }
    self = text
  }

  public func stored() -> Value { .string(self) }

  public static var schema: Schema? { .string }
}

extension Data: Storable, CodedAsStored {
  public init(stored value: Value) throws(StoreError) {
    guard case .bytes(let bytes) = value else { throw .mismatch(value, asked: .bytes) }
    self.init(bytes)
  }

  public func stored() -> Value { .bytes(Array(self)) }

  public static var schema: Schema? { .bytes }
}
