// Foundation types as values of a store: CGFloat is Storable; Foundation's classes for numbers, dates and URLs use a
// transformer; and any property-list object can be read and written by name.

public import Foundation
public import Kept
public import KeptCore
import KeptValues

extension CGFloat: Storable {
  public init(stored value: Value) throws(StoreError) { self.init(try Double(stored: value)) }
  public func stored() -> Value { Double(self).stored() }
  public static var schema: Schema? { Double.schema }
}

// A non-final class cannot be made Storable by an extension, and mutable classes are not Sendable: NSString and NSData
// are read by `object(forKey:)`.

extension Transformer where Input == NSNumber, Output == Value {
  /// A bool, an integer or a double, matching the type that the number was created with.
  ///
  /// For example `Key("n", default: NSNumber(value: 5), through: .foundation)`.
  public static var foundation: Transformer {
    Transformer(
      transform: { PropertyListForm.value($0) },
      untransform: { value in
        guard let number = FoundationObject.of(value) as? NSNumber else {
          throw StoreError(
            .wrongType,
            "holds \(value.described), not a number or a bool; read it as another type, or remove it")
        }
        return number
      })
  }
}

extension Transformer where Input == NSDate, Output == Date {
  /// The date with the same value.
  public static var foundation: Transformer {
    Transformer(
      transform: { $0 as Date },
      untransform: { NSDate(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) })
  }
}

extension Transformer where Input == NSURL, Output == URL {
  /// The URL with the same value.
  public static var foundation: Transformer {
    Transformer(
      transform: { $0 as URL },
      untransform: { url in
        guard let address = NSURL(string: url.absoluteString) else {
          throw StoreError(.wrongType, "holds a URL that Foundation cannot read: \(url.absoluteString)")
        }
        return address
      })
  }
}

extension Transformer where Input == NSUUID, Output == UUID {
  /// The UUID with the same value.
  public static var foundation: Transformer {
    Transformer(
      transform: { $0 as UUID },
      untransform: { id in
        guard let object = NSUUID(uuidString: id.uuidString) else {
          throw StoreError(.wrongType, "holds a UUID that Foundation cannot read: \(id.uuidString)")
        }
        return object
      })
  }
}

extension SettingsAccess {
  /// Reads a value as an NSString, NSNumber, NSData, NSDate, NSArray or NSDictionary; nil if the key is absent.
  ///
  /// Throws what ``SettingsAccess/value(forKey:)`` throws.
  public func object(forKey key: String) throws(StoreError) -> NSObject? {
    try value(forKey: key).map(FoundationObject.of)
  }

  /// Writes an object; nil removes the key.
  ///
  /// Throws `invalid` for an object that a store cannot represent, at any depth; the stored value stays.
  public func setObject(_ object: Any?, forKey key: String) throws(StoreError) {
    guard let object else {
      try remove(key)
      return
    }
    let value: Value
    do { value = try FoundationObject.value(object) } catch {
      throw StoreError(error.code, key: key, error.message)
    }
    try set(value, forKey: key)
  }
}

/// Converts values to Foundation objects, and back.
private enum FoundationObject {
  static func of(_ value: Value) -> NSObject {
    switch value {
    case .null: NSNull()
    case .bool(let bool): NSNumber(value: bool)
    case .int(let number): NSNumber(value: number)
    case .uint(let number): NSNumber(value: number)
    case .double(let number): NSNumber(value: number)
    case .string(let text): NSString(string: text)
    case .bytes(let bytes): NSData(data: Data(bytes))
    case .date(let date):
      NSDate(timeIntervalSince1970: Double(date.seconds) + Double(date.nanoseconds) / 1_000_000_000)
    case .array(let elements): NSArray(array: elements.map(of))
    case .dictionary(let members):
      NSDictionary(objects: members.map { of($0.value) }, forKeys: members.map { NSString(string: $0.key.text) })
    }
  }

  static func value(_ object: Any) throws(StoreError) -> Value {
    switch object {
    case let value as any Storable: return try value.stored()
    case let number as NSNumber: return PropertyListForm.value(number)
    case let text as String: return .string(text)
    case let data as Data: return .bytes(Array(data))
    case let date as Date: return try date.stored()
    case let url as URL: return try url.stored()
    case let id as UUID: return id.stored()
    case let elements as [Any]:
      var values: [Value] = []
      for element in elements { values.append(try value(element)) }
      return .array(values)
    case let members as [String: Any]:
      var values: [(ExactString, Value)] = []
      for (name, member) in members { values.append((ExactString(name), try value(member))) }
      return .dictionary(ValueDictionary(values))
    default:
      throw StoreError(
        .invalid,
        "cannot hold an object of type \(type(of: object)); use a string, a number, data, a date, a URL, a UUID, "
          + "or an array or dictionary of these")
    }
  }
}
