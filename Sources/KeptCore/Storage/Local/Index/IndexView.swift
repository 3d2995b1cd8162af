// What an index shows of the entries in it: the store by itself shows what is stored and declared, a handle with layers
// what comes of that under its layers.

/// How an entry is read.
protocol EntryReading: Sendable {
  /// The value that a key with this entry reads as; nil: it is absent.
  ///
  /// Called with locks held: it must not ask the storage.
  func value(of key: KeyName, _ entry: Entry?) -> Value?
}

/// Without layers.
struct PlainReading: EntryReading {
  func value(of key: KeyName, _ entry: Entry?) -> Value? { entry?.shown }
}

/// An index of values as one handle reads them, or as they are stored; it is given back with this.
///
/// Invariant: a handle's is of the same revision as the storage's own, and is brought up to date together with that.
final class IndexView: Sendable {
  let index = Indexes.ofThisProcess.take()

  deinit { Indexes.ofThisProcess.put(index) }
}
