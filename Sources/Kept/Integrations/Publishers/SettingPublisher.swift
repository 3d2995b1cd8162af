// What a key, a setting or a handle publishes, for Combine, and for OpenCombine where there is none.

#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
import KeptCore

/// Publishes the values or the changes of one setting, as long as its store is open.
///
/// It comes from ``Store/publisher(for:)``, ``Store/changesPublisher(for:initial:)`` and their kin of a setting and a
/// handle. Each subscriber hears of every commit after it subscribed, in this process and in others, in their order.
///
/// What it asks for is what it gets: without demand nothing is published, and what waits is kept as for a slow reader
/// of ``Store/Notices``, so that it finds fewer changes, and always the last. What it has demand for is published where
/// the store calls its observers, one call at a time and with no lock held; the value that is there at first, on the
/// thread that subscribes or, if that asks for nothing, on the one that asks first.
///
/// After `cancel` nothing is published any more. It can be called from anywhere, also by the subscriber in the middle
/// of a call. A call that runs on another thread just then is not waited for, other than by
/// ``KeptCore/Subscription/cancel()``: operators hold locks of their own while they call.
///
/// It never fails, because a failure is the end of a publisher, and a value of the wrong type is not the end of a
/// setting: where there is a value again it is published. The changes tell the reason as ``Key/Change/error``; the
/// values are the default then, and the error handler hears the reason. It finishes when the store is closed and when
/// the handle is destroyed; of a store that is closed already, or cannot be read, and of a key whose name is none, at
/// once, and the error handler hears why.
public struct SettingPublisher<Output: Sendable>: Publisher, Sendable {
  public typealias Failure = Never
  let store: Store
  let key: @Sendable () throws(StoreError) -> KeyName
  // Whose end is the publisher's, too.
  var binding: Binding?
  let initial: Bool
  let output: @Sendable (Notice, LayerTexts) -> Output?

  public func receive<Downstream: Subscriber>(subscriber: Downstream)
  where Downstream.Input == Output, Downstream.Failure == Never {
    let conduit = Conduit<Output>(to: subscriber)
    do throws(StoreError) { try connect(conduit) } catch {
      store.report(error)
      conduit.end()
    }
    subscriber.receive(subscription: conduit)
    conduit.begin()
  }

  private func connect(_ conduit: Conduit<Output>) throws(StoreError) {
    let name = try key()
    let (output, texts) = (output, LayerTexts(of: name, in: store))
    conduit.publishes(by: try store.chosen(.asOpened))
    let (subscription, deliverInitial) = try store.prepareToObserve(
      .key(name), initial: initial, by: .by(conduit), afterLastCall: { conduit.end() },
      { notice in
        if let output = output(notice, texts) { conduit.publish(output) }
      })
    conduit.ends(subscription)
    deliverInitial()
    try binding?.end(subscription)
  }
}
#endif
