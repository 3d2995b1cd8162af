// Which texts are property lists: old-style ones, such as {a=1;b=(1,2);}, and elements of XML ones, such as
// <integer>5</integer>.

enum PropertyListText {
  /// The value that a text as a whole stands for; nil if it is no property list, or one over the limits of a store.
  static func value(_ text: String) -> Value? {
    var text = text
    let value = text.withUTF8 { bytes -> Value? in
      var reader = PropertyListReader(bytes)
      if let value = reader.readOldStyle(), reader.isAtEnd { return value }
      reader = PropertyListReader(bytes)
      return reader.readXML()
    }
    return value.flatMap { try? $0.checkedForStore() }
  }
}

/// A place in the text of a property list, and what can be read there.
///
/// What cannot be read is nil, and leaves the place anywhere.
struct PropertyListReader {
  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0
  private var depth = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }
  func readOldStyle() -> Value? { nil }
  func readXML() -> Value? { nil }
}
