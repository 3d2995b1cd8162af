// Evaluates a default: once for each store, on the thread that needs it first, and with no lock held.

package import KeptCore
import KeptSystem
import KeptValues
import Synchronization

/// A default, and its value for each store.
///
/// The known values are a list that readers traverse without a lock. A node is never removed, so a reader may be
/// anywhere in the list; the node of a store that no longer exists is reused for the next new one.
// The nodes do not have the type of their value: a generic class would be looked up by name for every read.
package final class LazyDefault<Value: Sendable>: Sendable {
  private let newest = Atomic<Unmanaged<Node>?>(nil)
  private let make: @Sendable () -> Value
  private let patience: Int64

  /// - Parameter patienceMilliseconds: how long a thread waits for another one's evaluation before it evaluates itself.
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

  /// Evaluates the default, regardless of known values.
  func evaluate() -> Value { make() }

  /// The value for a store.
  ///
  /// While another thread evaluates it, a thread waits up to a time limit, because the other thread may in turn wait
  /// for it. After that limit, and if the default reads its own key, it is evaluated again, and the first result is
  /// used: a default that takes longer than the limit may have its side effects twice.
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

  /// Publishes a value, unless there is one.
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
    // The released object may run user code, for which no lock may be held.
    _ = consume former
    return valid
  }

  private func freeNode() -> Node? {
    var place = newest.load(ordering: .acquiring)
    while let node = place?.takeUnretainedValue(), !node.isFree { place = node.next }
    return place?.takeUnretainedValue()
  }
}

/// The value of a default for one store.
///
/// Invariant: `value` is written before `mark`, and only while no reader can use the previous mark.
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

  /// The address of the value for a store.
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

  /// Assigns the node to a new store, whose value `exchange` stores; returns the value of the previous store.
  func serve<Value>(_ newOwner: StoreIdentity.Mark, _ exchange: () -> Value) -> Value {
    mark.store(nil, ordering: .sequentiallyConsistent)
    let former = exchange()
    // The address of the former owner may be reused from here on.
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

/// An evaluation of a default by a thread for a store.
private struct Evaluation: Hashable, @unchecked Sendable {
  let lazyDefault: ObjectIdentifier
  // An address that is only compared and never dereferenced.
  let mark: UnsafeRawPointer

  init(of lazyDefault: ObjectIdentifier, for mark: UnsafeRawPointer) {
    (self.lazyDefault, self.mark) = (lazyDefault, mark)
  }
}

// The evaluating threads; one table for all keys, because it is almost always empty.
private let evaluations = Monitor<[Evaluation: UInt]>([:])

private func address(of mark: StoreIdentity.Mark) -> UnsafeRawPointer {
  UnsafeRawPointer(Unmanaged.passUnretained(mark).toOpaque())
}
