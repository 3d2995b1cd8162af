// When a default is evaluated: once for each store, by the thread that needs it first, and with no lock held.

package import KeptCore
import Synchronization

/// A default, and what it turned out to be for each store.
///
/// What is known is a list that readers walk without a lock. A node never leaves it, so that they may be anywhere in
/// it; the node of a store that is gone serves the next new one.
// The nodes do not know the type of their value: a generic class would be looked up by name for every read.
package final class LazyDefault<Value: Sendable>: Sendable {
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
      node = last._withUnsafeGuaranteedRef { node in
        value(in: node).deinitialize(count: 1)
        node.value.deallocate()
        return node.next
      }
      last.release()
    }
  }

  /// Evaluates it, whatever is known.
  func evaluate() -> Value { make() }

  /// What it is for a store.
  ///
  /// A thread that comes while another one evaluates it waits, but not for ever: that one may in turn wait for it.
  /// Then, and where the default reads its own key, it is evaluated again, and the first result counts: a default that
  /// takes longer than that may have an effect twice.
  package func value(for store: StoreIdentity) -> Value {
    guard let place = place(for: address(of: store.mark)) else { return evaluated(for: store) }
    return place.pointee
  }

  private func evaluated(for store: StoreIdentity) -> Value {
    let mark = address(of: store.mark)
    let evaluation = Evaluation(of: ObjectIdentifier(self), for: mark)
    let thread = LibraryThread.current
    let others: Value?? = evaluations.wait(milliseconds: patience) { evaluating in
      if let value = known(mark) { return .some(value) }
      guard evaluating[evaluation, default: thread] == thread else { return nil }
      evaluating[evaluation] = thread
      return .some(nil)
    }
    return others.flatMap { $0 } ?? publish(make(), for: store, evaluation)
  }

  private func known(_ mark: UnsafeRawPointer) -> Value? { place(for: mark)?.pointee }

  private func place(for mark: UnsafeRawPointer) -> UnsafeMutablePointer<Value>? {
    Node.value(of: mark, from: newest.load(ordering: .acquiring))?.assumingMemoryBound(to: Value.self)
  }

  private func value(in node: Node) -> UnsafeMutablePointer<Value> { node.value.assumingMemoryBound(to: Value.self) }

  /// Makes a value known, unless there is one.
  private func publish(_ value: Value, for store: StoreIdentity, _ evaluation: Evaluation) -> Value {
    let (valid, former): (Value, Value?) = evaluations.update { evaluating in
      evaluating[evaluation] = nil
      if let first = known(evaluation.mark) { return (first, nil) }
      if let free = freeNode() {
        return (value, free.serve(store.mark) { self.value(in: free).exchange(with: value) })
      }
      let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
      place.initialize(to: value)
      let node = Node(place, of: store.mark, next: newest.load(ordering: .acquiring))
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

/// What a default is for one store.
///
/// Invariant: `value` is written before `mark`, and only while nobody can ask for the mark that was there before.
private final class Node: @unchecked Sendable {
  let value: UnsafeMutableRawPointer
  private var owner: StoreIdentity.Mark
  private let mark: Atomic<UnsafeRawPointer?>
  let next: Unmanaged<Node>?

  init(_ value: UnsafeMutableRawPointer, of owner: StoreIdentity.Mark, next: Unmanaged<Node>?) {
    (self.value, self.owner, self.next) = (value, owner, next)
    mark = Atomic(address(of: owner))
  }

  var isFree: Bool { owner.isGone }

  /// Where the value of a store is.
  static func value(of mark: UnsafeRawPointer, from newest: Unmanaged<Node>?) -> UnsafeMutableRawPointer? {
    var place = newest
    while let node = place {
      let (found, next) = node._withUnsafeGuaranteedRef { node in
        (node.mark.load(ordering: .acquiring) == mark ? node.value : nil, node.next)
      }
      if let found { return found }
      place = next
    }
    return nil
  }

  /// Becomes a new store's, whose value `exchange` puts in; gives back that of the one that is gone.
  func serve<Value>(_ newOwner: StoreIdentity.Mark, _ exchange: () -> Value) -> Value {
    mark.store(nil, ordering: .sequentiallyConsistent)
    let former = exchange()
    // The former owner's address may be given away from here on.
    owner = newOwner
    mark.store(address(of: newOwner), ordering: .releasing)
    return former
  }
}

extension UnsafeMutablePointer {
  fileprivate func exchange(with value: Pointee) -> Pointee {
    let former = move()
    initialize(to: value)
    return former
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
