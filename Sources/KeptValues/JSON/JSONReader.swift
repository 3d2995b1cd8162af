// Parses JSON text in two passes: the scan validates the bytes, and the builder creates the value. The profile of
// Extended JSON is in ExtendedJSON.swift.

extension Value {
  /// Parses a value from JSON.
  ///
  /// Throws `invalid` or `tooLarge`, with the offset of the invalid byte. The text `null` is ``null``, which cannot be
  /// stored by itself.
  public init(json text: String) throws(StoreError) {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(StoreError) in try Value(jsonBytes: bytes) }
    }
    self = try result.get()
  }

  /// Parses a JSON Schema: an object with keys such as `$id`, which are not a known form, is accepted as it is.
  package init(schemaJSON text: String) throws(StoreError) {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(StoreError) in try Value(jsonBytes: bytes, isSchema: true) }
    }
    self = try result.get()
  }

  /// Parses a value from the bytes of a JSON text; no terminator is needed.
  package init(jsonBytes bytes: UnsafeBufferPointer<UInt8>, isSchema: Bool = false) throws(StoreError) {
    let value = try JSONBuilder.value(of: bytes, JSONScanner.scan(bytes), isSchema: isSchema)
    try value.checkSize(offset: 0)
    self = value
  }
}
