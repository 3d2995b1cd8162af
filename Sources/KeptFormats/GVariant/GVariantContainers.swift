// Arrays, dictionaries and tuples of a GVariant. The first element with an explicit type determines the type of all:
// [byte 1, 2].

import KeptCore

extension GVariantReader {
  mutating func array(_ type: GVariantType) throws(StoreError) -> Typed {
    try expect(type, among: "a")
    position += 1
    var element = type.content
    var values: [Value] = []
    if !skipMark("]") {
      repeat {
        let next = try value(as: element)
        if element.isOpen { element = next.type }
        try Memory.makeRoom(in: &values, to: Self.purpose)
        values.append(next.value)
      } while skipMark(",")
      try expect("]", behind: "an element of an array")
    }
    return Typed(value: try array(of: element, values), type: .array(of: element))
  }

  private mutating func array(of element: GVariantType, _ values: [Value]) throws(StoreError) -> Value {
    switch element.first {
    case "y": return .bytes(try bytes(values))
    // Integers before the first double.
    case "d":
      try Memory.ask(for: values.count * MemoryLayout<Value>.stride, to: Self.purpose)
      return .array(values.map { value in value.asDouble.map { .double($0) } ?? value })
    case "{": return try dictionary(ofEntries: values)
    default: return .array(values)
    }
  }

  private func bytes(_ values: [Value]) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(values.count)
    for value in values {
      guard let byte = value.asInt64.flatMap({ UInt8(exactly: $0) }) else { throw invalid("a byte must be 0 to 255") }
      bytes.append(byte)
    }
    return bytes
  }
}

// MARK: - Dictionaries

extension GVariantReader {
  /// `{'a': 1}`, or the entry of one, `{'a', 1}`.
  mutating func dictionary(_ type: GVariantType) throws(StoreError) -> Typed {
    try expect(type, among: "a{")
    let mayBeEntry = type.first != "a"
    var (keyType, valueType) = mayBeEntry ? type.entryTypes : type.content.entryTypes
    if type.first == "a" { try expect(type.content, among: "{") }
    position += 1
    var pairs: [(ExactString, Value)] = []
    while type.first == "{" || !skipMark("}") {
      if !pairs.isEmpty { try expect(",", behind: "a member of a dictionary") }
      let key = try value(as: keyType)
      if keyType.isOpen { keyType = key.type }
      if mayBeEntry, pairs.isEmpty, skipMark(",") { return try entry(key, valueType) }
      try expect(":", behind: "a key of a dictionary")
      let value = try value(as: valueType)
      if valueType.isOpen { valueType = value.type }
      try Memory.makeRoom(in: &pairs, to: Self.purpose)
      pairs.append((name(key.value), value.value))
    }
    return Typed(value: dictionary(pairs), type: .array(of: .entry(keyType, valueType)))
  }

  private mutating func entry(_ key: Typed, _ valueType: GVariantType) throws(StoreError) -> Typed {
    let value = try value(as: valueType)
    try expect("}", behind: "the value of a dictionary entry")
    looseEntries += 1
    return Typed(value: .array([key.value, value.value]), type: .entry(key.type, value.type))
  }

  /// An array of entries, `[{'a', 1}, {'b', 2}]`, is a dictionary too.
  private mutating func dictionary(ofEntries entries: [Value]) throws(StoreError) -> Value {
    looseEntries -= entries.count
    // The pairs, and what their sorting takes.
    try Memory.ask(for: 256 * entries.count, to: Self.purpose)
    var pairs: [(ExactString, Value)] = []
    for entry in entries {
      guard let entry = entry.asArray, entry.count == 2 else {
        throw invalid("not all elements are dictionary entries")
      }
      pairs.append((name(entry[0]), entry[1]))
    }
    return dictionary(pairs)
  }

  private mutating func name(_ key: Value) -> ExactString {
    guard let name = key.asString else {
      found.obstacle = found.obstacle ?? "a dictionary has keys that are no text"
      return ""
    }
    return ExactString(name)
  }

  private mutating func dictionary(_ pairs: [(ExactString, Value)]) -> Value {
    let dictionary = ValueDictionary(pairs)
    if dictionary.count < pairs.count { found.losses.repeatedKey = true }
    return .dictionary(dictionary)
  }
}

// MARK: - Tuples

extension GVariantReader {
  /// A tuple such as `(1, 'a')`; a single member is followed by a comma, as in Python.
  mutating func tuple(_ type: GVariantType) throws(StoreError) -> Typed {
    try expect(type, among: "(")
    let start = position
    let expected = type.first == "(" ? type.members : nil
    var values: [Value] = []
    var types: [GVariantType] = []
    var needsComma = false
    position += 1
    while needsComma || !skipMark(")") {
      if !values.isEmpty {
        try expect(",", behind: "a member of a tuple")
        if needsComma, skipMark(")") { break }
      }
      let place = values.count
      try Memory.makeRoom(in: &values, to: Self.purpose)
      try Memory.makeRoom(in: &types, to: Self.purpose)
      let member = try value(as: expected.map { place < $0.count ? $0[place] : .unknown } ?? .unknown)
      values.append(member.value)
      types.append(member.type)
      needsComma = values.count == 1
    }
    guard expected == nil || expected?.count == values.count else {
      throw invalid(at: start, "the tuple here must have the type \(type.text)")
    }
    found.losses.tuple = true
    return Typed(value: .array(values), type: .tuple(of: types))
  }
}
