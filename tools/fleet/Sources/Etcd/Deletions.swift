// When keys were deleted: etcd has no record of it that can be asked for, but its past can be read.

extension Session {
  /// The revisions at which keys were deleted, in the order of the keys; nil where etcd no longer has its past.
  ///
  /// - Parameters:
  ///   - keys: keys that do not exist now, and a revision at which each did.
  ///   - now: a revision at which none of them existed.
  package func deletions(
    _ keys: [(key: String, revision: Int64)], until now: Int64
  ) async throws(EtcdError) -> [Int64?] {
    var found = [Int64?](repeating: nil, count: keys.count)
    let lifetimes = keys.enumerated().map { Lifetime(index: $0, key: $1.key, last: $1.revision) }
    var open = [(lifetimes: lifetimes.filter { 0..<now ~= $0.last }, end: now)]
    // Enough for some transactions among a billion.
    var reads = 200
    while let (all, end) = open.popLast() {
      for lifetime in all where lifetime.last == end - 1 && lifetime.isRead { found[lifetime.index] = end }
      let lifetimes = all.filter { $0.last != end - 1 }
      guard let last = lifetimes.map(\.last).max(), reads > 0 else { continue }
      reads -= 1
      let middle = last + (end - last) / 2
      do throws(EtcdError) {
        let present = try await read(lifetimes.map { .key($0.key) }, at: middle, keysOnly: true)
        // Strings that are canonically equivalent are different keys.
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
    /// A revision at which it existed, or is taken to have existed.
    var last: Int64
    var isRead = true

    func found(at revision: Int64) -> Lifetime { Lifetime(index: index, key: key, last: revision) }
    func assumed(at revision: Int64) -> Lifetime { Lifetime(index: index, key: key, last: revision, isRead: false) }
  }
}
