// Ranges of keys, read in pages: how many keys an answer has follows from how large the answers are.

internal import GRPCCore
internal import SwiftProtobuf

internal import struct FoundationEssentials.Data

struct Pages {
  /// What is left of the ranges; a range that an answer has begun goes on behind the last key of that.
  private var rest: [(range: KeyRange, isBegun: Bool)]
  private let oldest: Int64
  private let keysOnly: Bool
  /// Nil until the first answer, if the present is read.
  private var revision: Int64?
  /// Whether a majority confirms the next answer.
  var isConfirmed: Bool
  private var cluster: UInt64 = 0
  private var items: [Item] = []
  private var strange: [String] = []
  private static let mostStrange = 20
  private var count: Int64 = 0
  /// How many ranges the next request has, and how many keys of each.
  private var width: Int
  private var limit: Int64 = 128
  /// What an answer should have: far less than it may, for values differ.
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
            ($0.serializable, $0.keysOnly, $0.minModRevision) = (!isConfirmed, keysOnly, oldest)
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
        if let item = Item(stored) {
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
    if keys > 0 { limit = Int64(max(1, Self.aim / max(1, bytes / keys) / max(1, width))) }
  }

  /// Makes the next request smaller, as its answer was too large; returns false if it cannot be smaller.
  mutating func askForLess() -> Bool {
    guard width > 1 || limit > 1 else { return false }
    if width > 1 { width = 1 } else { limit = max(1, limit / 4) }
    return true
  }

  /// Where the next request begins, for a message.
  var place: String { rest.first.map { String(decoding: $0.range.first, as: UTF8.self) } ?? "" }

  var reading: Reading {
    Reading(
      cluster: cluster, revision: revision ?? 0, items: items, strange: strange, count: Int(clamping: count))
  }

  /// A key that is not UTF-8, as a shell takes it between $' and '.
  private static func shown(_ key: Data) -> String {
    let bytes = key.prefix(200).map { byte -> String in
      let isPlain = 0x20...0x7E ~= byte && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "'")
      if isPlain { return String(UnicodeScalar(byte)) }
      return "\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
    }
    return bytes.joined() + (key.count > 200 ? "… (\(key.count) bytes)" : "")
  }
}
