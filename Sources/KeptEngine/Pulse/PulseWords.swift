// The mapped page that every process with the store open shares, in the file `pulse`:
//
//   byte   0  magic       "KeptPuls"
//   byte   8  format      2
//   byte  16  store       the id of the store, 16 bytes
//   byte  32  boot        the id of the boot that set the page up; 0 if it is unknown
//   byte  64  words       see `PulseWords`, each on a cache line of its own
//   byte 448  sleeping    32 bits: 1 if a thread may sleep on `wake`
//   byte 512  wake        32 bits: the futex word, moved to wake the sleepers
//   byte 576  writers     32 bits: the futex word of threads that wait for the write lock
//   byte 640  waiting     32 bits: 1 if a thread may wait for the write lock
//
// A process that opens a store alone sets the page up before it lets others in. The page holds no data.

import CPlatform
import KeptSystem
import KeptValues

/// How far the journals reach, and who writes them.
///
/// Invariants:
/// - `published` is the end of the valid frames. Only the holder of the write lock moves it, after it has written
///   the frames. It only grows.
/// - `echo` is a copy of `published`, written just after it, for a process that finds the page after a crash: a changed
///   bit makes one of them differ.
/// - `checkpoint` is the number of a checkpoint that is on the disk under its name. It only grows.
/// - The frames up to `synced` are on the disk. It only grows.
/// - `dirty` is 1 from before the first publishing after everything was synced. While it is set, any process with the
///   store open syncs within a second.
/// - `doubt` is 0, or the number of the checkpoint that ends the doubt: after a sync has failed, the system may have
///   dropped unwritten data, and a later sync would succeed without it.
/// - `owner` is the number of the holder of the write lock, or 0 if it is free. A number is written only after its byte
///   of the file is locked. So if that byte is not locked, the holder has ended, and no write of it is under way.
///   Numbers are never used again.
struct PulseWords: @unchecked Sendable {
  // The words are only accessed atomically.
  private let start: UnsafeMutableRawPointer

  static let size = 4096
  private static let magic: UInt64 = 0x736C_7550_7470_654B
  private static let format: UInt64 = 2

  init(_ start: UnsafeMutableRawPointer) { self.start = start }

  /// The address of the page.
  var page: UnsafeMutableRawPointer { start }

  private func word(_ number: Int) -> UnsafeMutablePointer<UInt64> {
    (start + 64 + 64 * number).assumingMemoryBound(to: UInt64.self)
  }

  private func half(_ offset: Int) -> UnsafeMutablePointer<UInt32> {
    (start + offset).assumingMemoryBound(to: UInt32.self)
  }

  /// The address of `published`, which readers compare.
  var publishedWord: UnsafeMutablePointer<UInt64> { word(0) }
  private var echoWord: UnsafeMutablePointer<UInt64> { word(0) + 1 }
  private var checkpointWord: UnsafeMutablePointer<UInt64> { word(1) }
  private var syncedWord: UnsafeMutablePointer<UInt64> { word(2) }
  private var dirtyWord: UnsafeMutablePointer<UInt64> { word(3) }
  private var doubtWord: UnsafeMutablePointer<UInt64> { word(4) }
  private var ownerWord: UnsafeMutablePointer<UInt64> { word(5) }

  var sleeping: UnsafeMutablePointer<UInt32> { half(448) }
  var wakeWord: UnsafeMutablePointer<UInt32> { half(512) }
  var writersWord: UnsafeMutablePointer<UInt32> { half(576) }
  var waiting: UnsafeMutablePointer<UInt32> { half(640) }

  var published: Position { kept_load64(publishedWord) }
  var checkpoint: UInt64 { kept_load64(checkpointWord) }
  var synced: Position { kept_load64(syncedWord) }
  var doubt: UInt64 { kept_load64(doubtWord) }
  var owner: UInt64 { kept_load64(ownerWord) }

  var isDirty: Bool {
    get { kept_load64(dirtyWord) != 0 }
    nonmutating set { kept_store64(dirtyWord, newValue ? 1 : 0) }
  }

  /// Publishes frames up to a position; false if another process has published since, which the lock excludes.
  func publish(_ position: Position, after expected: Position) -> Bool {
    guard kept_exchange64(publishedWord, expected, position) else { return false }
    kept_store64(echoWord, position)
    return true
  }

  /// Where the published frames end, after a crash: one of the two words may be damaged.
  var surelyPublished: Position { min(published, kept_load64(echoWord)) }

  /// A position before which all frames were published, also after a loss of power: then the page may be newer than the
  /// journals, except for what was synced.
  var leastPublished: Position { isOfThisBoot ? surelyPublished : min(synced, surelyPublished) }

  func raise(synced position: Position) { Self.raise(syncedWord, to: position) }
  func raise(checkpoint number: UInt64) { Self.raise(checkpointWord, to: number) }

  /// Notes a failed sync of a journal.
  func doubt(journal number: UInt64) { Self.raise(doubtWord, to: number + 1) }

  /// Ends the doubt, unless a later journal is in doubt by now.
  func endDoubt(by checkpoint: UInt64) {
    let found = doubt
    if found != 0, found <= checkpoint { _ = kept_exchange64(doubtWord, found, 0) }
  }

  private static func raise(_ word: UnsafeMutablePointer<UInt64>, to wanted: UInt64) {
    var seen = kept_load64(word)
    while wanted > seen, !kept_exchange64(word, seen, wanted) { seen = kept_load64(word) }
  }

  func replaceOwner(_ found: UInt64, by holder: UInt64) -> Bool { kept_exchange64(ownerWord, found, holder) }

  /// Waits briefly for the write lock to be free; returns whether it is.
  func awaitOwner() -> Bool { kept_spin_until_zero(ownerWord) }

  // MARK: - The page as a whole

  /// Whether the header identifies this page as the pulse of a store.
  func belongs(to store: StoreID) -> Bool {
    start.load(as: Header.self) == Self.header(store)
  }

  /// Sets the page up; no other process uses it.
  ///
  /// Killed in between, the page belongs to no store.
  func initialize(for store: StoreID, published: Position, checkpoint: UInt64, synced: Position, doubt: UInt64) {
    write((0, 0, 0, 0))
    kept_fence()
    for (word, value) in [
      (publishedWord, published), (echoWord, published), (checkpointWord, checkpoint), (syncedWord, synced),
      (dirtyWord, published > synced ? 1 : 0), (doubtWord, doubt), (ownerWord, 0),
    ] { kept_store64(word, value) }
    start.storeBytes(of: SystemStart.id, toByteOffset: Self.bootOffset, as: UInt64.self)
    for half in [sleeping, waiting] { kept_store32(half, 0) }
    kept_fence()
    write(Self.header(store))
  }

  /// Whether the page was set up under the running kernel, so that nothing in it is out of date.
  ///
  /// Some containers invent the id of the boot. Then this is false.
  var isOfThisBoot: Bool {
    let boot = start.load(fromByteOffset: Self.bootOffset, as: UInt64.self)
    return boot != 0 && boot == SystemStart.id
  }

  private static let bootOffset = 32

  private typealias Header = (UInt64, UInt64, UInt64, UInt64)

  private func write(_ header: Header) { start.storeBytes(of: header, as: Header.self) }

  private static func header(_ store: StoreID) -> Header { (magic, format, store.high, store.low) }
}
