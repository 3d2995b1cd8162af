// The locks of a store. Those of the kernel are on bytes of the file `journal` that lie far beyond its end, and belong
// to an open file description: a process that ends releases them, and a second descriptor of the same file does not.
//
// - Byte `open`: held shared by every process that has the store open, and exclusively by one that is alone and
//   recovers it. It is never upgraded: a child of a fork shares the description, and would seem to be alone with its
//   parent.
// - Byte `open` - 1: held exclusively by a process that makes the pulse again.
// - Byte `open` + h: held exclusively by the description with the random number h, its *holder* number, for as long as
//   it has the store open. Such a process has recovered the store, or has found another holder while it held byte
//   `open`: so what journal and pulse say is true as long as anyone has the store open. A child of a fork may be the
//   last: it goes on if the journal names the session of its page.
//
// The write lock is a word of the pulse, `owner`: the number of its holder, or 0 if it is free. Taking it needs no
// system call. Invariants:
// - Only the holder of the write lock writes the words and bytes that belong to it, see JournalWords.
// - A number gets into `owner` only after its byte is locked. So if `owner` is h and byte `open` + h is not locked, the
//   holder has ended, with no write under way: the kernel unlocks a description after its last system call. Then who
//   replaces h by its own number has the lock.
// - Numbers are never used again, so a number that is replaced is the one whose byte was looked at.
// - Who makes another pulse holds the lock of the old page for ever, and has made its `published` odd; so who takes the
//   lock must find an even `published` and then its own number again, because the page may be exchanged at any time
//   while it is retired.

import CPlatform
import KeptSystem
import KeptValues

/// The open file `journal`, as the place of the locks.
///
/// Not thread-safe: its owner keeps it behind a monitor.
struct JournalLock {
  private static let openByte: Int64 = 1 << 40

  let descriptor: Int32
  let path: String
  let holder = UInt64.random(in: 1...(1 << 61))

  /// Opens the file, and creates it empty if it does not exist.
  static func open(in folder: StoreFolder) throws(StoreError) -> JournalLock {
    let held = try OpenFolder.own(folder.path)
    return JournalLock(
      descriptor: try held.openOrMake(StoreFiles.journal, O_RDWR), path: folder.path + "/" + StoreFiles.journal)
  }

  func close() { CPlatform.close(descriptor) }

  /// Whether the path still leads to this file, as far as this process may look.
  var isInPlace: Bool {
    guard let here = FileStatus(of: descriptor) else { return false }
    guard let there = FileStatus(of: path) else { return kept_errno() == EACCES }
    return here.identity == there.identity
  }

  /// Takes the store for this process alone; false if any other has it open.
  func takeAlone() -> Bool { kept_lock_byte(descriptor, Int16(F_WRLCK), Self.openByte) }

  /// Takes the store along with others that have it open; false if no process has, as after a process that was killed
  /// while it recovered the store.
  func join() -> Bool {
    kept_lock_byte(descriptor, Int16(F_RDLCK), Self.openByte)
      && kept_are_bytes_locked(descriptor, Self.openByte + 1, 0) && share()
  }

  /// Takes the store that this process has recovered, or had before a fork; false if a process recovers it.
  func share() -> Bool {
    kept_lock_byte(descriptor, Int16(F_RDLCK), Self.openByte)
      && kept_lock_byte(descriptor, Int16(F_WRLCK), Self.byte(of: holder))
  }

  /// Whether no other process has the store open; one may open it just now.
  var isAlone: Bool { !kept_is_byte_locked(descriptor, Self.openByte) }

  /// Takes the write lock if it is free, or its holder has ended.
  ///
  /// Call ``share()`` before.
  ///
  /// - Returns: the number of the holder that has ended, or 0; nil if the lock is not free, or if the page is retired.
  func takeWriting(_ page: PulsePage) -> UInt64? {
    guard let ended = replaceOwner(page) else { return nil }
    if page.isHeld(by: holder) { return ended }
    page.releaseWriting(holder)
    return nil
  }

  /// Takes the write lock also of a page that is retired, to make another pulse.
  func replaceOwner(_ page: PulsePage) -> UInt64? {
    let found = page.owner
    // A holder of 0 has no byte.
    guard found == 0 || !kept_is_byte_locked(descriptor, Self.byte(of: found)) else { return nil }
    return page.replaceOwner(found, by: holder) ? found : nil
  }

  func takeRepairing() -> Bool { kept_lock_byte(descriptor, Int16(F_WRLCK), Self.openByte - 1) }

  func releaseRepairing() { _ = kept_lock_byte(descriptor, Int16(F_UNLCK), Self.openByte - 1) }

  // A damaged word may be any number.
  private static func byte(of holder: UInt64) -> Int64 { openByte &+ Int64(truncatingIfNeeded: holder) & (1 << 62 - 1) }
}
