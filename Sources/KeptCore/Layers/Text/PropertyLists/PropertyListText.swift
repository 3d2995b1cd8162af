// Texts that are property lists: old-style ones, such as {a=1;b=(1,2);}, and elements of XML ones, such as
// <integer>5</integer>.

import KeptValues

enum PropertyListText {
  /// The value of a complete text; nil if it is not a property list, or over the limits of a store.
  ///
  /// Throws `failed` if there is not enough memory.
  static func value(_ text: String) throws(StoreError) -> Value? {
    try Memory.ask(for: 4 * text.utf8.count, to: "read a property list")
    var text = text
    let value = text.withUTF8 { bytes in
      Result { () throws(StoreError) in try Self.value(bytes) }
    }
    return try value.get().flatMap { try? $0.checkedForStore() }
  }

  private static func value(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Value? {
    var reader = PropertyListReader(bytes)
    if let value = reader.oldStyleText() { return value }
    if let shortage = reader.shortage { throw shortage }
    reader = PropertyListReader(bytes)
    if let value = reader.xmlText() { return value }
    if let shortage = reader.shortage { throw shortage }
    return nil
  }
}
