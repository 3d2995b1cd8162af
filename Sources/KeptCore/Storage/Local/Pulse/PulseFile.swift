// The file behind the pulse: completed and then linked into place, repaired if it is damaged, and locked while it is in
// use.

import CPlatform

/// The open file `pulse` in a store's folder.
///
/// Every process that has the store open holds a shared lock on it.
struct PulseFile: Sendable {
  private static let name = "pulse"

  let path: String
  let descriptor: Int32

  func close() { CPlatform.close(descriptor) }

  /// Whether the path still leads to this file.
  var isInPlace: Bool {
    guard let here = FileStatus(of: descriptor), let there = FileStatus(of: path) else { return false }
    return here.identity == there.identity
  }

  /// Whether the file has its whole page: reading a mapped page beyond the end of the file crashes.
  var isWhole: Bool {
    FileStatus(of: descriptor).map { $0.size >= PulsePage.size } == true
  }

  /// Opens the file that is at the path now, and maps its page in place of the current one.
  func reopened(for store: StoreID, under page: PulsePage) throws(StoreError) -> PulseFile {
    let folder = StoreFolder(path: StoreFolder.parent(of: path))
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

  /// Opens the pulse of a folder, creating it if necessary; waits while another process repairs the store.
  static func open(in folder: StoreFolder, waiting milliseconds: Int) throws(StoreError) -> PulseFile {
    let path = folder.path + "/" + name
    let file = PulseFile(path: path, descriptor: try descriptor(in: folder))
    guard file.lock(Int16(F_RDLCK), waiting: milliseconds) else {
      file.close()
      throw StoreError(.busy, "\(path) is locked by a process that salvages the store; try again")
    }
    return file
  }

  /// Maps the page for a store; the pulse closes the file when it is released.
  func pulse(of store: StoreID) throws(StoreError) -> Pulse { Pulse(self, try map(for: store), of: store) }

  /// Acquires or changes the lock: F_RDLCK, F_WRLCK, F_UNLCK; returns false after the time-out.
  func lock(_ kind: Int16, waiting milliseconds: Int) -> Bool {
    let end = MonotonicTime.milliseconds + Int64(milliseconds)
    var attempt = 0
    while !kept_lock_file(descriptor, kind) {
      guard MonotonicTime.milliseconds < end else { return false }
      MonotonicTime.backOff(attempt: attempt)
      attempt += 1
    }
    return true
  }

  private static func descriptor(in place: StoreFolder) throws(StoreError) -> Int32 {
    let folder = try OpenFolder.own(place.path)
    if let found = folder.status(of: name), found.hasOtherNames { place.removeDrafts(of: found) }
    if let existing = try folder.open(name, O_RDWR) { return existing }
    let draft = StoreFolder.draftName()
    defer { folder.remove(draft) }
    try write(draft, in: folder)
    _ = try folder.putInPlace(draft, as: name)
    guard let made = try folder.open(name, O_RDWR) else {
      throw .system("open", place.path + "/" + name, errno: ENOENT)
    }
    return made
  }

  // The store's id is written when the database is open.
  private static func write(_ draft: String, in folder: borrowing OpenFolder) throws(StoreError) {
    let descriptor = try folder.make(draft)
    defer { CPlatform.close(descriptor) }
    try PulseFile(path: folder.path + "/" + draft, descriptor: descriptor).allocate()
  }

  /// Allocates the page before it is mapped: on a full disk this is an error instead of a crash at the first write.
  private func allocate() throws(StoreError) {
    let status = kept_allocate(descriptor, off_t(PulsePage.size))
    guard status == 0 else { throw .system("make room for", path, errno: status) }
  }

  private func map(for store: StoreID) throws(StoreError) -> PulsePage {
    guard let status = FileStatus(of: descriptor) else { throw .system("look at", path) }
    // Reading a truncated page beyond the end of the file crashes.
    if status.size < PulsePage.size { try allocate() }
    // The page stays mapped and would hold the lock with it, so it is mapped through a second open file description.
    let folder = try OpenFolder.own(StoreFolder.parent(of: path))
    guard let other = try folder.open(Self.name, O_RDWR) else { throw .system("open", path, errno: ENOENT) }
    defer { CPlatform.close(other) }
    guard status.identity == FileStatus(of: other)?.identity else {
      throw StoreError(.unavailable, "\(path) was exchanged while it was opened; open the store again")
    }
    let start = mmap(nil, PulsePage.size, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0)
    guard let start, start != kept_map_failed() else { throw .system("map", path) }
    let page = PulsePage(start)
    // A damaged or foreign page is repaired in place: processes that map it see another generation, and query SQLite.
    if !page.belongs(to: store) { page.initialize(for: store) }
    return page
  }
}
