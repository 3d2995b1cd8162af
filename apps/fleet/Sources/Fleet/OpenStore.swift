// Checks whether an open store must be opened again: no other process can repair it before it is closed.

internal import FoundationEssentials
internal import Glibc
internal import Kept

/// A store in a folder, and its pulse as it was when the store was opened.
struct OpenStore: Sendable {
  let store: Store
  private let folder: String
  private let pulse: FileIdentity?

  init(_ store: Store, in folder: String) {
    (self.store, self.folder) = (store, folder)
    pulse = FileIdentity("\(folder)/pulse")
  }

  /// Throws if the store was removed, replaced or damaged.
  ///
  /// - Parameter isThorough: whether all of it is read. Otherwise it is read only if a program has found damage, which
  ///   leaves a mark.
  func check(isThorough: Bool) throws(StoreError) {
    guard FileIdentity("\(folder)/pulse") == pulse else { throw replaced }
    guard pulse != nil, isThorough || access("\(folder)/damaged", F_OK) == 0 else { return }
    let found: Verification
    do throws(StoreError) { found = try store.verify() } catch {
      guard error.code == .unavailable else { return }
      throw StoreError(.unavailable, "the store \(folder) cannot be read: \(error.message); restart kept-fleet")
    }
    // A value that is damaged alone is refused alone.
    guard found.damage.contains(where: { $0.key == nil }) else { return }
    throw StoreError(
      .unavailable,
      "the store \(folder) is damaged; close it in all other programs, and restart kept-fleet to salvage the readable "
        + "data")
  }

  var replaced: StoreError {
    StoreError(.unavailable, "the store \(folder) was removed or replaced; restart kept-fleet")
  }
}

/// Distinguishes a file from others that had, or will have, its path.
struct FileIdentity: Sendable, Hashable {
  private let device: dev_t
  private let number: ino_t

  /// Nil if the file does not exist.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (device, number) = (status.st_dev, status.st_ino)
  }

  /// Nil for a descriptor that is not open.
  init?(_ descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    (device, number) = (status.st_dev, status.st_ino)
  }
}
