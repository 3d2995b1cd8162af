// What goes to etcd in one transaction.

internal import Etcd
internal import Kept

/// Divides what goes up into transactions that etcd takes.
///
/// Everything goes in one if it fits. If not, groups of keys stay together as far as they fit, in the order of their
/// changes.
struct UploadParts {
  /// The keys that were too large for any transaction.
  private(set) var tooLarge: Set<ExactString> = []
  private(set) var parts: [[ExactString]] = []

  /// Two operations are for the record of the writer and the fence.
  static let mostKeys = Session.mostOperations - 2
  /// etcd takes 1.5 MiB unless it is configured otherwise.
  static let mostBytes = 1_400_000

  /// - Parameter prefix: how many bytes are before the name of a key in etcd.
  init(_ keys: Set<ExactString>, _ groups: Groups, _ local: [ExactString: LocalValue], prefix: Int) {
    func bytes(_ key: ExactString) -> Int {
      2 * (prefix + key.text.utf8.count) + 64 + (local[key]?.sentBytes ?? 0)
    }
    tooLarge = keys.filter { bytes($0) > Self.mostBytes }
    var left = keys.subtracting(tooLarge)
    // A removal does not have a revision of its own; it goes with the first change.
    func order(_ key: ExactString) -> (Revision, ExactString) { (local[key]?.revision ?? 0, key) }
    var part: [ExactString] = []
    var size = 0
    func close() {
      if !part.isEmpty { parts.append(part) }
      (part, size) = ([], 0)
    }
    for key in keys.sorted(by: { order($0) < order($1) }) where left.contains(key) {
      let group = groups.group(of: key).intersection(left).sorted { order($0) < order($1) }
      left.subtract(group)
      let groupSize = group.reduce(0) { $0 + bytes($1) }
      if part.count + group.count > Self.mostKeys || size + groupSize > Self.mostBytes { close() }
      for member in group {
        if part.count == Self.mostKeys || size + bytes(member) > Self.mostBytes { close() }
        part.append(member)
        size += bytes(member)
      }
    }
    close()
  }
}
