// Reads and replaces the file `secrets` in the folder of a store.

import CPlatform
package import KeptSystem
package import KeptValues

package enum SecretsFile {
  package static let name = "secrets"
  private static let mostBytes = 1 << 20

  /// The document of a store; nil if it has none.
  ///
  /// Throws what opening a file of a store throws, and what reading the document throws.
  package static func read(in folder: borrowing OpenFolder) throws(StoreError) -> SecretsDocument? {
    guard let file = try folder.open(name, O_RDONLY) else { return nil }
    defer { close(file) }
    let path = folder.path + "/" + name
    guard let bytes = try WholeFile.bytes(of: file, path, atMost: mostBytes, expecting: 0) else {
      throw Members.damaged("it is larger than \(mostBytes) bytes")
    }
    return try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try SecretsDocument(json: bytes) }
  }

  /// Replaces the document: whatever happens, the file is the old one or the new one.
  ///
  /// The caller makes sure that no other process does the same.
  package static func write(_ document: SecretsDocument, in folder: borrowing OpenFolder) throws(StoreError) {
    let target = FileTarget(folder.path + "/" + name, in: try folder.again())
    try FileDraft.place(in: target) { draft throws(StoreError) in
      try ExactString(document.json + "\n").withBytes { bytes throws(StoreError) in try draft.write(bytes) }
    }
  }
}
