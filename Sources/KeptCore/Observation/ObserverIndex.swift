// The observer index: finds observers by the changed key.

import KeptSystem
import KeptValues

/// The observers of one handle.
struct ObserverIndex {
  private var byKey: [KeyName: IdentityList<Observer>] = [:]
  private var byPrefix = PrefixTable<PrefixObservers>()
  private var prefixesSoFar = 0

  var isEmpty: Bool { byKey.isEmpty && byPrefix.isEmpty }

  mutating func add(_ observer: Observer) {
    switch observer.scope {
    case .key(let key): byKey[key, default: IdentityList()].append(observer)
    case .prefix(let prefix):
      if let known = byPrefix[prefix] { return known.observers.append(observer) }
      prefixesSoFar += 1
      let new = PrefixObservers(number: prefixesSoFar)
      new.observers.append(observer)
      byPrefix.insert(new, for: prefix)
    }
  }

  mutating func remove(_ observer: Observer) {
    switch observer.scope {
    case .key(let key):
      byKey[key]?.remove(observer)
      if byKey[key]?.isEmpty == true { byKey[key] = nil }
    case .prefix(let prefix):
      guard let known = byPrefix[prefix] else { return }
      known.observers.remove(observer)
      if known.observers.isEmpty { byPrefix.remove(prefix) }
    }
  }

  /// Whether an observer of this handle observes a key.
  func covers(_ key: KeyName) -> Bool {
    if byKey[key] != nil { return true }
    var isCovered = false
    byPrefix.each(of: key) { _ in
      isCovered = true
      return false
    }
    return isCovered
  }

  /// Posts to each observer's mailbox the changes in its scope.
  ///
  /// - Parameter changes: what the commits have written. Values that did not change are not delivered, and an observer
  ///   of only such keys receives a notice without changes, which covers these commits.
  /// - Returns: the observers whose delivery must be notified.
  func post(_ changes: [Change], _ notice: (Observer, [Change]) -> Notice) -> [Observer] {
    var notified: [Observer] = []
    func post(_ observers: IdentityList<Observer>, _ changes: [Change]) {
      let changes = changes.filter { !$0.isNone }
      for observer in observers where observer.post(notice(observer, changes)) { notified.append(observer) }
    }
    for (observers, changes) in inScope(changes) { post(observers.observers, changes) }
    if !byKey.isEmpty {
      for change in changes { if let observers = byKey[change.key] { post(observers, [change]) } }
    }
    return notified
  }

  /// Posts a notice to the observers of prefixes that none of the changes is in the scope of.
  ///
  /// - Returns: the observers whose delivery must be notified.
  func post(_ notice: Notice, toPrefixesBeside changes: [Change]) -> [Observer] {
    var notified: [Observer] = []
    for prefix in byPrefix.prefixes where !changes.contains(where: { $0.key.exact.hasPrefix(prefix) }) {
      for observer in byPrefix[prefix]?.observers ?? IdentityList() where observer.post(notice) {
        notified.append(observer)
      }
    }
    return notified
  }

  /// The observers of each prefix, in subscription order, each with the changes in its scope.
  private func inScope(_ changes: [Change]) -> [(PrefixObservers, [Change])] {
    guard !byPrefix.isEmpty else { return [] }
    var found: [Int: (PrefixObservers, [Change])] = [:]
    for change in changes {
      byPrefix.each(of: change.key) { observers in
        found[observers.number, default: (observers, [])].1.append(change)
        return true
      }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// The observers of one prefix.
final class PrefixObservers {
  // Later observers have larger numbers.
  let number: Int
  var observers = IdentityList<Observer>()

  init(number: Int) { self.number = number }
}
