// Whether one store, which does one operation after the other, could have given the answers of a run.

/// What a caller knows of an operation, or a loss of power.
struct Answered {
  enum Outcome {
    case done, unknown, lostPower
  }
  var begin: UInt64
  var end: UInt64
  var outcome = Outcome.done
  var reads: [Int: Int64] = [:]
  var writes: [Int: Int64] = [:]
  /// Whether it, and all before it, survive a loss of power.
  var isDurable = false
  var revision: UInt64 = 0
}

/// Searches an order of the operations.
///
/// Each is done between its begin and its end. One without an answer is done at any time from its begin on, or never,
/// but not after a loss of power. A loss of power takes back the last operations, up to the last durable one.
struct Judge {
  private struct Version: Hashable {
    var values: [Int64]
    /// At least.
    var revision: UInt64 = 0
  }
  private struct Place: Hashable {
    var isDone: [Bool]
    var versions: [Version]
    var lostPower: UInt64
  }

  private let operations: [Answered]
  private let lastPower: UInt64
  private var seen: Set<Place> = []
  // The longest order that was found.
  private(set) var furthest: [Int] = []
  private var order: [Int] = []

  init(_ operations: [Answered]) {
    self.operations = operations.filter { $0.outcome != .unknown || !$0.writes.isEmpty }.sorted { $0.begin < $1.begin }
    lastPower = operations.filter { $0.outcome == .lostPower }.map(\.begin).max() ?? 0
  }

  /// - Parameter keys: how many keys there are; each begins with 0, which stands for none.
  static func isLinearizable(_ operations: [Answered], keys: Int) -> Bool {
    var judge = Judge(operations)
    return judge.search(
      Place(
        isDone: Array(repeating: false, count: judge.operations.count),
        versions: [Version(values: Array(repeating: 0, count: keys))], lostPower: 0))
  }

  private mutating func search(_ place: Place) -> Bool {
    guard seen.insert(place).inserted else { return false }
    let open = operations.indices.filter { !place.isDone[$0] }
    guard let limit = open.filter({ operations[$0].outcome != .unknown }).map({ operations[$0].end }).min() else {
      return true
    }
    for index in open {
      guard operations[index].begin <= limit else { break }
      for next in places(after: place, index) where search(next) { return true }
    }
    return false
  }

  /// What may be after an operation is done; none if it cannot be done now.
  private func places(after place: Place, _ index: Int) -> [Place] {
    let operation = operations[index]
    var next = place
    next.isDone[index] = true
    guard var version = place.versions.last else { return [] }
    if operation.outcome == .lostPower {
      next.lostPower = operation.begin
      return place.versions.reversed().map { version in
        next.versions = [version]
        return next
      }
    }
    guard operation.outcome == .done || operation.begin > place.lostPower else { return [] }
    for (key, value) in operation.reads where version.values[key] != value { return [] }
    if operation.revision > 0 {
      let least = operation.writes.isEmpty ? version.revision : version.revision + 1
      guard operation.revision >= least else { return [] }
      version.revision = operation.revision
    } else if !operation.writes.isEmpty {
      version.revision += 1
    }
    for (key, value) in operation.writes { version.values[key] = value }
    // What is before the last durable version, or cannot be lost, is not needed.
    let isKept = operation.isDurable && operation.outcome == .done
    next.versions = isKept || operation.begin > lastPower ? [version] : place.versions + [version]
    if version == place.versions.last, !isKept { next.versions = place.versions }
    return [next]
  }
}

/// What an observer received, in this order.
struct Observed {
  var key: Int
  var isInitial = false
  var first: UInt64
  var last: UInt64
  var before: Int64
  var after: Int64
}

extension Judge {
  /// - Parameter final: the values at the end; nil if the observer did not live until then.
  /// - Returns: what is wrong; nil if nothing is.
  static func fault(of notices: [Observed], final: [Int64]?, keys: Int) -> String? {
    var known = Array(repeating: Int64(0), count: keys)
    var (first, last): (UInt64, UInt64) = (0, 0)
    for notice in notices {
      guard (first, last) == (notice.first, notice.last) || notice.first > last || notice.isInitial else {
        return "a notice of revisions \(notice.first) to \(notice.last) after \(last)"
      }
      (first, last) = (notice.first, notice.last)
      guard notice.isInitial || notice.before == known[notice.key] else {
        return "key \(notice.key) was \(known[notice.key]), and changes from \(notice.before) to \(notice.after)"
      }
      known[notice.key] = notice.after
    }
    guard let final, final != known else { return nil }
    return "an observer ends with \(known), the store with \(final)"
  }
}
