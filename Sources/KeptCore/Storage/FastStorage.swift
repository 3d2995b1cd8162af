// The additions of a storage with an index in memory to the contract of Storage, so that reads and small commits pass
// few layers. Callers query it with `as?`, and have a general way for other storages.

import CPlatform
import KeptSchema
import KeptValues

/// A storage with an index in memory that handles read, also through views of their own.
protocol FastStorage: Storage {
  /// The header of the index of stored values, for ``MemoryReads``; it is never freed.
  var header: UnsafePointer<kept_index_header> { get }

  /// The address of the generation, for caches that make no calls while it is unchanged.
  var generationAddress: UnsafePointer<UInt64> { get }

  /// The index's state of a key; nil if the storage must be read.
  func known(_ key: PreparedBytes) -> KnownKey?

  /// Reads a key as ``Storage/entry(for:)`` does, and puts it into the index and a view.
  func entry(for key: KeyName, view: ReadView?) throws(StoreError) -> Entry?

  /// Puts keys into the index; those that this fails for are read when they are asked for.
  func load(_ keys: [KeyName])

  /// Sets how a view reads from now on, empties it, and keeps it up to date.
  ///
  /// - Returns: the view; a new one for nil.
  func show(_ reading: any EntryReading, in view: ReadView?) -> ReadView

  /// Removes a view; nothing in it is current afterwards.
  func remove(_ view: ReadView)

  /// Commits a new value of one key at once; nil, with nothing done, if that needs ``Storage/commit(_:)``.
  ///
  /// Call it only while no handle observes the storage, and none can begin to. If the commit has to be durable, a
  /// ``Storage/flush()`` must follow.
  func put(_ value: Value, for key: PreparedBytes, _ durability: Durability, tag: String?) -> Revision?

  /// Commits a batch in the same way.
  func commitAtOnce(_ batch: Batch) -> Revision?
}

/// A key in the index of a storage.
struct KnownKey {
  let name: KeyName
  let declaration: Declaration?
}

/// How an entry is converted to a value.
protocol EntryReading: AnyObject, Sendable {
  /// Returns the value that a key with this entry reads as; nil if it is absent.
  ///
  /// Called with locks held: it must not call the storage.
  func value(of key: KeyName, _ entry: Entry?) -> Value?
}

/// The values of a storage as one handle reads them.
///
/// Each view is of the subclass of its storage.
class ReadView: @unchecked Sendable {
  /// The header of its index, for ``MemoryReads``; it is never freed.
  let header: UnsafePointer<kept_index_header>

  init(_ header: UnsafePointer<kept_index_header>) { self.header = header }
}

/// An index in memory, as ``MemoryReads`` finds it behind its header; it is never freed.
///
/// Each index is of the subclass of its storage, which changes it.
class MemoryIndex: @unchecked Sendable {
  /// Lets readers in, for a generation.
  final let gate: ReadersGate

  init(_ gate: ReadersGate) { self.gate = gate }

  /// Calls `body` with the entry of a key, or `copy` with its value in a record; nil if the index is not current at a
  /// generation, or knows neither.
  @inline(__always)
  final func read<Result>(
    _ key: PreparedBytes, at generation: UInt64, _ body: (MemoryEntry) -> Result?, copy: (kept_located) -> Result?
  ) -> Result? {
    gate.pass(at: generation) {
      guard let slot = kept_find(gate.header.pointee.table, key.bytes.baseAddress, key.bytes.count, key.hash) else {
        return copy(kept_image_placed(gate.header, key.bytes.baseAddress, key.bytes.count, key.hash))
      }
      return slot.pointee.entry.flatMap { Unmanaged<MemoryEntry>.fromOpaque($0)._withUnsafeGuaranteedRef(body) }
    }
  }
}

/// The state of a key in such an index; it does not change while the gate is open.
class MemoryEntry: @unchecked Sendable {
  /// The value that the key reads as; nil if it is absent.
  final var value: Value?
}
