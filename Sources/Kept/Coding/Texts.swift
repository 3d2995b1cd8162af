// Types that are stored as their text, so that C, Python and people can read them.

public import FoundationEssentials
public import KeptCore

extension URL: Storable, CodedAsStored {
  /// Reads the text of a URL of any scheme.
  public init(stored value: Value) throws(StoreError) {
    guard let url = URL(string: try String(stored: value)) else {
      throw StoreError(.wrongType, "holds string that is no URL")
    }
    self = url
  }

  /// The absolute text; a URL with a base is stored together with it.
  public func stored() -> Value { .string(absoluteString) }

  public static var schema: Schema? { .string }
}

extension UUID: Storable, CodedAsStored {
  /// Reads 8-4-4-4-12 hexadecimal digits, in upper or lower case.
  public init(stored value: Value) throws(StoreError) {
    guard let uuid = UUID(uuidString: try String(stored: value)) else {
      throw StoreError(.wrongType, "holds string that is no UUID")
    }
    self = uuid
  }

  public func stored() -> Value { .string(uuidString) }

  public static var schema: Schema? { .string }
}
