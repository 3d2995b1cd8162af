// The changes of a handle as a sequence: `for await change in volume.changes`.

import KeptCore
import KeptSystem
import KeptValues

extension Handle {
  /// The changes of the value from now on; see ``changes(initial:)``.
  public var changes: Changes { changes(initial: false) }

  /// The changes of the value, in the order of the commits, as an asynchronous sequence.
  ///
  /// It is ``Store/changes(of:initial:)`` in the handle's type, and ends with the store and when the handle is
  /// destroyed. For a handle that is already destroyed the sequence ends at once, and the error handler receives the
  /// reason.
  /// - Parameters:
  ///   - initial: whether the first change is the value at the time of this call.
  public func changes(initial: Bool) -> Changes {
    let binding = binding
    let listening = Listening(
      { () throws(StoreError) in
        try binding.checkAlive()
        return .key(binding.key)
      }, of: store, initial: initial)
    return Changes(
      source: source, texts: LayerTexts(of: binding.key, in: store), binding: binding, listening: listening)
  }

  /// A sequence of ``Change``s; see ``Store/Notices`` for its lifetime, and for slow readers.
  public struct Changes: AsyncSequence, Sendable {
    public typealias Element = Change
    public typealias Failure = Never
    let source: any HandleSource<Value>
    let texts: LayerTexts
    let binding: Binding
    let listening: Listening

    public func makeAsyncIterator() -> Iterator {
      let inbox = listening.begin()
      // If the handle was destroyed in between, the sequence has ended, and the error adds nothing.
      if let subscription = inbox.subscription { try? binding.end(subscription) }
      return Iterator(source: source, texts: texts, inbox: inbox)
    }

    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never
      let source: any HandleSource<Value>
      let texts: LayerTexts
      let inbox: Inbox

      /// Waits for the next change; nil at the end.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
        while let notice = await inbox.next(isolation: actor) {
          if let change = source.change(in: notice, texts) { return change }
        }
        return nil
      }
    }
  }
}

// Iterators are not Sendable, on purpose: two tasks would each receive a part of the changes.
@available(*, unavailable)
extension Handle.Changes.Iterator: Sendable {}
