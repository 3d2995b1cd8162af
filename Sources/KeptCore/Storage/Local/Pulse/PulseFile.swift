// The file behind the pulse, which the first process that opens a store sets up.

import CPlatform
import KeptSystem
import KeptValues

enum PulseFile {
  static let name = "pulse"

  static func path(in folder: StoreFolder) -> String { folder.path + "/" + name }

  /// Sets up the pulse of a store whose other processes, if there are any, cannot join it yet.
  ///
  /// - Parameter holder: who holds the write lock from the beginning; 0 if it is free.
  static func make(
    for store: StoreID, in session: UInt64, heldBy holder: UInt64 = 0, _ folder: borrowing OpenFolder,
    _ setWords: (JournalWords) -> Void
  ) throws(StoreError) -> PulsePage {
    let page: PulsePage
    do throws(StoreError) {
      page = try map(in: folder, waste: true)
    } catch {
      // Another user's file, or a folder, in its place is not Kept's to remove.
      guard error.code == .corrupt else { throw error }
      folder.remove(name)
      page = try map(in: folder, waste: true)
    }
    page.initialize(for: store, in: session, heldBy: holder, setWords)
    return page
  }

  /// Maps the pulse that another process has set up; nil if it is not the one of this session.
  static func join(_ store: StoreID, in session: UInt64, _ folder: borrowing OpenFolder) throws(StoreError)
    -> PulsePage?
  {
    guard folder.status(of: name).map({ $0.size >= PulsePage.size }) == true else { return nil }
    let page = try map(in: folder, waste: false)
    if page.belongs(to: store, in: session) { return page }
    page.unmap()
    return nil
  }

  /// Puts a retired page in place of one that was truncated, if the file at the path is the one that is mapped: to read
  /// it would kill the process.
  ///
  /// - Returns: whether it did.
  static func retire(_ folder: borrowing OpenFolder, ifCutFrom mapped: FileIdentity?) -> Bool {
    guard let there = folder.status(of: name), there.identity == mapped, there.size < PulsePage.size,
      let descriptor = try? folder.open(name, O_RDWR)
    else { return false }
    defer { close(descriptor) }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: PulsePage.size, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: PulsePage.size)
    kept_store64(PulsePage(memory).words.publishedWord, 1)
    // Then threads that wait look again each second, until another pulse is there.
    PulsePage(memory).words.isDirty = true
    // With one call, so that no process reads a position of 0.
    defer { memory.deallocate() }
    return pwrite(descriptor, memory, PulsePage.size, 0) == PulsePage.size
  }

  /// Where the frames end that processes had published which are gone now; nil if that is not known.
  ///
  /// The journal may name another session, because it was replaced: positions never begin again.
  static func end(of store: StoreID, _ folder: borrowing OpenFolder) throws(StoreError) -> JournalPosition? {
    guard folder.status(of: name)?.otherKind == nil, let descriptor = try folder.open(name, O_RDONLY) else {
      return nil
    }
    defer { close(descriptor) }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: PulsePage.size, alignment: 64)
    defer { memory.deallocate() }
    guard pread(descriptor, memory, PulsePage.size, 0) == PulsePage.size else { return nil }
    let page = PulsePage(memory)
    return page.belongs(to: store, in: page.session) ? page.surelyWritten : nil
  }

  private static func map(in folder: borrowing OpenFolder, waste: Bool) throws(StoreError) -> PulsePage {
    let path = folder.path + "/" + name
    let descriptor = try folder.openOrMake(name, O_RDWR)
    defer { close(descriptor) }
    // Allocated before it is mapped: on a full disk this is an error instead of a crash at the first write.
    let status = kept_allocate(descriptor, off_t(PulsePage.size))
    guard status == 0 else { throw .system("make room for", path, errno: status) }
    let start = mmap(nil, PulsePage.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let start, start != kept_map_failed() else { throw .system("map", path) }
    return PulsePage(start)
  }
}
