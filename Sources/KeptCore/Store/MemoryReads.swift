// Reading at the speed of memory: what the index knows is copied out at once, and the answer is true. Whatever is not
// as plain as that, an absent key, another kind, a closed store, is false: the ordinary way knows how to say it.

import CPlatform

// releasenone: what a caller holds is still there afterwards, so a reader need not hold key and store once more. Four
// changes of a count were 27 of the 38 ns that a property took.
extension Store {
  @_effects(releasenone)
  @_optimize(speed)
  @usableFromInline package func readBool(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Bool>) -> Bool {
    var word: UInt64 = 0
    switch glance(key, &word) {
    case KEPT_GLANCE_BOOL:
      out.pointee = word == 1
      return true
    case KEPT_GLANCE_ABSENT: return false
    default: break
    }
    return fromMemory(key) { value in value.asBool.map { out.pointee = $0 } }
  }

  @_effects(releasenone)
  @_optimize(speed)
  @usableFromInline package func readInt64(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Int64>) -> Bool {
    var word: UInt64 = 0
    switch glance(key, &word) {
    case KEPT_GLANCE_INT:
      out.pointee = Int64(bitPattern: word)
      return true
    case KEPT_GLANCE_ABSENT: return false
    default: break
    }
    return fromMemory(key) { value in value.asInt64.map { out.pointee = $0 } }
  }

  @_effects(releasenone)
  @_optimize(speed)
  @usableFromInline package func readDouble(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Double>) -> Bool {
    var word: UInt64 = 0
    switch glance(key, &word) {
    case KEPT_GLANCE_DOUBLE:
      out.pointee = Double(bitPattern: word)
      return true
    case KEPT_GLANCE_ABSENT: return false
    default: break
    }
    return fromMemory(key) { value in value.asDouble.map { out.pointee = $0 } }
  }

  /// Copies text and a NUL, if they fit.
  @_optimize(speed)
  package func readString(
    _ key: PreparedBytes, _ buffer: UnsafeMutableRawPointer, _ capacity: Int, _ length: inout Int
  ) -> Bool {
    let text = buffer.assumingMemoryBound(to: CChar.self)
    let seen = glance { window, generation in
      kept_glance_text(
        window, generation, key.bytes.baseAddress, key.bytes.count, key.hash, text, capacity, &length)
    }
    if seen == KEPT_GLANCE_TEXT { return true }
    return fromMemory(key) { value in
      guard case .string(let text) = value else { return nil }
      let copied: Bool? = text.utf8.withContiguousStorageIfAvailable { bytes in
        guard bytes.count < capacity, let start = bytes.baseAddress else { return false }
        buffer.copyMemory(from: start, byteCount: bytes.count)
        buffer.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
        length = bytes.count
        return true
      }
      return copied == true ? () : nil
    }
  }

  /// What the index knows of a key: a value, or that it is absent; nil leaves the key to the ordinary way.
  @_optimize(speed)
  package func known(_ key: PreparedBytes) -> Value?? {
    guard let local = shared.local, !hasEnded else { return nil }
    var word: UInt64 = 0
    switch glance(key, &word) {
    case KEPT_GLANCE_ABSENT: return .some(nil)
    case KEPT_GLANCE_BOOL: return .bool(word == 1)
    case KEPT_GLANCE_INT: return .int(Int64(bitPattern: word))
    case KEPT_GLANCE_DOUBLE: return .double(Double(bitPattern: word))
    default: break
    }
    return local._withUnsafeGuaranteedRef { local in local.indexed(key, in: layering.index) { $0.value } }
  }

  /// What kind of thing a key has, and a bool, an integer or the bits of a double.
  @inline(__always)
  @_optimize(speed)
  private func glance(_ key: PreparedBytes, _ word: inout UInt64) -> Int {
    glance { window, generation in
      kept_glance_word(window, generation, key.bytes.baseAddress, key.bytes.count, key.hash, &word)
    }
  }

  @inline(__always)
  @_optimize(speed)
  private func glance(_ look: (UnsafePointer<kept_window>, UInt64) -> Int) -> Int {
    guard let local = shared.local, !hasEnded else { return KEPT_NO_GLANCE }
    return local._withUnsafeGuaranteedRef { $0.glance(in: layering.index, look) }
  }

  /// Gives `copy` the value of a key if the index knows one; nil from it leaves the key to the ordinary way.
  @inline(__always)
  @_optimize(speed)
  private func fromMemory(_ key: PreparedBytes, _ copy: (Value) -> Void?) -> Bool {
    guard let local = shared.local, !hasEnded else { return false }
    let isDone = local._withUnsafeGuaranteedRef { local in
      local.indexed(key, in: layering.index) { entry in entry.value.flatMap(copy) != nil }
    }
    return isDone == true
  }
}
