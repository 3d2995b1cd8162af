// Which texts are property lists: old-style ones, such as {a=1;b=(1,2);}, and elements of XML ones, such as
// <integer>5</integer>.

enum PropertyListText {
  /// The value that a text as a whole stands for; nil if it is no property list, or one over the limits of a store.
  static func value(_ text: String) -> Value? {
    var text = text
    let value = text.withUTF8 { bytes -> Value? in
      var reader = PropertyListReader(bytes)
      if let value = reader.oldStyleText() { return value }
      reader = PropertyListReader(bytes)
      return reader.xmlText()
    }
    return value.flatMap { try? $0.checkedForStore() }
  }
}
