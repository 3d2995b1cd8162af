// A key that this process handles as one type: the state that all handles of the key share, and that destroying ends.

import KeptCore
import KeptSystem
import KeptValues
import Synchronization

/// Binds a key of an open location to a type, until it is destroyed.
///
/// Invariant: once ``destroy(_:)`` has removed the stored value, nothing is written through the binding any more, and a
/// reader that has read through it afterwards gets an error from ``checkAlive()`` before the value is returned.
final class Binding: Sendable {
  private enum Life { case bound, ending, destroyed }
  private struct State {
    var life = Life.bound
    var writers = 0
    // The fork count when the writers were counted: in a child those of the parent no longer exist.
    var forks = Fork.count
    var listeners: [Listener] = []
    // When there are this many listeners, those that have ended are removed.
    var mostListeners = 16

    mutating func add(_ listener: Listener) {
      if listeners.count >= mostListeners {
        listeners.removeAll { $0.subscription == nil }
        mostListeners = max(16, 2 * listeners.count)
      }
      listeners.append(listener)
    }

    /// Discards the threads that were writing or destroying in the parent of a fork.
    mutating func forgetVanished() {
      guard forks != Fork.count else { return }
      (forks, writers) = (Fork.count, 0)
      if life == .ending { life = .bound }
    }
  }
  private struct Listener { weak var subscription: Subscription? }

  let key: KeyName
  let type: BoundType
  private let state = Monitor(State())
  // For readers, which take no lock.
  private let isOver = Atomic(false)

  init(_ key: KeyName, _ type: BoundType) {
    self.key = key
    self.type = type
  }

  var isDestroyed: Bool { isOver.load(ordering: .acquiring) }

  /// Throws if the binding was destroyed; readers call it after they have read.
  func checkAlive() throws(StoreError) {
    if isDestroyed { throw destroyed }
  }

  /// Runs `body`, which writes and calls no user code; destroying waits for it, or prevents it.
  func write<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try enter()
    defer { state.update { $0.writers -= 1 } }
    return try body()
  }

  private func enter() throws(StoreError) {
    let isBound = state.wait { state -> Bool? in
      state.forgetVanished()
      switch state.life {
      case .ending: return nil
      case .destroyed: return false
      case .bound:
        state.writers += 1
        return true
      }
    }
    guard isBound else { throw destroyed }
  }

  /// Ends a subscription when the key is destroyed; if it already is, ends it at once and throws.
  func end(_ subscription: Subscription) throws(StoreError) {
    let isBound = state.update { state in
      if state.life != .destroyed { state.add(Listener(subscription: subscription)) }
      return state.life != .destroyed
    }
    if !isBound {
      subscription.cancel()
      throw destroyed
    }
  }

  /// Destroys the binding once `remove` has removed the stored value; if that fails, everything stays as it was.
  func destroy(_ remove: () throws(StoreError) -> Void) throws(StoreError) {
    let isFirst = state.wait { state -> Bool? in
      state.forgetVanished()
      guard state.life == .bound else { return state.life == .ending ? nil : false }
      state.life = .ending
      return true
    }
    guard isFirst else { throw destroyed }
    state.wait { state -> Void? in
      state.forgetVanished()
      return state.writers == 0 ? () : nil
    }
    do throws(StoreError) { try remove() } catch {
      state.update { $0.life = .bound }
      throw error
    }
    isOver.store(true, ordering: .releasing)
    let listeners = state.update { state in
      state.life = .destroyed
      defer { state.listeners = [] }
      return state.listeners
    }
    for listener in listeners { listener.subscription?.cancel() }
  }

  private var destroyed: StoreError {
    StoreError(.closed, key: key.text, "its handle was destroyed; make a new one to use the key again")
  }
}

/// The type that a key is bound to, disregarding whether it is optional.
struct BoundType: Hashable, Sendable, CustomStringConvertible {
  let id: ObjectIdentifier
  let description: String

  init(_ type: Any.Type) {
    var type = type
    while let optional = type as? any AnyOptional.Type { type = optional.wrapped }
    id = ObjectIdentifier(type)
    description = "\(type)"
  }
}
