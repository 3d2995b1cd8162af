// A moment of a store's past: `@17` (a revision), `@90m` (so long ago), or `@2026-11-24T10:00:00Z`.

import ArgumentParser
import Glibc
import Kept

enum Moment {
  case revision(Revision)
  case time(Timestamp)

  /// Reads a moment; nil for a word that does not begin with an at sign.
  init?(_ word: String) throws {
    guard word.begins(with: "@") else { return nil }
    let text = String(Substring(word.utf8.dropFirst()))
    if let revision = Revision(text) { self = .revision(revision) } else { self = .time(try Self.time(text)) }
  }

  private static func time(_ text: String) throws -> Timestamp {
    if let unit = text.last,
      let seconds = [("s" as Character, 1), ("m", 60), ("h", 3600), ("d", 86_400)]
        .first(where: { $0.0 == unit })?.1, let count = Int64(text.dropLast()), 0...1_000_000 ~= count
    {
      return try Timestamp(seconds: Int64(Glibc.time(nil)) - count * Int64(seconds))
    }
    // A day begins with its first second in UTC.
    if let time = try? Timestamp(text: text.utf8.count == 10 ? text + "T00:00:00Z" : text) { return time }
    throw ValidationError(
      "\(Excerpt.of("@" + text)) is no moment; give a revision (@17), a time ago (@90m, @2h, @3d), or a date such as "
        + "@2026-11-24T10:00:00Z")
  }

  /// The revision that the store had; throws if the history does not reach back to it.
  func revision(in history: History) throws(StoreError) -> Revision {
    let revision: Revision
    switch self {
    case .revision(let given): revision = given
    case .time(let time):
      let before = history.changes.first { $0.time <= time }
      revision = before?.revision ?? (history.completeAfter == 0 ? 0 : history.completeAfter - 1)
    }
    guard revision >= history.completeAfter else {
      throw StoreError(
        .absent, "the history of the store begins after revision \(history.completeAfter); see kept log")
    }
    return revision
  }
}

extension Contents {
  /// The stored values at a moment, as far as the history has kept them: it has none of secrets.
  ///
  /// - Parameter orFirst: whether a time before the history stands for its beginning, with a warning.
  static func of(_ location: String, at moment: Moment, orFirst: Bool = false) throws -> Contents {
    let settings = try StoreAccess.open(location)
    let snapshot = try settings.snapshot()
    let history = try settings.history()
    let revision: Revision
    do { revision = try moment.revision(in: history) } catch {
      guard orFirst, case .time = moment else { throw error }
      Failure.print(
        "the history of the store begins later, after revision \(history.completeAfter), and is shown from there")
      revision = history.completeAfter
    }
    guard revision <= snapshot.revision else {
      throw StoreError(.absent, "the store is at revision \(snapshot.revision), and \(revision) is later")
    }
    var contents = try Contents(snapshot)
    for change in history.changes where change.revision <= snapshot.revision && change.revision > revision {
      switch change.old {
      case .value(let value): contents.put(value, change.key)
      case .absent: contents.put(nil, change.key)
      case .secret, .notKept: contents.forget(change.key)
      }
    }
    return contents
  }
}

extension Timestamp {
  /// The time with three digits after the second, so that the columns of lines agree.
  var milliseconds: String {
    let parts = description.dropLast().parts(at: ".")
    let digits = parts.count > 1 ? parts[1].prefix(3) : ""
    return "\(parts[0]).\(digits)\(String(repeating: "0", count: 3 - digits.count))Z"
  }
}
