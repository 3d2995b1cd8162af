// Reading at the speed of memory: what the index knows is copied out at once, and the answer is true. Whatever is not
// as plain as that, an absent key, another kind, a closed store, is false: the ordinary way knows how to say it.

extension Store {
  package func readBool(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Bool>) -> Bool {
    fromMemory(key) { value in value.asBool.map { out.pointee = $0 } }
  }

  package func readInt64(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Int64>) -> Bool {
    fromMemory(key) { value in value.asInt64.map { out.pointee = $0 } }
  }

  package func readDouble(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Double>) -> Bool {
    fromMemory(key) { value in value.asDouble.map { out.pointee = $0 } }
  }

  /// Copies text and a NUL, if they fit.
  package func readString(
    _ key: PreparedBytes, _ buffer: UnsafeMutableRawPointer, _ capacity: Int, _ length: inout Int
  ) -> Bool {
    fromMemory(key) { value in
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
  package func known(_ key: PreparedBytes) -> Value?? {
    guard let local = shared.local, !hasEnded else { return nil }
    return local._withUnsafeGuaranteedRef { local in local.indexed(key) { $0.value } }
  }

  /// Gives `copy` the value of a key if the index knows one; nil from it leaves the key to the ordinary way.
  @inline(__always)
  private func fromMemory(_ key: PreparedBytes, _ copy: (Value) -> Void?) -> Bool {
    guard let local = shared.local, !hasEnded else { return false }
    let isDone = local._withUnsafeGuaranteedRef { local in
      local.indexed(key) { entry in entry.value.flatMap(copy) != nil }
    }
    return isDone == true
  }
}
