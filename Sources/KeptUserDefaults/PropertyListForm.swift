// Converts values to property-list objects, and determines which values survive being written and read.

import Foundation
import KeptValues

enum PropertyListForm {
  /// The object for a value under a key; throws `unsupported` if another key or value would be read back.
  static func object(_ value: Value, under key: KeyName) throws(StoreError) -> Any {
    // A name is read back in its original form only if it has just one form.
    guard self.value(reread: [key.text: true]) == .dictionary([key.exact: true]), key.isComposed,
      let object = object(value), self.value(reread: object) == value
    else {
      throw StoreError(.unsupported, key: key.text, reason(against: value))
    }
    return object
  }

  /// Why a property list cannot hold a value, or not under its key.
  private static func reason(against value: Value) -> String {
    if value.contains({ if case .date(let date) = $0 { date.nanoseconds != 0 } else { false } }) {
      return "a property list cannot hold fractions of a second; round the date, or write it as a number"
    }
    if value.contains({ $0 == .null }) { return "a property list cannot hold null; leave it out" }
    return "a property list would return a different key or value; use a store of another kind"
  }

  /// The object for a value; nil if there is none.
  private static func object(_ value: Value) -> Any? {
    switch value {
    case .null: nil
    case .bool(let bool): bool
    case .int(let number): number
    case .uint(let number): number
    case .double(let number): number
    case .string(let text): text
    case .bytes(let bytes): Data(bytes)
    case .date(let date):
      date.nanoseconds == 0 ? Date(timeIntervalSince1970: Double(date.seconds)) : nil
    case .array(let elements): array(elements)
    case .dictionary(let members): dictionary(members)
    }
  }

  private static func array(_ elements: [Value]) -> Any? {
    let objects = elements.compactMap(object)
    return objects.count == elements.count ? objects : nil
  }

  private static func dictionary(_ members: ValueDictionary) -> Any? {
    var objects: [String: Any] = [:]
    for member in members { objects[member.key.text] = object(member.value) }
    return objects.count == members.count ? objects : nil
  }

  /// The value of an object after it is written to a file and read again; nil if it cannot be written.
  ///
  /// Objects in the memory of one process differ from those that the next process reads.
  static func value(reread object: Any) -> Value? {
    guard PropertyListSerialization.propertyList(["v": object], isValidFor: .xml),
      let data = try? PropertyListSerialization.data(fromPropertyList: ["v": object], format: .xml, options: 0),
      let read = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil),
      let found = (read as? [String: Any])?["v"]
    else { return nil }
    return value(found)
  }

  private static func value(_ object: Any) -> Value? {
    switch object {
    case let text as String: return .string(text)
    case let data as Data: return .bytes(Array(data))
    case let date as Date: return value(date)
    case let number as NSNumber: return value(number)
    case let elements as [Any]:
      let values = elements.compactMap(value(_:))
      return values.count == elements.count ? .array(values) : nil
    case let members as [String: Any]:
      let values = members.compactMap { name, object in value(object).map { (ExactString(name), $0) } }
      return values.count == members.count ? .dictionary(ValueDictionary(values)) : nil
    default: return nil
    }
  }

  private static func value(_ date: Date) -> Value? {
    let seconds = date.timeIntervalSince1970.rounded()
    return Int64(exactly: seconds).flatMap { try? .date(Timestamp(seconds: $0)) }
  }

  static func value(_ number: NSNumber) -> Value {
    switch String(cString: number.objCType) {
    case "c", "B": .bool(number.boolValue)
    case "f", "d": .double(number.doubleValue)
    case "Q" where number.uint64Value > UInt64(Int64.max): .uint(number.uint64Value)
    default: .int(number.int64Value)
    }
  }
}

extension KeyName {
  /// Whether the text is in composed form: Foundation treats other forms as the same key.
  fileprivate var isComposed: Bool { text.precomposedStringWithCanonicalMapping.utf8.elementsEqual(text.utf8) }
}

extension Value {
  /// Whether the value, or one inside it, satisfies the predicate.
  fileprivate func contains(_ isSuch: (Value) -> Bool) -> Bool {
    switch self {
    case .array(let elements): isSuch(self) || elements.contains { $0.contains(isSuch) }
    case .dictionary(let members): isSuch(self) || members.contains { $0.value.contains(isSuch) }
    default: isSuch(self)
    }
  }
}
