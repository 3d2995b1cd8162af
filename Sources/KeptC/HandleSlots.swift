// The slots behind the numbers that C has for objects. A slot is used again, a number never.

import CPlatform
import KeptSystem
import KeptValues

/// The kind of object that a number names, in its lowest two bits.
enum HandleKind: UInt {
  case transaction = 1
  case snapshot = 3
  /// The same mark as for transactions: C has a separate type for subscriptions, so the two are never confused.
  static let subscription = HandleKind.transaction
}

/// Objects that C refers to by a number.
///
/// Invariants: a number is in the word of its slot only while its object is in the slot. It is taken away first; the
/// object follows, and the slot is used again, when no reader that may have found the number is left (``Pins``). The
/// memory of slots is never freed.
final class HandleSlots: @unchecked Sendable {
  // The compiler cannot check it: the words of slots and the addresses of chunks are only accessed atomically, and the
  // rest is changed inside the monitor, or by the thread that has taken the slot.
  private struct Content {
    var object: Unmanaged<AnyObject>?
    /// The number that was given out, with or without an object; 0 for none.
    var number: UInt64 = 0
    /// The number of the next use.
    var next: UInt64
  }
  private struct Slot {
    /// The number while there is an object; else 0.
    let word: UnsafeMutablePointer<UInt64>
    let content: UnsafeMutablePointer<Content>
  }
  private struct Table {
    var count: UInt64 = 0
    var free: [Slot] = []
  }
  private let table = Monitor(Table())
  /// The addresses of chunks of slots, each twice as large as the one before: first their words, then their contents.
  private let chunks = UnsafeMutablePointer<UInt64>.allocate(capacity: SlotPlace.chunks)
  private let kind: HandleKind
  /// The noun for the objects in errors, in the plural.
  private let name: StaticString
  private let pins: Pins

  init(_ kind: HandleKind, _ pins: Pins, _ name: StaticString) {
    (self.kind, self.pins, self.name) = (kind, pins, name)
    chunks.initialize(repeating: 0, count: SlotPlace.chunks)
  }

  /// Returns a new number without an object; ``remove(_:)`` it if it gets none.
  ///
  /// Throws `failed` if there are too many.
  func reserve() throws(StoreError) -> UInt {
    let number = table.updateQuietly { table -> UInt64? in
      guard let slot = table.free.popLast() ?? newSlot(&table) else { return nil }
      slot.content.pointee.number = slot.content.pointee.next
      slot.content.pointee.next &+= SlotPlace.use
      return slot.content.pointee.number
    }
    guard let number else {
      throw StoreError(.failed, "\(SlotPlace.most) \(name) are open, and no more are allowed; end some")
    }
    return UInt(number)
  }

  private func newSlot(_ table: inout Table) -> Slot? {
    guard table.count < SlotPlace.most else { return nil }
    let place = SlotPlace(table.count)
    if place.offset == 0 {
      let words = UnsafeMutableRawPointer.allocate(
        byteCount: place.chunkSize * (8 + MemoryLayout<Content>.stride), alignment: 8
      ).initializeMemory(as: UInt64.self, repeating: 0, count: place.chunkSize)
      for offset in 0..<place.chunkSize {
        let first = SlotPlace.use | (table.count + UInt64(offset)) << 2 | UInt64(kind.rawValue)
        contents(of: words, place).advanced(by: offset).initialize(to: Content(next: first))
      }
      kept_store64(chunks + place.chunk, UInt64(UInt(bitPattern: words)))
    }
    table.count += 1
    return slot(at: table.count - 1)
  }

  /// Inserts an object at a reserved number, unless that was removed in between.
  func insert(_ object: AnyObject, at number: UInt) {
    table.updateQuietly { _ in
      guard let slot = slot(of: number), slot.content.pointee.number == number else { return }
      slot.content.pointee.object = .passRetained(object)
      kept_store64(slot.word, UInt64(number))
    }
  }

  /// Returns the object of a number; nil after it was removed.
  func find(_ number: UInt) -> AnyObject? {
    guard let slot = slot(of: number) else { return nil }
    return pins.hold { kept_load64(slot.word) == number ? slot.content.pointee.object?.retain() : nil }?
      .takeRetainedValue()
  }

  /// Removes a number and its object; a second call has no effect.
  func remove(_ number: UInt) {
    let found = table.updateQuietly { _ -> Slot? in
      guard let slot = slot(of: number), slot.content.pointee.number == number else { return nil }
      takeAway(slot)
      return slot
    }
    if let found { free([found]) }
  }

  /// Removes all matching objects.
  func remove(where isEnding: (AnyObject) -> Bool) {
    free(
      table.updateQuietly { table in
        (0..<table.count).compactMap(slot).filter { slot in
          guard slot.content.pointee.number != 0,
            slot.content.pointee.object?._withUnsafeGuaranteedRef(isEnding) == true
          else {
            return false
          }
          takeAway(slot)
          return true
        }
      })
  }

  /// Makes later readers find nothing.
  private func takeAway(_ slot: Slot) {
    slot.content.pointee.number = 0
    kept_store64(slot.word, 0)
  }

  private func free(_ slots: [Slot]) {
    guard !slots.isEmpty else { return }
    pins.awaitAll()
    let objects = slots.map { slot in
      defer { slot.content.pointee.object = nil }
      return slot.content.pointee.object
    }
    // A slot that has had every number is not used again.
    table.updateQuietly { $0.free += slots.filter { slot in slot.content.pointee.next >= SlotPlace.use } }
    for object in objects { object?.release() }
  }

  @inline(__always)
  private func slot(of number: UInt) -> Slot? {
    // So 0, the word of a slot without an object, is not a number.
    number & 3 == kind.rawValue ? slot(at: UInt64(number) >> 2 & (SlotPlace.most - 1)) : nil
  }

  @inline(__always)
  private func slot(at index: UInt64) -> Slot? {
    let place = SlotPlace(index)
    guard let words = UnsafeMutablePointer<UInt64>(bitPattern: UInt(kept_load64(chunks + place.chunk))) else {
      return nil
    }
    return Slot(word: words + place.offset, content: contents(of: words, place) + place.offset)
  }

  @inline(__always)
  private func contents(of words: UnsafeMutablePointer<UInt64>, _ place: SlotPlace) -> UnsafeMutablePointer<Content> {
    UnsafeMutableRawPointer(words + place.chunkSize).assumingMemoryBound(to: Content.self)
  }

  /// Whether a handle is a number of this kind, current or removed.
  func hasIssued(_ handle: OpaquePointer) -> Bool { UInt(bitPattern: handle) & 3 == kind.rawValue }
}

/// Where a slot is, and what its numbers are made of: its kind in two bits, its index in 24, and the count of its uses.
private struct SlotPlace {
  let chunk: Int
  let offset: Int

  /// The most slots of one kind.
  static let most: UInt64 = 1 << 24
  /// The difference between two numbers of one slot.
  static let use: UInt64 = 1 << 26
  static let chunks = 19
  private static let first: UInt64 = 64

  @inline(__always)
  init(_ index: UInt64) {
    let number = index + Self.first
    let size = 63 - number.leadingZeroBitCount
    chunk = size - Self.first.trailingZeroBitCount
    offset = Int(number - 1 << size)
  }

  var chunkSize: Int { Int(Self.first) << chunk }
}
