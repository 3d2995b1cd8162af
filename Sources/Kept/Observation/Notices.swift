// The changes of several keys as an asynchronous sequence: `for await notice in settings.notices(prefix: "audio.")`.

public import KeptCore
import KeptValues

extension Store {
  /// The commits that change a key with this prefix, in order, as an asynchronous sequence.
  ///
  /// ```swift
  /// for await notice in settings.notices(prefix: "audio.") {
  ///   for change in notice.changes { print(change.key, change.old, "→", change.new) }
  /// }
  /// ```
  ///
  /// It delivers every commit after this call, in this process and in others; see ``Notices`` for its lifetime, and for
  /// slow readers. Subscribing to a prefix reads the values of all its keys and keeps them in memory. It never throws:
  /// if the store is closed or cannot be read, the sequence ends at once, and the error handler receives the reason.
  /// Use it on any thread and in any task. In C: `kept_observe` with `KEPT_OBSERVE_POLLED` and `kept_subscription_fd`.
  /// In Python: `settings.changes(prefix=...)`.
  /// - Parameters:
  ///   - prefix: text that the keys begin with; `""` is every key.
  ///   - initial: whether the first notice has the values at the time of this call.
  public func notices(prefix: String = "", initial: Bool = false) -> Notices {
    let scope = Scope.prefix(ExactString(prefix))
    return Notices(listening: Listening({ scope }, of: self, initial: initial))
  }

  /// A sequence of ``Notice``s that ends with its store.
  ///
  /// Nothing is buffered in the sequence itself. Waiting notices are in the library's mailbox: one for each commit of
  /// this process, and one, merged by key, for consecutive commits of other processes. When more than 4096 wait, they
  /// are merged into one. So a slow reader, or one that does not read at all, receives fewer notices, but misses no key
  /// and never the last value, and memory stays bounded.
  ///
  /// The sequence ends when the store is closed and when the reading task is cancelled; notices that wait then are
  /// dropped. The subscription ends when the iterator is dropped, as it is when a loop ends. Until then the store stays
  /// open. The first iterator receives everything since the sequence was created, and each further iterator everything
  /// since its own creation.
  public struct Notices: AsyncSequence, Sendable {
    public typealias Element = Notice
    public typealias Failure = Never
    let listening: Listening

    public func makeAsyncIterator() -> Iterator { Iterator(inbox: listening.begin()) }

    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never
      let inbox: Inbox

      /// Waits for the next notice; nil at the end.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Notice? {
        await inbox.next(isolation: actor)
      }
    }
  }
}

// Iterators are not Sendable, on purpose: two tasks would each receive a part of the notices.
@available(*, unavailable)
extension Store.Notices.Iterator: Sendable {}
