// The changes of a key as a sequence: `for await change in settings.changes(of: .volume)`.

public import KeptCore

extension Store {
  /// The changes of a key in its own type, in the order of the commits, as a sequence that waits for what comes.
  ///
  /// ```swift
  /// for await change in settings.changes(of: .volume) { print(change.old, "→", change.new) }
  /// ```
  ///
  /// It hears of every commit after this call, in this process and in others; see ``Key/Changes`` for how long, and for
  /// what becomes of a slow reader. A value that is none of the key's type comes as the default, with the reason in
  /// ``Key/Change/error``. It never throws: of a store that is closed, or cannot be read, and of a key whose name is
  /// none, the sequence is over at once, and the error handler hears why. Any thread, any task. The C twins are
  /// `kept_observe` with `KEPT_OBSERVE_POLLED` and `kept_subscription_fd`. In Python: `settings.changes(key)`.
  /// - Parameters:
  ///   - key: what changes.
  ///   - initial: the first change tells the value at the time of this call, and comes before any other.
  public func changes<Value>(of key: Key<Value>, initial: Bool = false) -> Key<Value>.Changes {
    let listening = Listening(
      { () throws(StoreError) in .key(try key.keyName()) }, of: self, initial: initial)
    let texts = (try? key.keyName()).map { LayerTexts(of: $0, in: self) }
    return Key.Changes(key: key, texts: texts, listening: listening)
  }
}

extension Key {
  /// A sequence of ``Change``s that ends with its store.
  ///
  /// It lasts as long as ``Store/Notices`` do, and keeps what waits in the same way: nothing is buffered in the
  /// sequence; in the library's mailbox the changes of other processes that follow each other are one, and when more
  /// than 4096 wait all are one. A slow reader finds fewer changes, and always the last; each `old` is the `new`
  /// before.
  public struct Changes: AsyncSequence, Sendable {
    public typealias Element = Change
    public typealias Failure = Never
    let key: Key<Value>
    let texts: LayerTexts?
    let listening: Listening

    public func makeAsyncIterator() -> Iterator { Iterator(key: key, texts: texts, inbox: listening.begin()) }

    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never
      let key: Key<Value>
      let texts: LayerTexts?
      let inbox: Inbox

      /// The next change, once there is one; nil is the end.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
        while let texts, let notice = await inbox.next(isolation: actor) {
          if let change = Change(in: notice, of: key, texts) { return change }
        }
        return nil
      }
    }
  }
}

// One reader for each iterator, on purpose: two tasks would each hear of a part.
@available(*, unavailable)
extension Key.Changes.Iterator: Sendable {}
