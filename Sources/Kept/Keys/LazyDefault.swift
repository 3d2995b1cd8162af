// When a default is evaluated: once for each store, by the thread that needs it first, and with no lock held.

package import KeptCore
import Synchronization

/// A default, and what it turned out to be for each store.
///
/// What is known is a list that readers walk without a lock. A node never leaves it, so that they may be anywhere in
/// it; the node of a store that is gone serves the next new one.
package final class LazyDefault<Value: Sendable>: Sendable {
  // Invariant: `value` is written before `mark`, and only while nobody can ask for the mark that was there before.
  private final class Node: @unchecked Sendable {
    private var value: Value
    private var owner: StoreIdentity.Mark
    private let mark: Atomic<UnsafeRawPointer?>
    let next: Unmanaged<Node>?

    init(_ value: Value, of owner: StoreIdentity.Mark, next: Unmanaged<Node>?) {
      (self.value, self.owner, self.next) = (value, owner, next)
      mark = Atomic(address(of: owner))
    }

    var isFree: Bool { owner.isGone }

    func value(of mark: UnsafeRawPointer) -> Value? {
      self.mark.load(ordering: .acquiring) == mark ? value : nil
    }

    /// Takes the value of a new store, and gives back that of the one that is gone.
    func serve(_ newOwner: StoreIdentity.Mark, _ newValue: Value) -> Value {
      mark.store(nil, ordering: .sequentiallyConsistent)
      let former = value
      value = newValue
      // The former owner's address may be given away from here on.
      owner = newOwner
      mark.store(address(of: newOwner), ordering: .releasing)
      return former
    }
  }

  private let newest = Atomic<Unmanaged<Node>?>(nil)
  private let make: @Sendable () -> Value
  private let patience: Int64

  /// - Parameter patienceMilliseconds: how long a thread waits for another one's evaluation before it makes its own.
  package init(patienceMilliseconds: Int64 = 2000, _ make: @escaping @Sendable () -> Value) {
    patience = patienceMilliseconds
    self.make = make
  }

  deinit {
    var node = newest.load(ordering: .acquiring)
    while let last = node {
      node = last.takeUnretainedValue().next
      last.release()
    }
  }

  /// Evaluates it, whatever is known.
  func evaluate() -> Value { make() }

  /// What it is for a store.
  ///
  /// A thread that comes while another one evaluates it waits, but not for ever: that one may in turn wait for it.
  /// Then, and where the default reads its own key, it is evaluated again, and the first result counts.
  package func value(for store: StoreIdentity) -> Value {
    let mark = address(of: store.mark)
    let evaluation = Evaluation(of: ObjectIdentifier(self), for: mark)
    if let value = known(mark) { return value }
    let thread = LibraryThread.current
    let others: Value?? = evaluations.wait(milliseconds: patience) { evaluating in
      if let value = known(mark) { return .some(value) }
      guard evaluating[evaluation, default: thread] == thread else { return nil }
      evaluating[evaluation] = thread
      return .some(nil)
    }
    return others.flatMap { $0 } ?? publish(make(), for: store, evaluation)
  }

  private func known(_ mark: UnsafeRawPointer) -> Value? {
    var place = newest.load(ordering: .acquiring)
    while let node = place {
      if let value = node._withUnsafeGuaranteedRef({ $0.value(of: mark) }) { return value }
      place = node._withUnsafeGuaranteedRef(\.next)
    }
    return nil
  }

  /// Makes a value known, unless there is one.
  private func publish(_ value: Value, for store: StoreIdentity, _ evaluation: Evaluation) -> Value {
    let (valid, former): (Value, Value?) = evaluations.update { evaluating in
      evaluating[evaluation] = nil
      if let first = known(evaluation.mark) { return (first, nil) }
      if let free = freeNode() { return (value, free.serve(store.mark, value)) }
      let node = Node(value, of: store.mark, next: newest.load(ordering: .acquiring))
      newest.store(Unmanaged.passRetained(node), ordering: .releasing)
      return (value, nil)
    }
    // What ends here may be an object with code of its own, for which no lock may be held.
    _ = consume former
    return valid
  }

  private func freeNode() -> Node? {
    var place = newest.load(ordering: .acquiring)
    while let node = place?.takeUnretainedValue(), !node.isFree { place = node.next }
    return place?.takeUnretainedValue()
  }
}

/// A default that a thread evaluates for a store.
private struct Evaluation: Hashable, @unchecked Sendable {
  let lazyDefault: ObjectIdentifier
  // An address to compare, and never to look at.
  let mark: UnsafeRawPointer

  init(of lazyDefault: ObjectIdentifier, for mark: UnsafeRawPointer) {
    (self.lazyDefault, self.mark) = (lazyDefault, mark)
  }
}

// Which thread is at it; one table for all keys, as it is empty nearly always.
private let evaluations = Monitor<[Evaluation: UInt]>([:])

private func address(of mark: StoreIdentity.Mark) -> UnsafeRawPointer {
  UnsafeRawPointer(Unmanaged.passUnretained(mark).toOpaque())
}
