// When keys were deleted. etcd has no query for this, but its earlier revisions can be read.

extension Session {
  /// Returns the revisions at which keys were deleted, in the order of the keys.
  ///
  /// A revision is nil if etcd no longer has the past of the key, or if the search takes too many calls.
  ///
  /// - Parameters:
  ///   - keys: keys that do not exist now, each with a revision at which it existed.
  ///   - now: a revision at which none of them existed.
  package func deletions(
    _ keys: [(key: String, revision: Int64)], until now: Int64
  ) async throws(EtcdError) -> [Int64?] {
    var found = [Int64?](repeating: nil, count: keys.count)
    let lifetimes = keys.enumerated().map { Lifetime(index: $0, key: $1.key, last: $1.revision) }
    var open = [(lifetimes: lifetimes.filter { 0..<now ~= $0.last }, end: now)]
    // Enough for a few transactions among a billion, or for a few thousand keys.
    var calls = 1_000
    while let (all, end) = open.popLast() {
      for lifetime in all where lifetime.last == end - 1 && lifetime.isRead { found[lifetime.index] = end }
      let lifetimes = all.filter { $0.last != end - 1 }
      guard let last = lifetimes.map(\.last).max(), calls > 0 else { continue }
      calls -= 1 + lifetimes.count / Self.mostOperations
      let middle = last + (end - last) / 2
      do throws(EtcdError) {
        let present = try await read(lifetimes.map { .key($0.key) }, at: middle, keysOnly: true)
        // Canonically equivalent strings are different keys.
        let names = Set(present.items.map { Array($0.key.utf8) })
        open.append((lifetimes.filter { !names.contains(Array($0.key.utf8)) }, middle))
        open.append((lifetimes.filter { names.contains(Array($0.key.utf8)) }.map { $0.found(at: middle) }, end))
      } catch {
        guard error.kind == .compacted else { throw error }
        open.append((lifetimes.map { $0.assumed(at: middle) }, end))
      }
    }
    return found
  }

  private struct Lifetime {
    let index: Int
    let key: String
    /// A revision at which the key existed, or is assumed to have existed.
    var last: Int64
    var isRead = true

    func found(at revision: Int64) -> Lifetime { Lifetime(index: index, key: key, last: revision) }
    func assumed(at revision: Int64) -> Lifetime { Lifetime(index: index, key: key, last: revision, isRead: false) }
  }
}
