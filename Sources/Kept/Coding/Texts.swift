// Types that are stored as their text, so that C, Python and people can read them.

public import FoundationEssentials
import KeptSchema
import KeptValues

extension URL: Storable, CodedAsStored {
  /// Reads the text of a URL of any scheme, or the absolute path of a file: `/tmp/a b` is `file:///tmp/a%20b`.
  // UserDefaults stores a path, and people and shell scripts write one.
  public init(stored value: Value) throws(StoreError) {
    let text = try String(stored: value)
    let path = text.isPath && !text.utf8.contains(0) ? URL(filePath: text, directoryHint: .inferFromPath) : nil
    guard let url = path ?? URL(string: text), !text.isPath || path != nil else {
      throw StoreError(.wrongType, "holds a string that is not a URL")
    }
    self = url
  }

  /// The absolute text; a URL with a base is stored together with it.
  ///
  /// Throws `invalid` for a URL without a scheme that begins with a slash: it would be read as a file URL.
  public func stored() throws(StoreError) -> Value {
    let text = absoluteString
    guard !text.isPath else {
      throw StoreError(
        .invalid,
        "the URL has no scheme and would be read as the path of a file; add a scheme or a base")
    }
    return .string(text)
  }

  public static var schema: Schema? { .string }
}

extension UUID: Storable, CodedAsStored {
  /// Reads 8-4-4-4-12 hexadecimal digits, in upper or lower case.
  public init(stored value: Value) throws(StoreError) {
    guard let uuid = UUID(uuidString: try String(stored: value)) else {
      throw StoreError(.wrongType, "holds a string that is not a UUID")
    }
    self = uuid
  }

  public func stored() -> Value { .string(uuidString) }

  public static var schema: Schema? { .string }
}

extension String {
  /// Whether it is the absolute path of a file when read as a URL.
  fileprivate var isPath: Bool { utf8.first == UInt8(ascii: "/") }
}
