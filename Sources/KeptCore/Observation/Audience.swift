// Who listens, found by the key that changed.

struct Audience {
  private var byKey: [KeyName: [Observer]] = [:]
  private var byPrefix: [(prefix: ExactString, observers: [Observer])] = []

  var isEmpty: Bool { byKey.isEmpty && byPrefix.isEmpty }

  /// What somebody listens to.
  var scopes: [Scope] { byPrefix.map { .prefix($0.prefix) } + byKey.keys.map { .key($0) } }

  mutating func add(_ observer: Observer) {
    switch observer.scope {
    case .key(let key):
      byKey[key, default: []].append(observer)
    case .prefix(let prefix):
      if let place = byPrefix.firstIndex(where: { $0.prefix == prefix }) {
        byPrefix[place].observers.append(observer)
      } else {
        byPrefix.append((prefix, [observer]))
      }
    }
  }

  mutating func remove(_ observer: Observer) {
    switch observer.scope {
    case .key(let key):
      byKey[key]?.removeAll { $0 === observer }
      if byKey[key]?.isEmpty == true { byKey[key] = nil }
    case .prefix(let prefix):
      guard let place = byPrefix.firstIndex(where: { $0.prefix == prefix }) else { return }
      byPrefix[place].observers.removeAll { $0 === observer }
      if byPrefix[place].observers.isEmpty { byPrefix.remove(at: place) }
    }
  }

  /// Whether anybody listens to a key.
  func covers(_ key: KeyName) -> Bool { byKey[key] != nil || byPrefix.contains { key.exact.hasPrefix($0.prefix) } }

  /// Puts what each observer is to hear of into its mailbox.
  ///
  /// - Returns: those whose delivery has to be told.
  func post(_ changes: [Change], _ notice: (Observer, [Change]) -> Notice) -> [Observer] {
    var told: [Observer] = []
    func post(_ observers: [Observer], _ changes: [Change]) {
      for observer in observers where observer.post(notice(observer, changes)) { told.append(observer) }
    }
    for (prefix, observers) in byPrefix {
      let inScope = changes.filter { $0.key.exact.hasPrefix(prefix) }
      if !inScope.isEmpty { post(observers, inScope) }
    }
    if !byKey.isEmpty {
      for change in changes { if let observers = byKey[change.key] { post(observers, [change]) } }
    }
    return told
  }
}
