// What an index shows of its entries: for the store itself what is stored and declared, for a handle with layers the
// result under its layers.

/// How an entry is converted to a value.
protocol EntryReading: AnyObject, Sendable {
  /// Returns the value that a key with this entry reads as; nil if it is absent.
  ///
  /// Called with locks held: it must not call the storage.
  func value(of key: KeyName, _ entry: Entry?) -> Value?
}

/// An index of values as one handle reads them, or as they are stored; deinitialization returns it to ``Indexes``.
///
/// Invariant: a handle's view is at the same revision as the storage's own, and both are brought up to date together.
final class IndexView: Sendable {
  let index = Indexes.ofThisProcess.take()

  deinit { Indexes.ofThisProcess.put(index) }
}
