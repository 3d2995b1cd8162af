// Reading at the speed of memory: what the index knows is copied out at once. Whatever is not as plain as that, an
// absent key, another kind, a closed store, is left to the ordinary way, which knows how to say it.

/// What came of a read from memory.
package enum MemoryRead {
  /// The value was copied out.
  case done
  /// Ask the ordinary way.
  case ask
}

extension Store {
  package func readBool(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Bool>) -> MemoryRead {
    fromMemory(key) { value in value.asBool.map { out.pointee = $0 } }
  }

  package func readInt64(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Int64>) -> MemoryRead {
    fromMemory(key) { value in value.asInt64.map { out.pointee = $0 } }
  }

  package func readDouble(_ key: PreparedBytes, _ out: UnsafeMutablePointer<Double>) -> MemoryRead {
    fromMemory(key) { value in value.asDouble.map { out.pointee = $0 } }
  }

  /// Copies text and a NUL, if they fit.
  package func readString(
    _ key: PreparedBytes, _ buffer: UnsafeMutableRawPointer, _ capacity: Int, _ length: inout Int
  ) -> MemoryRead {
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

  /// Gives `copy` the value of a key if the index knows one; nil from it leaves the key to the ordinary way.
  @inline(__always)
  private func fromMemory(_ key: PreparedBytes, _ copy: (Value) -> Void?) -> MemoryRead {
    guard let local = shared.local, !hasEnded else { return .ask }
    let isDone = local._withUnsafeGuaranteedRef { local in
      local.indexed(key) { entry in entry.value.flatMap(copy) != nil }
    }
    return isDone == true ? .done : .ask
  }
}
