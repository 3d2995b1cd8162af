// Substrings are stored as text. The text around them is not kept.

import KeptSchema
import KeptValues

extension Substring: Storable {
  public init(stored value: Value) throws(StoreError) { self.init(try String(stored: value)) }

  public func stored() -> Value { .string(String(self)) }

  public static var schema: Schema? { .string }
}
