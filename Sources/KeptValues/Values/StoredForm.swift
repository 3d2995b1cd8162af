// The stored form of values: one form for each value, within the limits.

extension Value {
  /// The stored form: NaN is the one quiet NaN, and a `uint` that fits is an `int`, at every depth.
  ///
  /// Throws `invalid` for a null by itself and for a NUL in a dictionary's key, `tooLarge` beyond ``Limits``.
  public func checkedForStore() throws(StoreError) -> Value {
    switch self {
    case .null:
      throw StoreError(.invalid, "null cannot be stored by itself; remove the key, or put null into an array")
    case .bool, .int, .date: return self
    case .uint, .double: return canonical
    case .string, .bytes:
      try checkSize()
      return self
    case .array, .dictionary:
      var check = ContainerCheck()
      try check.visit(self)
      let value = check.isCanonical ? self : canonical
      try value.checkSize()
      return value
    }
  }

  /// Throws `tooLarge` for a value of more than ``Limits/valueBytes``.
  package func checkSize(offset: Int? = nil) throws(StoreError) {
    if mostJSONBytes <= Limits.valueBytes { return }
    let (count, measure) =
      switch self {
      case .string(let value): (value.utf8.count, "the text is")
      case .bytes(let value): (value.count, "the value is")
      case .array, .dictionary: (jsonByteCount, "the JSON of the value is")
      default: (0, "")
      }
    guard count <= Limits.valueBytes else {
      throw StoreError(
        .tooLarge, offset: offset,
        "\(measure) \(count) bytes long; at most \(Limits.valueBytes) can be stored under a key")
    }
  }

  /// Whether a scalar is in stored form.
  fileprivate var isCanonicalScalar: Bool {
    switch self {
    case .uint(let value): value > Int64.max
    case .double(let value): !value.isNaN || value.bitPattern == Double.nan.bitPattern
    default: true
    }
  }

  private var canonical: Value {
    switch self {
    case .uint(let value): Int64(exactly: value).map { .int($0) } ?? self
    case .double(let value): value.isNaN ? .double(.nan) : self
    case .array(let elements): .array(elements.map(\.canonical))
    case .dictionary(let members): .dictionary(members.mapValues(\.canonical))
    default: self
    }
  }
}

/// Checks a container for contents that a store refuses, and for contents that are not in stored form.
private struct ContainerCheck {
  private(set) var isCanonical = true
  private var depth = 0

  mutating func visit(_ value: Value) throws(StoreError) {
    switch value {
    case .array(let elements):
      try enter()
      for element in elements { try visit(element) }
      depth -= 1
    case .dictionary(let members):
      try enter()
      for member in members {
        guard !member.key.text.utf8.contains(0) else {
          throw StoreError(.invalid, "a dictionary key contains a NUL, which would end it in C; remove it")
        }
        try visit(member.value)
      }
      depth -= 1
    default:
      if !value.isCanonicalScalar { isCanonical = false }
    }
  }

  private mutating func enter() throws(StoreError) {
    guard depth < Limits.nesting else { throw StoreError.nestedTooDeeply() }
    depth += 1
  }
}
