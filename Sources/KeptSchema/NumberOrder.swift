// Compares numbers of different kinds exactly. Compared as doubles, 9007199254740993 would not exceed
// 9007199254740992.0.

package import KeptValues

extension Value {
  /// Whether a number is less than another; false for NaN and for values that are not numbers.
  func isLess(than other: Value) -> Bool {
    switch (self, other) {
    case (.int(let a), .int(let b)): a < b
    case (.int(let a), .uint(let b)): a < 0 || UInt64(a) < b
    case (.int(let a), .double(let b)): b >= 0x1p63 || (b > -0x1p63 && a < Int64(b.rounded(.up)))
    case (.uint(let a), .int(let b)): b > 0 && a < UInt64(b)
    case (.uint(let a), .uint(let b)): a < b
    case (.uint(let a), .double(let b)): b >= 0x1p64 || (b > 0 && a < UInt64(b.rounded(.up)))
    case (.double(let a), .int(let b)): a < -0x1p63 || (a < 0x1p63 && Int64(a.rounded(.down)) < b)
    case (.double(let a), .uint(let b)): a < 0 || (a < 0x1p64 && UInt64(a.rounded(.down)) < b)
    case (.double(let a), .double(let b)): a < b
    default: false
    }
  }

  package var isNaN: Bool { if case .double(let value) = self { value.isNaN } else { false } }
}
