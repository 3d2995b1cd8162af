// One file for each key, for large values and for files that people edit. This file decides which files are read, and
// who may write.

import CPlatform
import KeptSystem
public import KeptValues

/// Keeps each key in a file of its own, as JSON that people can read and edit: `dir:/path`.
///
/// It is a simple storage: ``Store/open(_:options:)`` uses `SimpleStorageAdapter(try DirectoryStorage(path: path))` for
/// such a location.
///
/// - A file is synced and then replaced atomically: after a kill or a power loss it has the old value or the new one. A
///   durable write also syncs the folder.
/// - A file that has no valid value is an error until its key is set or removed. One that cannot be read is an error,
///   and is not overwritten. Symbolic links, FIFOs and folders in place of a file are refused. Files whose names do not
///   belong to a key are ignored.
/// - Programs that use Kept write one at a time, under the lock on `.kept-lock`, so conditions on revisions hold
///   between them. An editor takes no lock: a change that it writes between the check and the replacement is lost.
/// - Observers are notified of an edit at once, and at the latest after two seconds.
/// - Keys change one at a time: a transaction or ``SettingsAccess/removeAll(prefix:)`` that changes several is
///   `unsupported`, and nothing is changed.
/// - Revisions are counted in each process separately: they have no meaning in another one.
public final class DirectoryStorage: GuardedStorage {
  private struct State {
    // The last values read: a file with the same stamp is not read again.
    var read: [KeyName: (value: Value, stamp: FileStamp)] = [:]
    var watch: FileWatch.Token?
    var lock: Int32 = -1
    // A file that is written already and only has to be renamed.
    var draft: Draft?
    var hasSwept = false
    // The folders with changed names that were not synced yet.
    var unsynced: Set<String> = []
  }
  private struct Draft {
    let key: KeyName
    let value: Value
    let path: String
  }

  let path: String
  // The same folder, for system calls.
  private let place: StoreFolder
  private let folder: FileStatus
  package let busyTimeoutMilliseconds: Int
  private let state = Monitor(State())

  package let abilities: StorageAbilities = [.sharedBetweenProcesses, .durable]

  /// Opens the folder, and creates it if it does not exist.
  ///
  /// A folder that other users may write is `denied`; a folder of another user is only read.
  /// - Parameter busyTimeoutMilliseconds: how long a write waits for those of other processes; it is bounded as
  ///   ``StoreOptions/busyTimeoutMilliseconds`` is.
  public init(path: String, busyTimeoutMilliseconds: Int = 5000) throws(StoreError) {
    let folder = try StoreFolder(preparing: StoreFolder(path: path).absolute().path)
    try FileSystem(of: folder.path).checkLocal(folder.path)
    self.path = folder.path
    guard let held = OpenFolder(holding: try UserLinks.resolve(path) ?? path) else {
      throw .system("open the folder", path)
    }
    self.folder = try held.status()
    // A folder of another user is only read: writing requires the lock.
    try Trust.check(sharedFolder: self.folder, path)
    place = try StoreFolder(held)
    self.busyTimeoutMilliseconds = BusyTimeout.effective(milliseconds: busyTimeoutMilliseconds)
  }

  deinit { close() }

  // MARK: - SimpleStorage and ListingStorage

  public func get(_ key: KeyName) throws(StoreError) -> Value? {
    // Without its thread, observers wait; a read looks at the file.
    try? FileWatch.revive()
    let file = file(of: key)
    let known = state.read { $0.read[key] }
    if let known, known.stamp.vouches(for: FileStamp(of: file.path)) { return known.value }
    guard try hasFolders(of: file, making: false) else {
      try checkFolder()
      return nil
    }
    let found = try file.value()
    if found == nil { try checkFolder() }
    state.updateQuietly { $0.read[key] = found }
    return found?.value
  }

  public func set(_ key: KeyName, to value: Value) throws(StoreError) {
    if !state.read({ $0.draft?.key == key && $0.draft?.value == value }) { try prepare(key, value) }
    let draft = state.updateQuietly { state in
      defer { state.draft = nil }
      return state.draft
    }
    guard let draft else {
      throw StoreError(.failed, "another thread is writing to \(path) through this object; try again")
    }
    let file = file(of: key)
    try file.replace(by: draft.path)
    changed(key, in: Self.folder(of: file))
  }

  public func remove(_ key: KeyName) throws(StoreError) {
    let file = file(of: key)
    guard try file.remove() else { return }
    changed(key, in: removeEmptyFolders(above: file))
  }

  public func keys() throws(StoreError) -> [KeyName] {
    try? FileWatch.revive()
    var keys: [KeyName] = []
    try place.checkInPlace()
    try FolderListing.visit(place.path) { file in
      if let key = KeyFileName.key(at: file) { keys.append(key) }
    }
    return keys
  }

  public func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) throws(StoreError) {
    let path = path
    let watch = try FileWatch.begin(folder: path, stamp: { FileStamp(ofFolder: path) }) { changed(nil) }
    state.updateQuietly { $0.watch = watch }
  }

  // MARK: - Locking

  package func lock(waiting milliseconds: Int) throws(StoreError) {
    // Inside the monitor, so that a fork knows the descriptor; the waiting is outside.
    try state.updateQuietly { state throws(StoreError) in
      state.lock = try OpenFolder.own(place.path).openOrMake(StoreFiles.keyFilesLock, O_RDWR)
    }
    let deadline = MonotonicTime.milliseconds + Int64(milliseconds)
    var attempt = 0
    while !state.read({ kept_lock_file($0.lock, Int16(F_WRLCK)) }) {
      guard MonotonicTime.milliseconds < deadline else {
        unlock()
        throw StoreError(.busy, "another process held the write lock of \(path) until the timeout; try again")
      }
      MonotonicTime.backOff(attempt: attempt)
      attempt += 1
    }
    let isFirst = state.updateQuietly { state in
      defer { state.hasSwept = true }
      return !state.hasSwept
    }
    if isFirst { sweep() }
  }

  package func unlock() {
    discardDraft()
    state.updateQuietly { state in
      // Unlocked explicitly, not only by closing: a child that was forked in between has the descriptor too.
      _ = kept_lock_file(state.lock, Int16(F_UNLCK))
      CPlatform.close(state.lock)
      state.lock = -1
    }
  }

  package func prepare(_ key: KeyName, _ value: Value) throws(StoreError) {
    discardDraft()
    _ = try hasFolders(of: file(of: key), making: true)
    let draft = "\(place.path)/\(Self.draftPrefix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
    try KeyFile.write(value, draft: draft)
    state.updateQuietly { $0.draft = Draft(key: key, value: value, path: draft) }
  }

  /// Removes a draft that is not used.
  private func discardDraft() {
    let draft = state.updateQuietly { state in
      defer { state.draft = nil }
      return state.draft
    }
    guard let draft else { return }
    unlink(draft.path)
    removeEmptyFolders(above: file(of: draft.key))
  }

  package func forgetWriter() {
    state.updateQuietly { state in
      if state.lock >= 0 { CPlatform.close(state.lock) }
      (state.lock, state.draft) = (-1, nil)
    }
  }

  package func sync() throws(StoreError) {
    // Also without a change: a name that another process has changed may not be synced yet.
    for folder in state.read(\.unsynced).union([place.path]) where FileStatus(of: folder + "/.") != nil {
      try StoreFolder.sync(folder: folder)
    }
    state.updateQuietly { $0.unsynced = [] }
  }

  package func close() {
    let watch = state.updateQuietly { state in
      defer { state.watch = nil }
      return state.watch
    }
    watch?.end()
  }

  /// Removes drafts that killed processes left behind: while this process has the lock, no other process writes one.
  private func sweep() {
    for name in (try? FolderListing.names(in: place.path)) ?? [] where name.begins(with: Self.draftPrefix) {
      unlink("\(place.path)/\(name)")
    }
  }

  // MARK: - Files and folders

  static let draftPrefix = ".kept-new-"

  private func file(of key: KeyName) -> KeyFile {
    KeyFile(path: "\(place.path)/\(KeyFileName.path(of: key))", folder: folder)
  }

  private func changed(_ key: KeyName, in folder: String) {
    state.updateQuietly { state in
      state.read[key] = nil
      state.unsynced.insert(folder)
    }
  }

  /// Throws if the folder itself no longer exists, because its contents are then unknown.
  private func checkFolder() throws(StoreError) {
    guard FileStatus(of: place.path + "/.") != nil else { throw .system("read", path) }
  }

  /// Whether the folders that a long key needs exist; throws if something else is in place of one.
  private func hasFolders(of file: KeyFile, making: Bool) throws(StoreError) -> Bool {
    let pieces = file.path.utf8.dropFirst(place.path.utf8.count + 1).split(separator: UInt8(ascii: "/")).dropLast()
    try place.checkInPlace()
    var folder = place.path
    for piece in pieces {
      let above = folder
      folder += "/" + String(decoding: piece, as: UTF8.self)
      if making && kept_make_folder(folder) == 0 {
        state.updateQuietly { _ = $0.unsynced.insert(above) }
        continue
      }
      guard let status = FileStatus(of: folder) else {
        if kept_errno() == ENOENT && !making { return false }
        throw .system("create the folder", folder)
      }
      guard status.isFolder else {
        throw StoreError(.unavailable, "\(folder) is not a folder; move it away")
      }
      try Trust.check(shared: status, folder, ofFolder: self.folder)
    }
    return true
  }

  /// Removes a file, and the folders of a long key that no other key needs.
  ///
  /// - Returns: the innermost remaining folder.
  @discardableResult
  private func removeEmptyFolders(above file: KeyFile) -> String {
    var folder = Self.folder(of: file)
    while folder != place.path, rmdir(folder) == 0 { folder = PathWalk.parent(of: folder) }
    return folder
  }

  private static func folder(of file: KeyFile) -> String {
    let slash = file.path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? file.path.endIndex
    return String(file.path[..<slash])
  }
}
