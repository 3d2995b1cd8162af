// Every damage of every file of a store.

import KeptValues

/// One damage.
package struct Damage: CustomStringConvertible {
  package let description: String
  package let files: [String: [UInt8]?]
  /// How many keys it may cost; nil for any number.
  package let most: Int?

  private init(_ description: String, _ files: [String: [UInt8]?], most: Int? = nil) {
    (self.description, self.files, self.most) = (description, files, most)
  }

  /// A bit of a byte is changed.
  package static func flip(_ name: String, _ at: Int, in store: DamagedStore) -> Damage {
    var bytes = store.files[name] ?? []
    bytes[at] ^= UInt8(1 << (at * 5 % 8))
    // Only records and commits have values, and all commits are of one key.
    let hasValues = name == "values" || name == store.journal
    return Damage("\(name), byte \(at)", [name: bytes], most: hasValues ? 1 : 0)
  }

  /// The file has a length.
  package static func truncation(_ name: String, _ length: Int, in store: DamagedStore) -> Damage {
    let bytes = store.files[name] ?? []
    let most =
      switch name {
      // Without the header of its checkpoint, a journal is lost too.
      case "values": length < 4096 ? nil : records(bytes).filter { $0 > length }.count
      case store.journal: length < 512 ? nil : frames(bytes).filter { $0 > length }.count
      default: 0
      }
    return Damage("\(name), truncated to \(length)", [name: Array(bytes[..<length])], most: most)
  }

  /// Files that are lost, zeroed, extended, exchanged, of another store, or of yesterday, also two at once.
  package static func ofWholeFiles(in store: DamagedStore) -> [Damage] {
    var found: [Damage] = []
    for name in store.names {
      let bytes = store.files[name] ?? []
      let most = name == "values" || name == store.journal ? nil : 0
      found.append(Damage("\(name), lost", [name: nil], most: most))
      found.append(Damage("\(name), zeros", [name: Array(repeating: 0, count: bytes.count)], most: most))
      found.append(Damage("\(name), ones", [name: Array(repeating: 255, count: bytes.count)], most: most))
      found.append(Damage("\(name), empty", [name: []], most: most))
      for more in [1, 7, 4096] {
        found.append(Damage("\(name), extended by \(more)", [name: bytes + Array(repeating: 1, count: more)], most: 0))
      }
      found.append(Damage("\(name), twice", [name: bytes + bytes], most: 0))
      for block in stride(from: 0, to: min(bytes.count, 300_000), by: 512 * 37) {
        var damaged = bytes
        for at in block..<min(block + 512, bytes.count) { damaged[at] = 0 }
        found.append(Damage("\(name), a sector of zeros at \(block)", [name: damaged]))
      }
      for other in store.names where other > name {
        found.append(Damage("\(name) and \(other) exchanged", [name: store.files[other], other: bytes]))
        found.append(Damage("\(name) and \(other), lost", [name: nil, other: nil]))
      }
    }
    let others = store.yesterday.merging(store.foreign) { own, _ in own }
    for (kind, files) in [("of yesterday", store.yesterday), ("of another store", store.foreign)] {
      for name in files.keys.sorted() {
        found.append(Damage("\(name) \(kind)", [name: files[name]]))
        for second in others.keys.sorted() where second > name && store.yesterday[second] != nil {
          found.append(Damage("\(name) \(kind), \(second) of yesterday", [name: files[name], second: others[second]]))
        }
      }
    }
    return found
  }

  /// Where the records of a checkpoint end, by the description of the format.
  private static func records(_ bytes: [UInt8]) -> [Int] {
    var (ends, block) = ([Int](), 4096)
    let last = 4096 * (1 + number(bytes, 80, 8))
    while block < last {
      var at = block
      while at + 32 <= block + 4096, number(bytes, at + 4, 2) > 0 {
        at += (32 + number(bytes, at + 4, 2) + number(bytes, at + 24, 4) + number(bytes, at + 28, 4) + 7) & ~7
        ends.append(at)
      }
      block += max(1, (at - block + 4095) / 4096) * 4096
    }
    return ends
  }

  /// Where the commits of a journal end.
  private static func frames(_ bytes: [UInt8]) -> [Int] {
    var (ends, at) = ([Int](), 512)
    while case let word = number(bytes, at, 4), word > 0 {
      at += word & ~7
      ends.append(at)
    }
    return ends
  }

  private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
    bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

extension DamagedStore {
  /// Judges a damage, and that it costs no more keys than it may.
  package func judge(_ damage: Damage) throws {
    let outcome = try judge(damage.files, damage.description)
    let lost = Set(values.keys).subtracting(outcome.right)
    if let most = damage.most, lost.count > most {
      throw Fault(description: "\(damage): \(lost.count) keys are lost: \(lost.map(\.text).sorted().prefix(5))")
    }
  }
}
