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
    let seen = kept_read_text(words, key.bytes.baseAddress, key.bytes.count, key.hash, text, capacity, &length)
    switch seen {
    case KEPT_SLOT_TEXT: return .value
    case KEPT_SLOT_ABSENT: return .absent
    case KEPT_SLOT_UNKNOWN: return .unknown
    default: break
    }
    func copy(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Void? {
      // C counts are unsigned.
      guard UInt(bitPattern: capacity) > UInt(count), let start else { return nil }
      buffer.copyMemory(from: start, byteCount: count)
      buffer.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
      length = count
      return ()
    }
    return fromIndex(key) { value in
      guard case .string(let text) = value else { return nil }
      return text.utf8.withContiguousStorageIfAvailable { copy($0.baseAddress, $0.count) } ?? nil
    } orCopy: { stored in
      stored.kind == KEPT_STORED_STRING ? copy(stored.bytes, Int(stored.count)) : nil
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
    case KEPT_SLOT_TEXT: return withEntry(key) { .some($0.value) } ?? text(key)
    default: return withEntry(key) { .some($0.value) }
    }
  }

  /// A short text that has no entry.
  private func text(_ key: PreparedBytes) -> Value?? {
    withUnsafeTemporaryAllocation(byteCount: Int(KEPT_RECORDS_TEXT) + 1, alignment: 8) { buffer in
      var length = 0
      guard let start = buffer.baseAddress, readString(key, start, buffer.count, &length) == .value else { return nil }
      return .string(String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<length]), as: UTF8.self))
    }
  }

  /// The value of a key; nil if the ordinary path must read it.
  @inline(never)
  package func value(_ key: PreparedBytes) -> Value? { known(key) ?? nil }

  /// The kind of a key's value, and a bool, an integer or the bits of a double.
  @inline(__always)
  private func readWord(_ key: PreparedBytes, _ word: inout UInt64) -> Int {
    kept_read_word(words, key.bytes.baseAddress, key.bytes.count, key.hash, &word)
  }

  /// Passes the value of a key to `copy` if the index has it; nil from `copy` leaves the key to the ordinary path.
  @inline(never)
  private func fromIndex(
    _ key: PreparedBytes, _ copy: (Value) -> Void?, orCopy: (kept_located) -> Void? = { _ in nil }
  ) -> MemoryRead {
    withEntry(key, { $0.value.flatMap(copy) }, orCopy: orCopy) == nil ? .unknown : .value
  }

  /// Passes the entry of a key to `body`, or its value in a record to `orCopy`; nil if there is neither or if the store
  /// is closed.
  @inline(__always)
  private func withEntry<Result>(
    _ key: PreparedBytes, _ body: (MemoryEntry) -> Result?, orCopy: (kept_located) -> Result? = { _ in nil }
  ) -> Result? {
    let place = kept_read_context_generation(words)
    let generation = place.map(kept_load64) ?? 1
    guard generation % 2 == 0, let header = kept_read_context_header(words) else { return nil }
    return Unmanaged<MemoryIndex>.fromOpaque(header.pointee.index)._withUnsafeGuaranteedRef { index in
      // Inside, the entry that was found stays allocated, and while the handle is open it belongs to this store.
      index.read(key, at: generation) {
        kept_read_context_generation(words) == place ? body($0) : nil
      } copy: {
        kept_read_context_generation(words) == place ? orCopy($0) : nil
      }
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
