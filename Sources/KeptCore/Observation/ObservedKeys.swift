// The keys that any observer observes, through any handle, and the known values to drop with the last observer.

import KeptValues

/// Counts the observers of keys and prefixes, and tracks which keys have a value under each prefix.
struct ObservedKeys {
  /// A prefix with observers.
  private final class Cover {
    var observers = 0
    // Keys with a known value. Not maintained for the prefix of all keys, because all of them are in `known`.
    var keys: Set<KeyName> = []
  }
  private var keys: [KeyName: Int] = [:]
  private var prefixes = PrefixTable<Cover>()
  // Observers of everything.
  private var ofAll = 0

  /// The observed scopes.
  var scopes: [Scope] {
    prefixes.prefixes.map { .prefix($0) } + keys.keys.map { .key($0) } + (ofAll > 0 ? [.prefix("")] : [])
  }

  /// Whether an observer observes a key.
  func covers(_ key: KeyName) -> Bool {
    if ofAll > 0 || keys[key] != nil { return true }
    var isCovered = false
    prefixes.each(of: key) { _ in
      isCovered = true
      return false
    }
    return isCovered
  }

  /// Counts one more observer of a scope where these keys have a value.
  mutating func add(_ scope: Scope, with present: @autoclosure () -> [KeyName]) {
    switch scope {
    case .key(let key): keys[key, default: 0] += 1
    case .prefix(""): ofAll += 1
    case .prefix(let prefix):
      let cover = prefixes[prefix] ?? Cover()
      if cover.observers == 0 {
        cover.keys = Set(present())
        prefixes.insert(cover, for: prefix)
      }
      cover.observers += 1
    }
  }

  /// Counts one observer less, and drops the values of keys that are no longer observed.
  mutating func remove(_ scope: Scope, from known: inout [KeyName: Entry]) {
    switch scope {
    case .key(let key):
      let left = (keys[key] ?? 1) - 1
      keys[key] = left > 0 ? left : nil
      if !covers(key) { known[key] = nil }
    case .prefix(""):
      ofAll -= 1
      if ofAll == 0 { known = known.filter { covers($0.key) } }
    case .prefix(let prefix):
      guard let cover = prefixes[prefix] else { return }
      cover.observers -= 1
      guard cover.observers == 0 else { return }
      prefixes.remove(prefix)
      for key in cover.keys where !covers(key) { known[key] = nil }
    }
  }

  /// Records whether a key has a value now.
  func note(_ key: KeyName, isPresent: Bool) {
    prefixes.each(of: key) { cover in
      if isPresent { cover.keys.insert(key) } else { cover.keys.remove(key) }
      return true
    }
  }

  /// The known keys that begin with an observed prefix.
  func keys(in prefix: ExactString, of known: [KeyName: Entry]) -> [KeyName] {
    prefix == "" ? Array(known.keys) : Array(prefixes[prefix]?.keys ?? [])
  }
}
