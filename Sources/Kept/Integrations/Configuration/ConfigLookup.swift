// Looks up keys of swift-configuration in a store, and converts their values.

#if Configuration
import Configuration
import FoundationEssentials
import KeptCore
import KeptSystem
import KeptValues

/// Reads the value for a key of swift-configuration.
struct ConfigLookup: Sendable {
  let includingDefaults: Bool

  /// - Parameter read: reads a key from the store.
  func result(
    forKey key: AbsoluteConfigKey, type: ConfigType, _ read: (KeyName) throws(StoreError) -> Reading
  ) throws(StoreError) -> LookupResult {
    let name = try KeyName(key)
    let reading = try read(name)
    var result = LookupResult(encodedKey: name.text, value: nil)
    guard let layer = reading.resolved.layer, includingDefaults || layer > .registered else { return result }
    let content = try reading.resolved.content(as: type, key: name)
    result.value = content.map { ConfigValue($0, isSecret: reading.isSecret) }
    return result
  }
}

extension KeyName {
  /// The components, joined by dots.
  init(_ key: AbsoluteConfigKey) throws(StoreError) { try self.init(key.components.joined(separator: ".")) }
}

extension Resolved {
  fileprivate func content(as type: ConfigType, key: KeyName) throws(StoreError) -> ConfigContent? {
    guard let value else { return nil }
    if let content = converted({ try? ConfigContent($0, as: type) }) { return content }
    do { return try ConfigContent(value, as: type) } catch { throw error.found(in: layer).about(key.text) }
  }
}

extension ConfigContent {
  /// Converts a stored value by the rules for keys of Swift types.
  fileprivate init(_ value: Value, as type: ConfigType) throws(StoreError) {
    self =
      switch type {
      case .string: .string(try String(stored: value))
      case .int: .int(try Int(stored: value))
      case .double: .double(try Double(stored: value))
      case .bool: .bool(try Bool(stored: value))
      case .bytes: .bytes([UInt8](try Data(stored: value)))
      case .stringArray: .stringArray(try [String](stored: value))
      case .intArray: .intArray(try [Int](stored: value))
      case .doubleArray: .doubleArray(try [Double](stored: value))
      case .boolArray: .boolArray(try [Bool](stored: value))
      case .byteChunkArray: .byteChunkArray(try [Data](stored: value).map { [UInt8]($0) })
      }
  }
}
#endif
