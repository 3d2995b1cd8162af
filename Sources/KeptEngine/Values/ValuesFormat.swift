// The file `values`: a checkpoint, which is never changed (docs/internals/file-format.md describes it).

import CPlatform
package import KeptValues

package struct RecordFlags: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let declared = RecordFlags(rawValue: 1)
  /// The value does not fit the declaration, so that it reads as absent.
  package static let misfit = RecordFlags(rawValue: 2)
  /// The key was removed: it has neither a value nor a declaration.
  package static let removal = RecordFlags(rawValue: 4)

  static let all: RecordFlags = [.declared, .misfit, .removal]
}

/// A record; its bytes are in a buffer.
package struct Record {
  package var key: UnsafeRawBufferPointer
  package var value: StoredValue
  package var declaration: UnsafeRawBufferPointer
  package var flags: RecordFlags
  package var revision: Revision
  package var changed: Revision

  package init(
    key: UnsafeRawBufferPointer, value: StoredValue, declaration: UnsafeRawBufferPointer, flags: RecordFlags,
    revision: Revision, changed: Revision
  ) {
    (self.key, self.value, self.declaration) = (key, value, declaration)
    (self.flags, self.revision, self.changed) = (flags, revision, changed)
  }

  static let headBytes = 32

  /// The bytes that it takes.
  var length: Int { Self.length(key.count, value.payload.count, declaration.count) }

  /// The bytes that the record at an offset claims to take; 0 if there is none.
  static func length(_ bytes: UnsafeRawBufferPointer, at start: Int = 0) -> Int {
    guard let key = bytes.number(start + 4, UInt16.self), let value = bytes.number(start + 24, UInt32.self),
      let declaration = bytes.number(start + 28, UInt32.self), key > 0
    else { return 0 }
    return length(Int(key), Int(value), Int(declaration))
  }

  private static func length(_ key: Int, _ value: Int, _ declaration: Int) -> Int {
    (headBytes + key + value + declaration + 7) & ~7
  }

  /// The checksum of the bytes of a record.
  static func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt32 {
    let start = withUnsafeBytes(of: seed.littleEndian) { $0.checksum }
    let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(4))
    return kept_checksum(start, rest.baseAddress, rest.count)
  }

  /// Writes the record without its checksum into memory of its length.
  func write(to bytes: UnsafeMutableRawBufferPointer) {
    bytes.storeBytes(of: 0, as: UInt32.self)
    bytes.storeBytes(of: UInt16(truncatingIfNeeded: key.count).littleEndian, toByteOffset: 4, as: UInt16.self)
    bytes[6] = value.kind
    bytes[7] = flags.rawValue
    bytes.storeBytes(of: revision.littleEndian, toByteOffset: 8, as: UInt64.self)
    bytes.storeBytes(of: changed.littleEndian, toByteOffset: 16, as: UInt64.self)
    bytes.storeBytes(
      of: UInt32(truncatingIfNeeded: value.payload.count).littleEndian, toByteOffset: 24, as: UInt32.self)
    bytes.storeBytes(of: UInt32(truncatingIfNeeded: declaration.count).littleEndian, toByteOffset: 28, as: UInt32.self)
    var at = Self.headBytes
    func add(_ part: UnsafeRawBufferPointer) {
      UnsafeMutableRawBufferPointer(rebasing: bytes[at...]).copyMemory(from: part)
      at += part.count
    }
    add(key)
    add(value.payload)
    add(declaration)
    while at < bytes.count {
      bytes[at] = 0
      at += 1
    }
  }

  /// Reads the record at the beginning of a buffer.
  ///
  /// Returns nil if the bytes do not have the form of one.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let keyBytes = bytes.number(4, UInt16.self),
      let kind = bytes.number(6, UInt8.self), let flags = bytes.number(7, UInt8.self),
      let revision = bytes.number(8, UInt64.self), let changed = bytes.number(16, UInt64.self),
      let valueBytes = bytes.number(24, UInt32.self), let declarationBytes = bytes.number(28, UInt32.self),
      let key = bytes.part(from: Self.headBytes, Int(keyBytes)),
      let value = bytes.part(from: Self.headBytes + key.count, Int(valueBytes)),
      let declaration = bytes.part(from: Self.headBytes + key.count + value.count, Int(declarationBytes)),
      1...Limits.keyBytes ~= key.count, kind <= StoredValue.last, flags & ~RecordFlags.all.rawValue == 0
    else { return nil }
    self.init(
      key: key, value: StoredValue(kind: kind, payload: value), declaration: declaration,
      flags: RecordFlags(rawValue: flags), revision: revision, changed: changed)
    guard length <= bytes.count, kind != StoredValue.none || value.isEmpty,
      self.flags.contains(.declared) || declaration.isEmpty
    else { return nil }
  }
}

enum ValuesFormat {
  static let blockBytes = 4096
  static let magic: UInt64 = 0x736C_6156_7470_654B
  static let format: UInt32 = 1
  static let textsOffset = 128
  static let slotsInBlock = blockBytes / 8
  /// Of a block, in the table at the end.
  static let checksumBytes = 8
}

/// The hash of keys in one checkpoint.
struct ValuesHash {
  let hash: UInt64

  init(hash: UInt64) { self.hash = hash }

  init(_ key: UnsafeRawBufferPointer, seed: UInt64) { hash = kept_hash(key.baseAddress, key.count, seed) }

  /// Where the search begins.
  func home(_ slots: Int) -> Int {
    let low = hash & Self.lowBits
    let product = low.multipliedFullWidth(by: UInt64(slots))
    return Int(product.high << 24 | product.low >> 40)
  }

  /// The bits of a slot that are of the hash.
  var tag: UInt64 { hash & ~Self.lowBits }

  static let lowBits: UInt64 = 1 << 40 - 1
}
