// The keys that providers have: 32 bytes, as they are or as a line of text.

import CSodium
import KeptValues

enum ProviderKey {
  /// The longest form, with room for a line end.
  static let mostBytes = 64
  static let form = "a key is 32 bytes, or their base64 in one line, as openssl rand -base64 32 prints it"
  private static let textBytes = 44

  /// Reads a key; nil if the bytes are none.
  static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) -> LockedBytes? {
    if bytes.count == Seal.keyBytes { return try LockedBytes(copying: bytes) }
    var count = bytes.count
    if count > 0, bytes[count - 1] == UInt8(ascii: "\n") { count -= 1 }
    if count > 0, bytes[count - 1] == UInt8(ascii: "\r") { count -= 1 }
    guard count == textBytes else { return nil }
    let sodium = try Sodium.load()
    var isKey = false
    let key = try LockedBytes(count: Seal.keyBytes) { key in
      var read = 0
      bytes.withMemoryRebound(to: CChar.self) { text in
        let status = sodium.functions.pointee.sodium_base642bin(
          key.baseAddress, key.count, text.baseAddress, count, nil, &read, nil, Int32(KEPT_BASE64))
        isKey = status == 0 && read == Seal.keyBytes
      }
    }
    return isKey ? key : nil
  }

  /// The key as a line of text.
  static func line(_ key: LockedBytes) throws(StoreError) -> LockedBytes {
    let sodium = try Sodium.load()
    return try LockedBytes(count: textBytes + 1) { text throws(StoreError) in
      try key.withBytes { key in
        text.withMemoryRebound(to: CChar.self) { text in
          _ = sodium.functions.pointee.sodium_bin2base64(
            text.baseAddress, text.count, key.baseAddress, key.count, Int32(KEPT_BASE64))
        }
      }
      text[textBytes] = UInt8(ascii: "\n")
    }
  }
}
