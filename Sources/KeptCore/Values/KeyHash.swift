// The hash of keys that every table of this process uses.

import CPlatform

enum KeyHash {
  // One seed for the process, so that a prepared key serves every store.
  private static let seed = UInt64.random(in: 1 ... .max)

  @inline(__always)
  static func of(_ key: UnsafeBufferPointer<UInt8>) -> UInt64 { kept_hash(key.baseAddress, key.count, seed) }
}
