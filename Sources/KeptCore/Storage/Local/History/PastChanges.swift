// The content of a row of the table `history`: the values that some changes have replaced, one after the other.
//
//   byte  0  revision   64 bits
//   byte  8  time       64 bits: milliseconds since 1970, by the wall clock of the writer
//   byte 16  tag        16 bits: the bytes of the tag, or 0xFFFF for none
//   byte 18  key        16 bits: the bytes of the key
//   byte 20  form       8 bits: what there is of the old value, see `PastForm`
//   byte 21  kind       8 bits: the bytes of its kind
//   byte 22  folded     15 bits: how many revisions before this one the first change was that folds into it; and the
//                       highest bit, which is set if the change leaves a part of another commit
//   byte 24  value      32 bits: the bytes of the value
//   byte 28  the tag, the key, the kind as in the table `entry`, the value
//
// All numbers are little-endian, and none is aligned. The changes of a key are in the order of its revisions.

import CSQLite
import KeptValues

/// The kept part of a value that was replaced.
enum PastForm: UInt8 {
  /// The key had none.
  case absent = 0
  // In the form that the table `entry` had.
  case integer = 1
  case real = 2
  case text = 3
  case blob = 4
  /// A row of the table `large`: its id in 64 bits, and its length in 32.
  case large = 5
  /// It was secret.
  case secret = 6
  /// It was too large.
  case tooLarge = 7
  /// It was forgotten to make room.
  case forgotten = 8
}

/// Collects changes for a row of the table `history`.
///
/// SQLite calls it in the middle of the statement that replaces a value, because another statement that reads the value
/// first would double the work. Not thread-safe: it belongs to a connection. The buffer is reused.
final class PastChanges {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private var end = 0
  // Where the change is whose old value has not been met yet.
  private var open: Int?
  private var isSecret = false
  private(set) var count = 0
  /// The highest revision.
  private(set) var revision: Revision = 0
  /// The latest time.
  private(set) var time = Int64.min
  /// The bytes of all that the limits count.
  private(set) var total = 0

  static let headBytes = 28
  static let noTag: UInt16 = 0xFFFF

  init() {
    capacity = 4096
    memory = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: end) }

  func removeAll() { (end, open, count, revision, time, total) = (0, nil, 0, 0, .min, 0) }

  /// Begins a change of a key, which had no value unless one is noted before the next change.
  ///
  /// - Parameters:
  ///   - first: the revision of the first change that folds into it.
  ///   - isTorn: whether it leaves a part of another commit.
  ///   - isSecret: see ``hide()``.
  func begin(
    _ key: KeyName, _ head: FrameHead, after first: Revision, isTorn: Bool, isSecret: Bool
  ) throws(StoreError) {
    self.isSecret = isSecret
    let milliseconds = head.time / 1_000_000
    let tag = head.tag.map { ExactString($0) }
    let tagBytes = tag?.withBytes { $0.count } ?? 0
    let keyBytes = key.exact.withBytes { $0.count }
    let more = Self.headBytes + tagBytes + keyBytes
    try makeRoom(for: more)
    let at = memory + end
    at.put(head.revision, 0)
    at.put(milliseconds, 8)
    at.put(tag == nil ? Self.noTag : UInt16(truncatingIfNeeded: tagBytes), 16)
    at.put(UInt16(truncatingIfNeeded: keyBytes), 18)
    at.put(0 as UInt64, 20)
    at.put(UInt16(clamping: head.revision &- first) & PackedChange.folded | (isTorn ? PackedChange.torn : 0), 22)
    tag?.withBytes { copy($0, to: at + Self.headBytes) }
    key.exact.withBytes { copy($0, to: at + Self.headBytes + tagBytes) }
    open = end
    end += more
    count += 1
    total += 32 + keyBytes
    (revision, time) = (max(revision, head.revision), max(time, milliseconds))
  }

  /// Notes that the old value is a row of the table `large`, which belongs to the history from now on.
  func note(large id: Int64, of bytes: Int, _ kind: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    guard let open else { return }
    try makeRoom(for: kind.count + 12)
    copy(kind, to: memory + end)
    (memory + end).put(id, kind.count)
    (memory + end).put(UInt32(clamping: bytes), kind.count + 8)
    total += bytes
    close(open, .large, kind.count, 12)
  }

  /// Notes that the old value is not kept.
  func note(_ reason: PastForm) { if let open { close(open, reason, 0, 0) } }

  /// Lets only the fact be noted that the key had a value.
  func hide() { isSecret = true }

  /// Notes what the columns `kind` and `value` of the table `entry` have.
  func note(_ kind: OpaquePointer?, _ value: OpaquePointer?) throws(StoreError) {
    guard let open else { return }
    if isSecret { return close(open, .secret, 0, 0) }
    let form: PastForm
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: form = .integer
    case SQLITE_FLOAT: form = .real
    case SQLITE_TEXT: form = .text
    case SQLITE_BLOB: form = .blob
    default: return close(open, .tooLarge, 0, 0)
    }
    let kind = UnsafeRawBufferPointer(start: sqlite3_value_blob(kind), count: Int(sqlite3_value_bytes(kind)))
    let length = form == .integer || form == .real ? 8 : Int(sqlite3_value_bytes(value))
    guard kind.count <= UInt8.max else { return close(open, .tooLarge, 0, 0) }
    try makeRoom(for: kind.count + length)
    let at = memory + end
    if let start = kind.baseAddress { at.copyMemory(from: start, byteCount: kind.count) }
    switch form {
    case .integer: at.put(sqlite3_value_int64(value), kind.count)
    case .real: at.put(sqlite3_value_double(value).bitPattern, kind.count)
    default:
      if let start = sqlite3_value_blob(value) { (at + kind.count).copyMemory(from: start, byteCount: length) }
    }
    total += length
    close(open, form, kind.count, length)
  }

  private func close(_ start: Int, _ form: PastForm, _ kind: Int, _ length: Int) {
    (memory + start).put(UInt16(form.rawValue) | UInt16(truncatingIfNeeded: kind) << 8, 20)
    (memory + start).put(UInt32(truncatingIfNeeded: length), 24)
    end += kind + length
    open = nil
  }

  private func copy(_ bytes: UnsafeBufferPointer<UInt8>, to place: UnsafeMutableRawPointer) {
    if let start = bytes.baseAddress { place.copyMemory(from: start, byteCount: bytes.count) }
  }

  private func makeRoom(for more: Int) throws(StoreError) {
    guard end + more > capacity else { return }
    let wanted = max(2 * capacity, end + more)
    try Memory.ask(for: wanted, to: "add to the history")
    let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 8)
    larger.copyMemory(from: memory, byteCount: end)
    memory.deallocate()
    (memory, capacity) = (larger, wanted)
  }
}

extension SQLiteConnection {
  /// Returns what collects the old values; from the first call on, statements may use the function
  /// `replaced(result, kind, value)`, which notes the second and the third argument and returns the first.
  func collectPastChanges() throws(StoreError) -> PastChanges {
    if let pastChanges {
      pastChanges.removeAll()
      return pastChanges
    }
    let changes = PastChanges()
    // The connection owns it, and is closed before it is freed.
    let status = sqlite3_create_function_v2(
      handle, "replaced", 3, SQLITE_UTF8 | SQLITE_DIRECTONLY, Unmanaged.passUnretained(changes).toOpaque(),
      { context, _, arguments in
        guard let arguments, let changes = sqlite3_user_data(context) else { return }
        do throws(StoreError) {
          try Unmanaged<PastChanges>.fromOpaque(changes).takeUnretainedValue().note(arguments[1], arguments[2])
        } catch { return sqlite3_result_error_nomem(context) }
        sqlite3_result_value(context, arguments[0])
      }, nil, nil, nil)
    guard status == SQLITE_OK else { throw StoreError.sqlite(status, handle, doing: "prepare the history") }
    pastChanges = changes
    return changes
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  fileprivate func put<Number: FixedWidthInteger>(_ number: Number, _ offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
