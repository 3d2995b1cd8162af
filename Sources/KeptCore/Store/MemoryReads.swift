// Fast reads from memory: if the index has the value, it is copied out. In every other case, such as another kind or a
// closed store, the ordinary path must read it. Each read looks the key up once, or twice if its value has no room in a
// slot.

import CPlatform
public import KeptValues

/// The result of a read from memory.
@usableFromInline package enum MemoryRead {
  case value
  case absent
  /// The ordinary path must read the key.
  case unknown
}

/// Reads through the words of a handle, whether or not its store is still open.
// @unchecked: the words are only accessed atomically.
package struct MemoryReads: @unchecked Sendable {
  private let words: UnsafePointer<kept_read_context>

  init(_ handle: ReadContext) { words = UnsafePointer(handle.words) }

  /// - Parameter address: an address lent by a ``ReadContext``.
  @inline(__always)
  package init(_ address: OpaquePointer) { words = UnsafePointer(address) }

  @inline(__always)
  package func readBool(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Bool>) -> MemoryRead {
    var word: UInt64 = 0
    switch readWord(key, &word) {
    case KEPT_SLOT_BOOL:
      out.pointee = word == 1
      return .value
    case KEPT_SLOT_ABSENT: return .absent
    case KEPT_SLOT_UNKNOWN: return .unknown
    default: break
    }
    return fromIndex(key) { value in value.asBool.map { out.pointee = $0 } }
  }

  @inline(__always)
  package func readInt64(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Int64>) -> MemoryRead {
    var word: UInt64 = 0
    switch readWord(key, &word) {
    case KEPT_SLOT_INT:
      out.pointee = Int64(bitPattern: word)
      return .value
    case KEPT_SLOT_ABSENT: return .absent
    case KEPT_SLOT_UNKNOWN: return .unknown
    default: break
    }
    return fromIndex(key) { value in value.asInt64.map { out.pointee = $0 } }
  }

  @inline(__always)
  package func readDouble(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Double>) -> MemoryRead {
    var word: UInt64 = 0
    switch readWord(key, &word) {
    case KEPT_SLOT_DOUBLE:
      out.pointee = Double(bitPattern: word)
      return .value
    case KEPT_SLOT_ABSENT: return .absent
    case KEPT_SLOT_UNKNOWN: return .unknown
    default: break
    }
    return fromIndex(key) { value in value.asDouble.map { out.pointee = $0 } }
  }

  /// Copies text and a terminating NUL, if they fit.
  @inline(__always)
  package func readString(
    _ key: PreparedBytes, _ buffer: UnsafeMutableRawPointer, _ capacity: Int, _ length: inout Int
  ) -> MemoryRead {
    let text = buffer.assumingMemoryBound(to: CChar.self)
    let seen = kept_seqlock_read_text(words, key.bytes.baseAddress, key.bytes.count, key.hash, text, capacity, &length)
    switch seen {
    case KEPT_SLOT_TEXT: return .value
    case KEPT_SLOT_ABSENT: return .absent
    case KEPT_SLOT_UNKNOWN: return .unknown
    default: break
    }
    return fromIndex(key) { value in
      guard case .string(let text) = value else { return nil }
      let copied: Bool? = text.utf8.withContiguousStorageIfAvailable { bytes in
        // C counts are unsigned.
        guard UInt(bitPattern: capacity) > UInt(bytes.count), let start = bytes.baseAddress else { return false }
        buffer.copyMemory(from: start, byteCount: bytes.count)
        buffer.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
        length = bytes.count
        return true
      }
      return copied == true ? () : nil
    }
  }

  /// The index entry of a key: a value, or that the key is absent; nil if the ordinary path must read it.
  @inline(__always)
  func known(_ key: PreparedBytes) -> Value?? {
    var word: UInt64 = 0
    switch readWord(key, &word) {
    case KEPT_SLOT_ABSENT: return .some(nil)
    case KEPT_SLOT_BOOL: return .bool(word == 1)
    case KEPT_SLOT_INT: return .int(Int64(bitPattern: word))
    case KEPT_SLOT_DOUBLE: return .double(Double(bitPattern: word))
    case KEPT_SLOT_UNKNOWN: return nil
    default: return withEntry(key) { .some($0.value) }
    }
  }

  /// The value of a key; nil if the ordinary path must read it.
  @inline(never)
  package func value(_ key: PreparedBytes) -> Value? { known(key) ?? nil }

  /// The kind of a key's value, and a bool, an integer or the bits of a double.
  @inline(__always)
  private func readWord(_ key: PreparedBytes, _ word: inout UInt64) -> Int {
    kept_seqlock_read_word(words, key.bytes.baseAddress, key.bytes.count, key.hash, &word)
  }

  /// Passes the value of a key to `copy` if the index has it; nil from `copy` leaves the key to the ordinary path.
  @inline(__always)
  private func fromIndex(_ key: PreparedBytes, _ copy: (Value) -> Void?) -> MemoryRead {
    withEntry(key) { $0.value.flatMap(copy) } == nil ? .unknown : .value
  }

  /// Passes the entry of a key to `body`; nil if there is none or if the store is closed.
  @inline(__always)
  private func withEntry<Result>(_ key: PreparedBytes, _ body: (MemoryEntry) -> Result?) -> Result? {
    let place = kept_read_context_generation(words)
    let generation = place.map(kept_load64) ?? 1
    guard generation % 2 == 0, let header = kept_read_context_header(words) else { return nil }
    return Unmanaged<MemoryIndex>.fromOpaque(header.pointee.index)._withUnsafeGuaranteedRef { index in
      // Inside, the entry that was found stays allocated, and while the handle is open it belongs to this store.
      index.read(key, at: generation) { kept_read_context_generation(words) == place ? body($0) : nil }
    }
  }
}

// releasenone: what a caller holds still exists afterwards, so a reader need not retain key and store again. Four
// reference count changes took 27 of the 38 ns of a property read.
extension Store {
  @_effects(releasenone)
  @usableFromInline package func readBool(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Bool>) -> MemoryRead {
    reads.readBool(key, out)
  }

  @_effects(releasenone)
  @usableFromInline package func readInt64(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Int64>) -> MemoryRead {
    reads.readInt64(key, out)
  }

  @_effects(releasenone)
  @usableFromInline package func readDouble(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Double>) -> MemoryRead {
    reads.readDouble(key, out)
  }

  /// The index entry of a key: a value, or that the key is absent; nil if the ordinary path must read it.
  @usableFromInline package func known(_ key: PreparedBytes) -> Value?? { reads.known(key) }
}
