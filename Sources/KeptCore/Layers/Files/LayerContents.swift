// The contents of a layer file: the values of the layer, and the keys that an administrator locks.
//
//   {"values": {"audio.volume": 30}, "locked": ["audio.theme"], "lockedPrefixes": ["network."]}
//
// Every member may be omitted. The two that lock are allowed in the managed layer only. A value in the managed layer
// locks its key. An empty prefix locks every key.

import KeptSchema
package import KeptValues

/// The state of a layer that comes from a file.
package struct LayerContents: Sendable, Equatable {
  package let values: [KeyName: Value]
  /// The individually locked keys, including those for which the managed layer has a value.
  package let locked: Set<KeyName>
  // Sorted, and no prefix begins with another. So only the last prefix that is not after a key can be a prefix of it.
  package let lockedPrefixes: [ExactString]

  /// An absent file.
  init() { (values, locked, lockedPrefixes) = ([:], [], []) }

  init(values: [KeyName: Value], locked: Set<KeyName> = [], lockedPrefixes: [ExactString] = []) {
    self.values = values
    self.locked = locked
    var prefixes: [ExactString] = []
    for prefix in lockedPrefixes.inOrder(of: { $0 }) where prefixes.last.map(prefix.hasPrefix) != true {
      prefixes.append(prefix)
    }
    self.lockedPrefixes = prefixes
  }

  /// The contents used when a managed layer cannot be read.
  static var everythingLocked: LayerContents { LayerContents(values: [:], lockedPrefixes: [""]) }

  /// Whether there is neither a value nor a lock.
  var isEmpty: Bool { values.isEmpty && locked.isEmpty && lockedPrefixes.isEmpty }

  /// The contents together with those of a less important file: what either locks is locked.
  func above(_ other: LayerContents) -> LayerContents {
    var values = other.values
    for (key, value) in self.values { values[key] = value }
    return LayerContents(
      values: values, locked: locked.union(other.locked), lockedPrefixes: lockedPrefixes + other.lockedPrefixes)
  }

  /// Whether the layers of arguments, environment and user are ignored for a key.
  func locks(_ key: KeyName) -> Bool { locked.contains(key) || hasLockedPrefix(key.exact) }

  /// Whether both states lock the same keys.
  func locksSame(as other: LayerContents) -> Bool {
    locked == other.locked && lockedPrefixes == other.lockedPrefixes
  }

  private func hasLockedPrefix(_ key: ExactString) -> Bool {
    var low = 0
    var high = lockedPrefixes.count
    while low < high {
      let middle = low + (high - low) / 2
      if key < lockedPrefixes[middle] { high = middle } else { low = middle + 1 }
    }
    return low > 0 && key.hasPrefix(lockedPrefixes[low - 1])
  }
}

extension LayerContents {
  /// Parses a document, such as the bytes of a file; `subject` names it in an error.
  init(_ bytes: [UInt8], layer: Layer, calling subject: String) throws(StoreError) {
    do {
      let value = try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try Value(jsonBytes: bytes) }
      self = try LayerContents(value, layer: layer)
    } catch {
      throw error.said { "\(subject): \($0)" }
    }
  }

  static func check(size: Int, of subject: String) throws(StoreError) {
    guard size <= Limits.valueBytes else {
      throw StoreError(.tooLarge, "\(subject) is \(size) bytes long; at most \(Limits.valueBytes) are allowed")
    }
  }

  /// Parses the contents of a document.
  ///
  /// Throws `invalid` or `tooLarge`, with a message that names the member or the key and the allowed values.
  init(_ value: Value, layer: Layer) throws(StoreError) {
    guard case .dictionary(let members) = value else {
      throw StoreError(.invalid, "it holds \(value.kind.inWords); write one object, such as {\"values\":{}}")
    }
    var values: [KeyName: Value] = [:]
    var locked: Set<KeyName> = []
    var prefixes: [ExactString] = []
    for member in members {
      switch (member.key, layer) {
      case ("values", _): values = try Self.values(member.value)
      case ("locked", .managed): locked = try Self.locked(member.value)
      case ("lockedPrefixes", .managed): prefixes = try Self.prefixes(member.value)
      case ("locked", _), ("lockedPrefixes", _):
        throw StoreError(.invalid, "it has \"\(member.key)\", but only the managed layer can lock keys; leave it out")
      default:
        let known = layer == .managed ? "\"values\", \"locked\" and \"lockedPrefixes\"" : "\"values\""
        throw StoreError(
          .invalid, "it has the unknown member \"\(Excerpt.of(member.key.text))\"; use only \(known)")
      }
    }
    if layer == .managed { locked.formUnion(values.keys) }
    self.init(values: values, locked: locked, lockedPrefixes: prefixes)
  }

  private static func values(_ value: Value) throws(StoreError) -> [KeyName: Value] {
    guard case .dictionary(let members) = value else {
      throw StoreError(.invalid, "\"values\" is \(value.kind.inWords); it must be an object that maps keys to values")
    }
    var values: [KeyName: Value] = [:]
    values.reserveCapacity(members.count)
    for member in members {
      let key = try key(member.key.text, in: "values")
      if case .null = member.value {
        throw StoreError(.invalid, key: key.text, "null in \"values\" is not a value; leave the key out")
      }
      do { values[key] = try member.value.checkedForStore() } catch { throw error.about(key.text) }
    }
    return values
  }

  private static func locked(_ value: Value) throws(StoreError) -> Set<KeyName> {
    var locked: Set<KeyName> = []
    for text in try texts(value, of: "locked") { locked.insert(try key(text, in: "locked")) }
    return locked
  }

  private static func prefixes(_ value: Value) throws(StoreError) -> [ExactString] {
    let texts = try texts(value, of: "lockedPrefixes")
    for text in texts where !text.utf8.isEmpty { _ = try key(text, in: "lockedPrefixes") }
    return texts.map { ExactString($0) }
  }

  private static func texts(_ value: Value, of member: String) throws(StoreError) -> [String] {
    guard case .array(let elements) = value else {
      throw StoreError(.invalid, "\"\(member)\" is \(value.kind.inWords); it must be an array of strings")
    }
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element else {
        throw StoreError(.invalid, "\"\(member)\" holds \(element.kind.inWords); its elements must be strings")
      }
      texts.append(text)
    }
    return texts
  }

  private static func key(_ text: String, in member: String) throws(StoreError) -> KeyName {
    do {
      return try KeyName(text)
    } catch {
      throw StoreError(error.code, key: error.key, "in \"\(member)\": \(error.message)")
    }
  }
}

extension Value.Kind {
  /// The kind as a phrase in a sentence about JSON text.
  fileprivate var inWords: String {
    switch self {
    case .null: "null"
    case .bool: "a bool"
    case .int, .uint, .double: "a number"
    case .string: "a string"
    case .bytes: "bytes"
    case .date: "a date"
    case .array: "an array"
    case .dictionary: "an object"
    }
  }
}
