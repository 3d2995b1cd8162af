// Property lists, by FoundationEssentials' PropertyListDecoder.

import Formats
import FoundationEssentials
import Kept

enum PropertyListFile {
  /// Reads the members of the dictionary that the list must be.
  static func read(_ bytes: [UInt8]) throws -> FoundSettings {
    var found = FoundSettings(size: bytes.count)
    let list: [UInt8]
    let text = Format.isBinaryPropertyList(bytes) ? nil : try PlainText(bytes)
    // Otherwise the decoder reads an old-style list, where every number is text.
    if let text, text.bytes.first(where: { !$0.isSpace }) != UInt8(ascii: "<") { throw Self.notXML }
    if let text { list = try XMLGuard.safe(text) } else { list = try BinaryGuard.safe(bytes) }
    let decoder = PropertyListDecoder()
    decoder.userInfo[Budget.key] = Budget(size: bytes.count, isGuarded: text != nil)
    do {
      try found.add(decoder.decode(Root.self, from: Data(list)).members, splitting: nil)
    } catch DecodingError.dataCorrupted(let context) {
      let reason = (context.underlyingError as? CocoaError)?.userInfo["NSDebugDescription"] as? String
      throw StoreError(.invalid, "the property list cannot be read: \(reason ?? context.debugDescription)")
    }
    return found
  }

  static let tooManyReferences = StoreError(
    .tooLarge, "the property list refers to the same objects so often that its values are far larger than the file")

  private static let notXML = StoreError(
    .invalid, offset: 0,
    "the file is not an XML or binary property list; convert an old-style one with plutil -convert xml1")

  /// How much may be read of a list whose objects are referred to any number of times.
  ///
  /// One thread uses it.
  fileprivate final class Budget: @unchecked Sendable {
    static let key = CodingUserInfoKey(rawValue: "budget").unsafelyUnwrapped
    private var rest: Int
    /// Whether `XMLGuard` has marked strings.
    let isGuarded: Bool
    var depth = 0

    init(size: Int, isGuarded: Bool) {
      rest = 16 * size + 1 << 16
      self.isGuarded = isGuarded
    }

    func spend(_ amount: Int) throws(StoreError) {
      rest -= amount
      guard rest >= 0 else {
        throw PropertyListFile.tooManyReferences
      }
    }
  }

  /// The dictionary of the settings.
  private struct Root: Decodable {
    let members: [(name: String, value: PropertyListValue)]

    init(from decoder: any Decoder) throws {
      do { members = try PropertyListValue.members(of: decoder) } catch let error as StoreError { throw error } catch {
        throw StoreError(
          .invalid, "the top level of the property list is not a dictionary of settings")
      }
    }
  }
}

/// A value of a property list, or why Kept has no such value.
private struct PropertyListValue: Decodable, Foreign {
  private var result: Result<Value, Obstacle>
  private var losses = Losses()

  init(from decoder: any Decoder) throws {
    result = .success(.null)
    do { result = .success(try read(decoder)) } catch let error as StoreError { throw error } catch {
      // The decoder's own errors are not all of one type.
      result = .failure(error as? Obstacle ?? Self.damage)
    }
  }

  private init(_ obstacle: Obstacle) { result = .failure(obstacle) }

  private static let damage = Obstacle("is damaged")

  func members(_: inout Losses) -> [(name: String, value: PropertyListValue)]? { nil }

  func value(_ losses: inout Losses, depth _: Int = 0) throws -> Value {
    losses.add(self.losses)
    return try result.get()
  }

  private mutating func read(_ decoder: any Decoder) throws -> Value {
    guard let budget = decoder.userInfo[PropertyListFile.Budget.key] as? PropertyListFile.Budget else { return .null }
    try budget.spend(1)
    let container = try decoder.singleValueContainer()
    do {
      return .bool(try container.decode(Bool.self))
    } catch DecodingError.valueNotFound {
      return .null
    } catch DecodingError.typeMismatch(_, let context) {
      // The decoder converts between integers and reals; only this sentence tells them apart.
      switch Kind.allCases.first(where: { context.debugDescription.contains("found \($0.rawValue) instead") }) {
      case .integer: return try integer(container)
      case .real:
        guard let number = try? container.decode(Double.self) else { throw Obstacle("is not a number") }
        return .double(number)
      case .string:
        guard let text = try? container.decode(String.self) else { throw Obstacle("is a string that is not Unicode") }
        return try string(text, budget)
      case .data:
        let data = try Array(container.decode(Data.self))
        try budget.spend(data.count)
        return .bytes(data)
      case .date: return try Self.date(container.decode(Date.self).timeIntervalSinceReferenceDate)
      case .array: return try array(decoder, budget)
      case .set: throw Obstacle("is an integer of more than 64 bits, or a set")
      case .dictionary: return try dictionary(decoder, budget)
      case .uid, .archived: throw Self.isUID
      case nil: throw Obstacle("is of a type that Kept does not support")
      }
    }
  }

  /// The kinds of values, in the words of the decoder's errors.
  private enum Kind: String, CaseIterable {
    case integer = "an integer"
    case real = "a real number"
    case string = "a string"
    case data = "a data value"
    case date = "a date"
    case array = "an array"
    case set = "a set"
    case dictionary = "a dictionary"
    case uid = "a uid"
    case archived = "an NSKeyedArchiver UID"
  }

  private static let isUID = Obstacle("is the UID of an object in a keyed archive, and has no meaning outside it")

  private func integer(_ container: any SingleValueDecodingContainer) throws -> Value {
    if let number = try? container.decode(Int64.self) { return .int(number) }
    guard let number = try? container.decode(UInt64.self) else { throw Obstacle("is not a 64-bit integer") }
    return .uint(number)
  }

  private func string(_ text: String, _ budget: PropertyListFile.Budget) throws -> Value {
    try budget.spend(text.utf8.count)
    guard budget.isGuarded else { return .string(text) }
    let content = String(Substring(text.utf8.dropFirst()))
    switch text.utf8.first {
    case UInt8(ascii: "@"):
      do throws(StoreError) {
        return .date(try Timestamp(text: String(decoding: Array(content.utf8)[...].trimmed, as: UTF8.self)))
      } catch {
        throw Obstacle("is not a date from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z")
      }
    case UInt8(ascii: "~"): return .double(try ForeignText.double(content))
    case UInt8(ascii: "#"): return try ForeignText.bytes(content)
    case UInt8(ascii: "!"): throw Obstacle(content)
    default: return .string(content)
    }
  }

  /// Seconds since 2001-01-01T00:00:00Z.
  private static func date(_ seconds: Double) throws -> Value {
    let whole = seconds.rounded(.down)
    // False for NaN, too.
    guard abs(whole) < 1e12 else { throw Obstacle("is a date outside the years 0 to 9999") }
    let nanoseconds = Int32(min(((seconds - whole) * 1e9).rounded(), 999_999_999))
    guard let date = try? Timestamp(seconds: Int64(whole) + 978_307_200, nanoseconds: nanoseconds) else {
      throw Obstacle("is a date outside the years 0 to 9999")
    }
    return .date(date)
  }

  private mutating func array(_ decoder: any Decoder, _ budget: PropertyListFile.Budget) throws -> Value {
    try nested(budget) { losses in
      var elements: [Value] = []
      var container = try decoder.unkeyedContainer()
      while !container.isAtEnd { elements.append(try container.decode(PropertyListValue.self).value(&losses)) }
      return .array(elements)
    }
  }

  private mutating func dictionary(_ decoder: any Decoder, _ budget: PropertyListFile.Budget) throws -> Value {
    try nested(budget) { losses in
      let members: [(name: String, value: PropertyListValue)]
      do { members = try Self.members(of: decoder) } catch let error as StoreError { throw error } catch {
        throw Obstacle("is a dictionary with a key that is not a string")
      }
      if budget.isGuarded, members.count == 1, members[0].name == "CF$UID" { throw Self.isUID }
      var values: [(ExactString, Value)] = []
      for (name, value) in members { values.append((ExactString(name), try value.value(&losses))) }
      return losses.dictionary(values)
    }
  }

  private mutating func nested(
    _ budget: PropertyListFile.Budget, _ read: (inout Losses) throws -> Value
  ) throws -> Value {
    guard budget.depth < Limits.nesting else { throw Obstacle.tooDeep }
    budget.depth += 1
    defer { budget.depth -= 1 }
    return try read(&losses)
  }

  /// The members of a dictionary, in the order of the list.
  static func members(of decoder: any Decoder) throws -> [(name: String, value: PropertyListValue)] {
    let budget = decoder.userInfo[PropertyListFile.Budget.key] as? PropertyListFile.Budget
    let container = try decoder.container(keyedBy: Name.self)
    var members: [(number: Int, name: String, value: PropertyListValue)] = []
    for key in container.allKeys {
      try budget?.spend(key.stringValue.utf8.count)
      // The guards put the number of the key in front of it.
      let parts = Array(key.stringValue.utf8).split(
        separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw Self.damage }
      let isUnicode = parts[0].last != UInt8(ascii: "!")
      let number = Int((isUnicode ? parts[0] : parts[0].dropLast()).text) ?? 0
      var value: PropertyListValue
      do { value = try container.decode(PropertyListValue.self, forKey: key) } catch let error as StoreError {
        throw error
      } catch {
        value = PropertyListValue(Self.damage)
      }
      if !isUnicode { value = PropertyListValue(Obstacle("has a name that is not Unicode")) }
      members.append((number, parts[1].text, value))
    }
    members.sort { $0.number < $1.number }
    return members.map { ($0.name, $0.value) }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
