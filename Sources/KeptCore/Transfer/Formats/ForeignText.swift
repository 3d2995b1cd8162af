// What every reader of another program's text gives: settings, and what of the text is none.
//
// A value is carried whole or not at all. What Kept cannot hold is not an error of the text: it is reported. No sentence
// quotes a value: it may be a secret.

/// The settings in a text that another program has written.
package struct ForeignText: Sendable {
  /// The settings, in the order of their keys, each key once.
  package private(set) var entries: [Entry] = []
  /// What the text says and Kept does not take over as it is, in the order of the text; what is there twice comes last.
  package private(set) var notCarried: [NotCarried] = []
  private let naming: KeyNaming

  package struct Entry: Sendable {
    package let key: KeyName
    package let content: Content
    /// Where it stands in the text: "line 3", or the name that it has there.
    package let place: String
  }

  package enum Content: Sendable {
    /// In the form that a store keeps.
    case value(Value)
    /// Text whose type a declaration can tell, as in a layer of text; otherwise it is a string.
    case text(TextValue)
  }

  /// Reads a text of any format but ``ImportFormat/kept``.
  ///
  /// Throws `invalid` or `tooLarge`, with an offset, for a text that is not of the format.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, as format: ImportFormat, _ naming: KeyNaming = KeyNaming()
  ) throws(StoreError) {
    self.naming = naming
    throw StoreError(.unsupported, "texts of this format are not read yet")
  }
}

/// Something in an imported text that was not taken over, or not as it was.
public struct NotCarried: Hashable, Sendable {
  /// Where it stands: "line 3", or the name that it has in the text.
  public let place: String
  public let reason: String

  public init(place: String, reason: String) {
    self.place = place
    self.reason = reason
  }
}
