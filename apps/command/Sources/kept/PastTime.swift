// A time in a store's past: `@17` (a revision), `@90m` (an age), or `@2026-11-24T10:00:00Z`.

import ArgumentParser
import Glibc
import Kept

enum PastTime {
  case revision(Revision)
  case time(Timestamp)

  /// Reads a time; nil for a word that does not begin with an at sign.
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
    if let time = (try? Timestamp(text: text)) ?? Timestamp(local: text) ?? Timestamp(day: text) { return time }
    throw ValidationError(
      "\(Excerpt.of("@" + text)) is not a valid time; use a revision (@17), an age (@90m, @2h, @3d), or a date "
        + "such as @2026-11-24T10:00:00Z")
  }

  /// The revision that the store had; for a time, the last one before that the history has.
  ///
  /// - Returns: nil for a time before the history.
  func revision(in history: History) -> Revision? {
    switch self {
    case .revision(let revision): return revision
    case .time(let time):
      let before = history.changes.first { $0.time <= time }
      guard let revision = before?.revision ?? (history.completeAfter == 0 ? 0 : nil) else { return nil }
      return history.missing.first { $0.contains(revision) }.map { $0.lowerBound - 1 } ?? revision
    }
  }
}

/// A store at a time in its past.
struct Past {
  let history: History
  /// The stored values, as far as the history has kept them: it has none of secrets.
  let snapshot: Snapshot
  /// Whether the time is before the history; the beginning of the history is read then.
  let isEarlier: Bool

  /// Reads a store at a time.
  ///
  /// Throws `unavailable` if the history does not have it: `absent` is for keys without a value.
  ///
  /// - Parameter orFirst: whether to read the beginning of the history for an earlier time, with a warning.
  init(_ location: String, at time: PastTime, orFirst: Bool = false) throws {
    let settings = try StoreAccess.open(location)
    history = try settings.history()
    let revision = time.revision(in: history)
    isEarlier = revision == nil
    let begin = "the history of the store begins later, after revision \(history.completeAfter)"
    if isEarlier {
      guard orFirst else { throw StoreError(.unavailable, "\(begin); see kept log") }
      Failure.print("\(begin), and is shown from there")
    }
    do throws(StoreError) { snapshot = try settings.snapshot(at: revision ?? history.completeAfter) } catch {
      guard error.code == .absent else { throw error }
      throw StoreError(.unavailable, key: error.key, error.message)
    }
  }
}

extension Timestamp {
  /// The time in the time zone of the user, such as `2026-11-24T11:00:00.000+01:00`, with three digits after the
  /// second, so that the columns of lines agree.
  var local: String {
    var (time, parts) = (time_t(seconds), tm())
    // Offsets of more than a century ago have seconds, which the text cannot have.
    let offset = localtime_r(&time, &parts) == nil ? 0 : Int64(parts.tm_gmtoff) / 60 * 60
    guard offset != 0, let shifted = try? Timestamp(seconds: seconds + offset, nanoseconds: nanoseconds) else {
      return withMilliseconds + "Z"
    }
    let minutes = abs(offset) / 60
    let digits = [minutes / 60, minutes % 60].map { "\($0 / 10)\($0 % 10)" }
    return shifted.withMilliseconds + (offset < 0 ? "-" : "+") + digits.joined(separator: ":")
  }

  /// Reads a day, which begins at midnight in the time zone of the user; nil for any other text.
  fileprivate init?(day text: String) {
    guard let midnight = try? Timestamp(text: text + "T00:00:00Z") else { return nil }
    var (time, parts) = (time_t(midnight.seconds), tm())
    gmtime_r(&time, &parts)
    // Whether that is in summer time.
    parts.tm_isdst = -1
    guard let local = try? Timestamp(seconds: Int64(mktime(&parts))) else { return nil }
    self = local
  }

  private var withMilliseconds: String {
    let parts = description.dropLast().parts(at: ".")
    let digits = parts.count > 1 ? parts[1].prefix(3) : ""
    return "\(parts[0]).\(digits)\(String(repeating: "0", count: 3 - digits.count))"
  }

  /// Reads a time with an offset from UTC, as ``local`` writes it; nil for any other text.
  fileprivate init?(local text: String) {
    guard let sign = text.utf8.dropLast(5).last, "+-".utf8.contains(sign) else { return nil }
    // The offset is itself a time of the first day.
    guard let time = try? Timestamp(text: String(Substring(text.utf8.dropLast(6))) + "Z"),
      let offset = try? Timestamp(text: "1970-01-01T\(Substring(text.utf8.suffix(5))):00Z").seconds,
      let utc = try? Timestamp(
        seconds: time.seconds - (sign == UInt8(ascii: "-") ? -offset : offset), nanoseconds: time.nanoseconds)
    else { return nil }
    self = utc
  }
}
