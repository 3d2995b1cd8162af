// Reads ranges of keys in pages. The number of keys per page adapts to the size of the answers.

internal import GRPCCore
internal import SwiftProtobuf

internal import struct FoundationEssentials.Data

struct Pages {
  /// The ranges still to be read; a range that was read in part continues after its last key.
  private var rest: [(range: KeyRange, isBegun: Bool)]
  private let oldest: Int64
  private let keysOnly: Bool
  /// Whether the next request is for one key without its value, which is too large.
  private var leavesValueOut = false
  /// Nil until the first answer if the current revision is read.
  private var revision: Int64?
  /// Whether a majority confirms the next answer.
  var isConfirmed: Bool
  private var cluster: UInt64 = 0
  private var items: [Item] = []
  private var strange: [String] = []
  private static let mostStrange = 20
  private var count: Int64 = 0
  /// The number of ranges in the next request, and of keys of each range.
  private var width: Int
  private var limit: Int64 = 128
  /// The intended size of an answer, far below the maximum because values differ in size.
  private static let aim = CallOptions.largestAnswer / 4

  init(_ ranges: [KeyRange], at revision: Int64?, changedFrom oldest: Int64, keysOnly: Bool) {
    rest = ranges.map { ($0, false) }
    (self.revision, self.oldest, self.keysOnly) = (revision, oldest, keysOnly)
    (isConfirmed, width) = (revision == nil, min(ranges.count, Session.mostOperations))
  }

  /// The next request; nil if everything was read.
  var next: Etcdserverpb_TxnRequest? {
    guard !rest.isEmpty else { return nil }
    return .with {
      $0.success = rest.prefix(width).map { range, _ in
        .with {
          $0.requestRange = .with {
            ($0.key, $0.rangeEnd) = (range.first, range.end)
            ($0.revision, $0.limit) = (revision ?? 0, limit)
            ($0.serializable, $0.minModRevision) = (!isConfirmed, oldest)
            $0.keysOnly = keysOnly || leavesValueOut
          }
        }
      }
    }
  }

  mutating func take(_ response: Etcdserverpb_TxnResponse) {
    (cluster, isConfirmed) = (response.header.clusterID, false)
    revision = revision ?? response.header.revision
    let asked = rest.prefix(response.responses.count)
    rest.removeFirst(asked.count)
    var (bytes, keys) = (0, 0)
    for ((range, isBegun), answer) in zip(asked, response.responses.map(\.responseRange)).reversed() {
      for stored in answer.kvs {
        if let item = Item(stored, isTooLarge: leavesValueOut) {
          items.append(item)
        } else if strange.count < Self.mostStrange {
          strange.append(Self.shown(stored.key))
        }
      }
      bytes += answer.kvs.reduce(0) { $0 + $1.key.count + $1.value.count + 32 }
      keys += answer.kvs.count
      if !isBegun { count = count.addingClamped(answer.count) }
      if answer.more, let last = answer.kvs.last { rest.insert((range.after(last.key), true), at: 0) }
    }
    if keys > 0, !leavesValueOut { limit = Int64(max(1, Self.aim / max(1, bytes / keys) / max(1, width))) }
    leavesValueOut = false
  }

  /// Makes the next request smaller after an answer that was too large; returns false if it cannot be smaller.
  mutating func askForLess() -> Bool {
    if width > 1 {
      width = 1
    } else if limit > 1 {
      limit = max(1, limit / 4)
    } else {
      guard !leavesValueOut else { return false }
      leavesValueOut = true
    }
    return true
  }

  var reading: Reading {
    Reading(
      cluster: cluster, revision: revision ?? 0, items: items, strange: strange, count: Int(clamping: count))
  }

  /// A key that is not UTF-8, as it can be given to a shell between $' and '.
  private static func shown(_ key: Data) -> String {
    let bytes = key.prefix(200).map { byte -> String in
      let isPlain = 0x20...0x7E ~= byte && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "'")
      if isPlain { return String(UnicodeScalar(byte)) }
      return "\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
    }
    return bytes.joined() + (key.count > 200 ? "… (\(key.count) bytes)" : "")
  }
}
