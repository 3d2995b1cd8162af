// Substrings are stored as text. The text around them is not kept.

public import KeptCore

extension Substring: Storable {
  public init(stored value: Value) throws(StoreError) { self.init(try String(stored: value)) }

  public func stored() -> Value { .string(String(self)) }

  public static var schema: Schema? { .string }
}
