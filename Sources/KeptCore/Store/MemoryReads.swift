// Reading at the speed of memory: what the index knows is copied out at once, and the answer is true. Whatever is not
// as plain as that, an absent key, another kind, a closed store, is false: the ordinary way knows how to say it.

import CPlatform

// releasenone: what a caller holds is still there afterwards, so a reader need not hold key and store once more. Four
// changes of a count were 27 of the 38 ns that a property took.
extension Store {
  @_effects(releasenone)
  @_optimize(speed)
  @usableFromInline package func readBool(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Bool>) -> Bool {
    var seen = kept_glance()
    if glance(key, &seen) {
      if seen.kind == UInt16(KEPT_GLANCE_BOOL) {
        out.pointee = seen.payload.0 == 1
        return true
      }
      if seen.kind == UInt16(KEPT_GLANCE_ABSENT) { return false }
    }
    return fromMemory(key) { value in value.asBool.map { out.pointee = $0 } }
  }

  @_effects(releasenone)
  @_optimize(speed)
  @usableFromInline package func readInt64(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Int64>) -> Bool {
    var seen = kept_glance()
    if glance(key, &seen) {
      if seen.kind == UInt16(KEPT_GLANCE_INT) {
        out.pointee = Int64(bitPattern: seen.payload.0)
        return true
      }
      if seen.kind == UInt16(KEPT_GLANCE_ABSENT) { return false }
    }
    return fromMemory(key) { value in value.asInt64.map { out.pointee = $0 } }
  }

  @_effects(releasenone)
  @_optimize(speed)
  @usableFromInline package func readDouble(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Double>) -> Bool {
    var seen = kept_glance()
    if glance(key, &seen) {
      if seen.kind == UInt16(KEPT_GLANCE_DOUBLE) {
        out.pointee = Double(bitPattern: seen.payload.0)
        return true
      }
      if seen.kind == UInt16(KEPT_GLANCE_ABSENT) { return false }
    }
    return fromMemory(key) { value in value.asDouble.map { out.pointee = $0 } }
  }

  /// Copies text and a NUL, if they fit.
  @_optimize(speed)
  package func readString(
    _ key: PreparedBytes, _ buffer: UnsafeMutableRawPointer, _ capacity: Int, _ length: inout Int
  ) -> Bool {
    var seen = kept_glance()
    if glance(key, &seen), seen.kind == UInt16(KEPT_GLANCE_TEXT), seen.count < capacity {
      length = Int(seen.count)
      withUnsafeBytes(of: &seen.payload) { text in
        UnsafeMutableRawBufferPointer(start: buffer, count: length).copyMemory(from: .init(rebasing: text[..<length]))
      }
      buffer.storeBytes(of: 0, toByteOffset: length, as: UInt8.self)
      return true
    }
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
    var seen = kept_glance()
    if glance(key, &seen), let value = seen.value { return value }
    return local._withUnsafeGuaranteedRef { local in local.indexed(key, in: layering.index) { $0.value } }
  }

  @inline(__always)
  @_optimize(speed)
  private func glance(_ key: PreparedBytes, _ seen: inout kept_glance) -> Bool {
    guard let local = shared.local, !hasEnded else { return false }
    return local._withUnsafeGuaranteedRef { $0.glance(key, in: layering.index, &seen) }
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

extension kept_glance {
  /// What was seen, if it is nothing that must be made: an absence or a scalar.
  fileprivate var value: Value?? {
    switch kind {
    case UInt16(KEPT_GLANCE_ABSENT): .some(nil)
    case UInt16(KEPT_GLANCE_BOOL): .bool(payload.0 == 1)
    case UInt16(KEPT_GLANCE_INT): .int(Int64(bitPattern: payload.0))
    case UInt16(KEPT_GLANCE_DOUBLE): .double(Double(bitPattern: payload.0))
    default: nil
    }
  }
}
