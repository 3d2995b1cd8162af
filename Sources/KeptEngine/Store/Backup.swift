// A backup: one file like `values`, which also has the history. It is a store of its own, and needs no journal: put
// into an empty folder under that name, it can be opened.

import CPlatform
import KeptSystem
package import KeptValues

package enum Backup {
  /// Writes all that was published before the call into an empty file, on the disk before the call returns.
  ///
  /// - Parameter secrets: returns what the file `secrets` says of the keys that the contents need, once they are known;
  ///   nil if it has changed.
  /// - Returns: the revision; nil, with nothing written, if the file has changed.
  package static func write(
    _ engine: Engine, to file: StoreFile, secrets: () throws(StoreError) -> String? = { () throws(StoreError) in "" }
  ) throws(StoreError) -> Revision? {
    try engine.past { past, chain throws(StoreError) in
      var header = header(chain.revision, chain.schemaVersion)
      (header.floor, header.limits) = (chain.floor, chain.limits)
      guard let keys = try secrets() else { return nil }
      header.secrets = keys
      let writer = ValuesWriter(file, header)
      try Fold(chain: chain, floor: chain.floor, fits: engine.fits).write(to: writer)
      _ = try writer.finish { file, offset throws(StoreError) in
        let scan = HistoryScan(past.changes, completeAfter: past.completeAfter, limits: chain.limits)
        guard scan.completeAfter < chain.revision else { return 0 }
        return try HistoryFile.write(
          scan, upTo: chain.revision, following: nil, ValuesHeader.ofBackup, file, at: offset)
      }
      return chain.revision
    }
  }

  /// Writes what a snapshot has, without the history.
  package static func write(
    _ snapshot: EngineSnapshot, to file: StoreFile, secrets: String, fits: @escaping (Value, String) -> Bool
  ) throws(StoreError) {
    _ = try snapshot.list { chain throws(StoreError) in
      var header = header(chain.revision, chain.schemaVersion)
      (header.floor, header.secrets) = (chain.revision, secrets)
      let writer = ValuesWriter(file, header)
      try Fold(chain: chain, floor: chain.floor, fits: fits).write(to: writer)
      _ = try writer.finish()
    }
  }

  /// Writes the states of keys, in their order, as ``write(_:to:)`` does; there is no history.
  package static func write(
    _ states: [(key: KeyName, state: KeyState)], revision: Revision, schemaVersion: UInt32, to file: StoreFile,
    fits: (Value, String) -> Bool
  ) throws(StoreError) {
    var header = header(revision, schemaVersion)
    header.floor = revision
    let writer = ValuesWriter(file, header)
    for (key, state) in states { try writer.add(key, state, fits: fits) }
    _ = try writer.finish()
  }

  private static func header(_ revision: Revision, _ schemaVersion: UInt32) -> ValuesHeader {
    var header = ValuesHeader(store: .random(), number: 0, position: 0, previous: 0)
    (header.revision, header.schemaVersion, header.history) = (revision, schemaVersion, ValuesHeader.ofBackup)
    return header
  }

  /// Reads a backup record by record: not through its hash table, which may lead past some of them.
  ///
  /// Throws `unsupported` for a file that is not a backup or of another format, and `corrupt` for a damaged one.
  /// - Parameter body: receives the keys in their order, with their states.
  /// - Returns: the header.
  package static func read(
    _ file: StoreFile, _ body: (KeyName, KeyState) throws(StoreError) -> Void
  ) throws(StoreError) -> ValuesHeader {
    try checkBeginning(of: file)
    let values = try ValuesReader(file)
    guard values.header.isBackup else { throw partOfStore }
    var (keys, last): (UInt64, KeyName?) = (0, nil)
    try values.forEachRecord(from: UnsafeRawBufferPointer(start: nil, count: 0)) { record throws(StoreError) in
      guard let key = record.key.keyName, last.map({ $0.exact < key.exact }) ?? true else {
        throw StoreError(.corrupt, "\(shown: file.path) is damaged: a key is malformed, or not in its place")
      }
      last = key
      guard !record.flags.contains(.removal) else { return true }
      keys += 1
      do throws(StoreError) { try body(key, KeyState(record)) } catch { throw error.about(key.text) }
      return true
    }
    guard keys == values.header.keys else {
      throw StoreError(
        .corrupt, "\(shown: file.path) is damaged: it has \(keys) of \(values.header.keys) keys")
    }
    return values.header
  }

  /// Throws `unsupported` for a file of another kind.
  static func checkBeginning(of file: StoreFile) throws(StoreError) {
    var isBackup = try begins(file, at: 0)
    if !isBackup { isBackup = try begins(file, at: max(0, try file.size() - ValuesFormat.blockBytes)) }
    guard isBackup else {
      throw StoreError(
        .unsupported, "it does not start with a backup header; use a file that was created as a backup")
    }
  }

  /// The error for a checkpoint that is not a backup.
  static var partOfStore: StoreError {
    StoreError(.unsupported, "it is a file of a store, not a backup; give the folder of the store, or a backup")
  }

  /// Whether a file has a header at an offset.
  ///
  /// There are two, so that a damaged backup is not taken for another file.
  private static func begins(_ file: StoreFile, at offset: Int) throws(StoreError) -> Bool {
    let beginning = ByteBuffer(to: "read a backup")
    beginning.truncate(to: try file.read(try beginning.add(8), at: offset))
    return beginning.bytes.number(0, UInt64.self) == ValuesFormat.magic
  }
}
