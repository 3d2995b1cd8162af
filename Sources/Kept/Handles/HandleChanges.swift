// The changes of a handle as a sequence: `for await change in volume.changes`.

import KeptCore

extension Handle {
  /// The changes of the value from now on; see ``changes(initial:)``.
  public var changes: Changes { changes(initial: false) }

  /// The changes of the value, in the order of the commits, as a sequence that waits for what comes.
  ///
  /// It is ``Store/changes(of:initial:)`` in the handle's type, and ends with the store and when the handle is
  /// destroyed. Of one that was destroyed before it is over at once, and the error handler hears why.
  /// - Parameters:
  ///   - initial: the first change tells the value at the time of this call, and comes before any other.
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

  /// A sequence of ``Change``s; see ``Store/Notices`` for how long it lasts, and for what becomes of a slow reader.
  public struct Changes: AsyncSequence, Sendable {
    public typealias Element = Change
    public typealias Failure = Never
    let source: any HandleSource<Value>
    let texts: LayerTexts
    let binding: Binding
    let listening: Listening

    public func makeAsyncIterator() -> Iterator {
      let inbox = listening.begin()
      // Destroyed since: the sequence is over, which is all there is to say.
      if let subscription = inbox.subscription { try? binding.end(subscription) }
      return Iterator(source: source, texts: texts, inbox: inbox)
    }

    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never
      let source: any HandleSource<Value>
      let texts: LayerTexts
      let inbox: Inbox

      /// The next change, once there is one; nil is the end.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
        while let notice = await inbox.next(isolation: actor) {
          if let change = source.change(in: notice, texts) { return change }
        }
        return nil
      }
    }
  }
}

// One reader for each iterator, on purpose: two tasks would each hear of a part.
@available(*, unavailable)
extension Handle.Changes.Iterator: Sendable {}
