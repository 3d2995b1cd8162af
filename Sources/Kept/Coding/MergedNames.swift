// Two members of a dictionary can have names that differ in their bytes and are equal in Swift: "é" as one scalar, or
// as two. A Swift dictionary would silently keep one of them, so this is refused. A `Value` keeps both.

import KeptValues

extension ValueDictionary {
  /// Throws `wrongType` if a Swift dictionary with the same names would have fewer members.
  func checkedForMergedNames() throws(StoreError) -> ValueDictionary {
    // Names in ASCII are never merged, and other names are rare.
    let suspects = filter { !$0.key.text.utf8.allSatisfy { $0 < 0x80 } }
    guard suspects.count > 1 else { return self }
    var names: Set<String> = []
    for member in suspects where !names.insert(member.key.text).inserted {
      throw StoreError(
        .wrongType,
        """
        has two members whose names are both "\(member.key.text)" to Swift but differ in their bytes, so a Swift \
        dictionary would lose one of them; read it as a Value
        """)
    }
    return self
  }
}

/// Marks the Codable types that merge names.
protocol NameMerging {}
extension Dictionary: NameMerging {}
