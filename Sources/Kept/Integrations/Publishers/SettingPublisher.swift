// The publisher of a key, a setting or a handle, for Combine, or for OpenCombine on other systems.

#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
import KeptCore
import KeptValues

/// Publishes the values or the changes of one setting while its store is open.
///
/// Create it with ``Store/publisher(for:)``, ``Store/changesPublisher(for:initial:)`` or the similar properties of a
/// setting and a handle. Each subscriber receives every commit after it subscribed, in this process and in others, in
/// order.
///
/// It respects demand: without demand nothing is published, and waiting changes are kept as for a slow reader of
/// ``Store/Notices``, so that the subscriber receives fewer changes, and always the last. With demand, values are
/// published where the store calls its observers, one call at a time and with no lock held. The initial value is
/// published on the subscribing thread or, if there is no demand then, on the thread that first requests values.
///
/// After `cancel` nothing is published any more. It can be called from anywhere, including from the subscriber during a
/// call. A call that runs on another thread at that time is not waited for, unlike with
/// ``KeptCore/Subscription/cancel()``, because operators hold their own locks while they call.
///
/// It never fails, because a failure would end the publisher, and a value of the wrong type does not end a setting: the
/// next correct value is published. Changes have the reason in ``Key/Change/error``. Values are the default then, and
/// the error handler receives the reason. It finishes when the store is closed and when the handle is destroyed. If the
/// store is already closed or cannot be read, or the key's name is not valid, it finishes at once, and the error
/// handler receives the reason.
public struct SettingPublisher<Output: Sendable>: Publisher, Sendable {
  public typealias Failure = Never
  let store: Store
  let key: @Sendable () throws(StoreError) -> KeyName
  // The binding whose end also ends the publisher.
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
