// The state of a layer's file, and the check of a document that is to become one.

public import KeptValues

/// A file that a layer of a store is read from, and its state.
///
/// In C: `kept_layer_files_json`. In Python: `kept.LayerFile`.
public struct LayerFileState: Sendable {
  public var layer: Layer
  /// The absolute path of the file.
  public var path: String
  public var state: State
  /// Why the file is broken, in one sentence.
  public var problem: String?

  public enum State: String, Sendable {
    /// The file does not exist: its layer is empty.
    case absent
    /// The layer has the contents of the file.
    case read
    /// The file cannot be read or parsed: the layer keeps its last good contents.
    case broken
  }

  package var asValue: Value {
    var members: [(ExactString, Value)] = [
      ("layer", .string(layer.description)), ("path", .string(path)), ("state", .string(state.rawValue)),
    ]
    if let problem { members.append(("problem", .string(problem))) }
    return .dictionary(ValueDictionary(members))
  }
}

extension Layer {
  /// Checks the text of a file before it is written: whether stores will accept it as this layer.
  ///
  /// Values are not compared with declarations. Throws what reading the file would report, with "the document" in place
  /// of the path: `invalid` or `tooLarge`. Throws `invalid` for a layer that has no file. In C: `kept_layer_check`. In
  /// Python: `kept.check_layer(text, layer)`.
  public func check(_ document: String) throws(StoreError) { try check(Array(document.utf8)) }

  package func check(_ document: [UInt8]) throws(StoreError) {
    guard self == .managed || self == .system else {
      throw StoreError(.invalid, "the \(self) layer is not read from a file; use the managed or the system layer")
    }
    try LayerContents.check(size: document.count, of: "the document")
    _ = try LayerContents(document, layer: self, calling: "the document")
  }
}
