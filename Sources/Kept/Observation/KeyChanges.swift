// The changes of a key as an asynchronous sequence: `for await change in settings.changes(of: .volume)`.

public import KeptCore
import KeptSystem
import KeptValues

extension Store {
  /// The changes of a key in its own type, in the order of the commits, as an asynchronous sequence.
  ///
  /// ```swift
  /// for await change in settings.changes(of: .volume) { print(change.old, "→", change.new) }
  /// ```
  ///
  /// It delivers every commit after this call, in this process and in others; see ``Key/Changes`` for its lifetime, and
  /// for slow readers. A value that does not have the key's type is delivered as the default, with the reason in
  /// ``Key/Change/error``. It never throws: if the store is closed or cannot be read, or the key's name is not valid,
  /// the sequence ends at once, and the error handler receives the reason. Use it on any thread and in any task. In C:
  /// `kept_observe` with `KEPT_OBSERVE_POLLED` and `kept_subscription_fd`. In Python: `settings.changes(key)`.
  /// - Parameters:
  ///   - key: the key to observe.
  ///   - initial: whether the first change is the value at the time of this call.
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
  /// It has the lifetime of ``Store/Notices``, and keeps waiting changes in the same way: nothing is buffered in the
  /// sequence. In the library's mailbox, consecutive changes of other processes are merged, and when more than 4096
  /// wait, all are merged into one. A slow reader receives fewer changes, and always the last; each `old` is the
  /// previous `new`.
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

      /// Waits for the next change; nil at the end.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
        while let texts, let notice = await inbox.next(isolation: actor) {
          if let change = Change(in: notice, of: key, texts) { return change }
        }
        return nil
      }
    }
  }
}

// Iterators are not Sendable, on purpose: two tasks would each receive a part of the changes.
@available(*, unavailable)
extension Key.Changes.Iterator: Sendable {}
