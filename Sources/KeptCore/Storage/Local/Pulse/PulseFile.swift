// The file behind the pulse: made whole and linked into place, mended where it is damaged, and locked while it is in
// use.

import CPlatform

/// The open file `pulse` in a store's folder.
///
/// Everyone who has the store open holds a shared lock on it.
struct PulseFile: Sendable {
  let path: String
  let descriptor: Int32

  func close() { CPlatform.close(descriptor) }

  /// Whether the path still leads to this file.
  var isInPlace: Bool {
    var here = stat()
    var there = stat()
    return fstat(descriptor, &here) == 0 && stat(path, &there) == 0
      && here.st_ino == there.st_ino && here.st_dev == there.st_dev
  }

  /// Whether it has its whole page: what is mapped and not there is a crash for whoever reads it.
  var isWhole: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_size >= PulsePage.size
  }

  /// Opens the file that is at the path now, and lets its page take the place of the one that is mapped.
  func reopened(for store: StoreID, under page: PulsePage) throws(StoreError) -> PulseFile {
    let folder = StoreFolder(path: String(path.dropLast("/pulse".count)))
    let new = try Self.open(in: folder, waiting: 0)
    do throws(StoreError) {
      let error = page.replace(by: try new.map(for: store))
      guard error == 0 else { throw .system("map", path, errno: error) }
    } catch {
      new.close()
      throw error
    }
    close()
    return new
  }

  /// Opens the pulse of a folder, and makes it where there is none; waits for whoever mends the store.
  static func open(in folder: StoreFolder, waiting milliseconds: Int) throws(StoreError) -> PulseFile {
    let path = folder.path + "/pulse"
    let file = PulseFile(path: path, descriptor: try descriptor(path, in: folder))
    guard file.lock(Int16(F_RDLCK), waiting: milliseconds) else {
      file.close()
      throw StoreError(.busy, "\(path) is locked by a process that mends the store; try again")
    }
    return file
  }

  /// The page, as that of a store; it closes the file when it goes.
  func pulse(of store: StoreID) throws(StoreError) -> Pulse { Pulse(self, try map(for: store), of: store) }

  /// Takes or changes the lock: F_RDLCK, F_WRLCK, F_UNLCK; false when the time is over.
  func lock(_ kind: Int16, waiting milliseconds: Int) -> Bool {
    let end = Moment.milliseconds + Int64(milliseconds)
    var attempt = 0
    while !kept_lock_file(descriptor, kind) {
      guard Moment.milliseconds < end else { return false }
      Moment.backOff(attempt: attempt)
      attempt += 1
    }
    return true
  }

  private static func descriptor(_ path: String, in folder: StoreFolder) throws(StoreError) -> Int32 {
    let existing = kept_open_file(path, O_RDWR, 0)
    if existing >= 0 { return existing }
    guard kept_errno() == ENOENT else { throw .system("open", path) }
    let draft = folder.draftName()
    defer { unlink(draft) }
    try write(draft)
    guard link(draft, path) == 0 || kept_errno() == EEXIST else { throw .system("put the pulse into", folder.path) }
    let made = kept_open_file(path, O_RDWR, 0)
    guard made >= 0 else { throw .system("open", path) }
    return made
  }

  // Whose it is becomes known when the database is open.
  private static func write(_ draft: String) throws(StoreError) {
    let descriptor = kept_open_file(draft, O_RDWR | O_CREAT | O_EXCL, 0o600)
    guard descriptor >= 0 else { throw .system("make the file", draft) }
    defer { CPlatform.close(descriptor) }
    let file = PulseFile(path: draft, descriptor: descriptor)
    try file.allocate()
  }

  /// Gives the file its page before it is mapped: on a full disk this is an error, not a crash at the first write.
  private func allocate() throws(StoreError) {
    let status = kept_allocate(descriptor, off_t(PulsePage.size))
    guard status == 0 else { throw .system("make room for", path, errno: status) }
  }

  private func map(for store: StoreID) throws(StoreError) -> PulsePage {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("look at", path) }
    // A truncated page would be a crash for whoever reads beyond the end.
    if status.st_size < PulsePage.size { try allocate() }
    // The page is mapped for ever and would keep the lock with it: it is mapped through an opening of its own.
    let other = kept_open_file(path, O_RDWR, 0)
    guard other >= 0 else { throw .system("open", path) }
    defer { CPlatform.close(other) }
    var otherStatus = stat()
    guard fstat(other, &otherStatus) == 0, status.st_ino == otherStatus.st_ino else {
      throw StoreError(.unavailable, "\(path) was exchanged while it was opened; open the store again")
    }
    let start = mmap(nil, PulsePage.size, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0)
    guard let start, start != kept_map_failed() else { throw .system("map", path) }
    let page = PulsePage(start)
    // A damaged or strange one is mended where it is: those who have it mapped see another generation, and ask SQLite.
    if !page.belongs(to: store) { page.initialize(for: store) }
    return page
  }
}
