// The file of a layer: which files are accepted, and reading one of them completely.

import CPlatform
package import KeptSystem
package import KeptValues

/// A file that an administrator writes for the managed or the system layer.
package struct LayerFile: Sendable {
  let path: String
  let layer: Layer
  /// For tests: called after the file was opened and before it is read.
  var beforeReading: @Sendable () -> Void = {}

  package init(path: String, layer: Layer) {
    self.path = path
    self.layer = layer
  }

  /// The default path: `/etc/kept/<identifier>/managed.json` or `…/system.json`.
  static func standardPath(identifier: String, layer: Layer) -> String { "/etc/kept/\(identifier)/\(layer).json" }

  /// The files of a layer at a path, the more important one first.
  ///
  /// In a sandbox that shows the files of its host, those below `/etc/kept` include the host's.
  static func all(at path: String, layer: Layer) -> [LayerFile] {
    let file = LayerFile(path: path, layer: layer)
    guard path.begins(with: "/etc/kept/"), FileStatus.isThere(AdministratorFolder.host + "/etc") else {
      return [file]
    }
    return [LayerFile(path: AdministratorFolder.host + path, layer: layer), file]
  }

  /// Whether there is anything at the path, be it a broken file; it is not read.
  var isThere: Bool {
    do throws(StoreError) {
      guard let _ = try AdministratorFolder.find(path) else { return false }
    } catch {}
    return true
  }

  package enum Reading: Sendable {
    /// The file is unchanged.
    case unchanged
    case read(LayerContents, FileStamp)
    /// The file or its folder does not exist: an empty layer.
    case absent
    /// An error to report; the layer stays as it was.
    case failed(StoreError)
  }

  /// How often a file is read again if it changes while it is read.
  private static let attempts = 5

  /// Reads the file unless it still has the given stamp.
  package func read(since stamp: FileStamp?) -> Reading {
    guard !path.utf8.isEmpty, !path.utf8.contains(0) else {
      return .failed(StoreError(.invalid, "the path of the \(layer) layer is empty or contains a NUL; use another"))
    }
    do throws(StoreError) {
      for _ in 1...Self.attempts {
        if let reading = try attempt(since: stamp) { return reading }
      }
      throw problem(.busy, "changed every time it was read; write a new file, and rename it over this one")
    } catch {
      return .failed(error)
    }
  }

  /// Reads the file once; nil if it changed while it was read.
  private func attempt(since stamp: FileStamp?) throws(StoreError) -> Reading? {
    let found: PathWalk.Found
    do throws(StoreError) {
      guard let file = try AdministratorFolder.find(path) else { return .absent }
      found = file
    } catch {
      throw error.said { "\(subject): \($0)" }
    }
    // Checked before it is opened: opening a device can have side effects.
    try check(found.status, found.path)
    if stamp?.vouches(for: FileStamp(found.status.system)) == true { return .unchanged }
    let outcome = try open(found)
    switch outcome {
    case .read(let reading): return reading
    case .refused(let error): return try notOpened(error)
    case .exchanged: return nil
    }
  }

  private func open(_ found: borrowing PathWalk.Found) throws(StoreError) -> ForeignFile.Outcome<Reading?> {
    let (name, folder, place) = (found.name, found.folder.descriptor, found.path)
    return try ForeignFile.open(name, in: folder, calling: subject) { status throws(StoreError) in
      try check(status, place)
    } _: { file, status throws(StoreError) in
      try check(status, place)
      let before = FileStamp(status.system)
      beforeReading()
      let bytes = try bytes(of: file, expecting: status.size)
      // Checked by its name, to confirm that it is still in place.
      guard before.isSame(as: FileStamp(of: name, in: folder)), bytes.count == status.size else { return nil }
      return .read(try LayerContents(bytes, layer: layer, calling: subject), before)
    }
  }

  private func notOpened(_ error: Int32) throws(StoreError) -> Reading? {
    switch error {
    // Removed, or replaced by a link or a socket, since it was checked.
    case ENOENT, ENOTDIR, ELOOP, ENXIO: return nil
    default: throw cannotRead(error)
    }
  }

  /// Throws if it is not a regular file, another user may write it, or it is too large.
  private func check(_ status: FileStatus, _ place: String) throws(StoreError) {
    if let other = status.otherKind {
      throw problem(.unavailable, "is \(other), not a regular file; replace it with a regular file")
    }
    do throws(StoreError) { try AdministratorFolder.check(status, place) } catch {
      throw error.said { "\(subject): \($0)" }
    }
    try LayerContents.check(size: status.size, of: subject + ",")
  }

  /// All bytes; one more than expected if there are more.
  private func bytes(of file: Int32, expecting size: Int) throws(StoreError) -> [UInt8] {
    try Memory.ask(for: size, to: "read \(subject)")
    var error: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size + 1) { buffer, count in
      while count <= size, let start = buffer.baseAddress {
        let got = CPlatform.read(file, start + count, size + 1 - count)
        if got < 0 && kept_errno() == EINTR { continue }
        if got < 0 { error = kept_errno() }
        guard got > 0 else { return }
        count += got
      }
    }
    guard error == 0 else { throw cannotRead(error) }
    return bytes
  }

  private var subject: String { "\(path), the file of the \(layer) layer" }

  private func problem(_ code: StoreError.Code, _ words: String) -> StoreError {
    StoreError(code, "\(subject), \(words)")
  }

  private func cannotRead(_ error: Int32) -> StoreError { .system("read", "\(subject)", errno: error) }
}
