// The changes of many keys as a sequence: `for await notice in settings.notices(prefix: "audio.")`.

public import KeptCore

extension Store {
  /// The commits that change a key with this prefix, in their order, as a sequence that waits for what comes.
  ///
  /// ```swift
  /// for await notice in settings.notices(prefix: "audio.") {
  ///   for change in notice.changes { print(change.key, change.old, "→", change.new) }
  /// }
  /// ```
  ///
  /// It hears of every commit after this call, in this process and in others; see ``Notices`` for how long, and for
  /// what becomes of a slow reader. Subscribing to a prefix reads, and keeps in memory, the values of all its keys. It
  /// never throws: of a store that is closed, or cannot be read, the sequence is over at once, and the error handler
  /// hears why. Any thread, any task. The C twins are `kept_observe` with `KEPT_OBSERVE_POLLED` and
  /// `kept_subscription_fd`. In Python: `settings.changes(prefix=...)`.
  /// - Parameters:
  ///   - prefix: text that the keys begin with; `""` is every key.
  ///   - initial: the first notice has the values at the time of this call, and comes before any other.
  public func notices(prefix: String = "", initial: Bool = false) -> Notices {
    let scope = Scope.prefix(ExactString(prefix))
    return Notices(listening: Listening({ scope }, of: self, initial: initial))
  }

  /// A sequence of ``Notice``s that ends with its store.
  ///
  /// Nothing is buffered in the sequence itself. What waits is in the library's mailbox: one notice for each commit of
  /// this process, and one, merged by key, for commits of other processes that follow each other. When more than 4096
  /// wait they become one. So a reader that is slow, or does not read at all, finds fewer notices, but misses no key
  /// and never the last value, and memory stays bounded.
  ///
  /// It ends when the store is closed and when the reading task is cancelled; what waits by then is dropped. The
  /// subscription ends when the iterator is dropped, as it is when a loop is left. Until then the store stays open. The
  /// first iterator hears of everything since the sequence was made, each further one of what comes after it was made.
  public struct Notices: AsyncSequence, Sendable {
    public typealias Element = Notice
    public typealias Failure = Never
    let listening: Listening

    public func makeAsyncIterator() -> Iterator { Iterator(inbox: listening.begin()) }

    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never
      let inbox: Inbox

      /// The next notice, once there is one; nil is the end.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Notice? {
        await inbox.next(isolation: actor)
      }
    }
  }
}

// One reader for each iterator, on purpose: two tasks would each hear of a part.
@available(*, unavailable)
extension Store.Notices.Iterator: Sendable {}
