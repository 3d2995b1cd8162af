// What a command prints of many times.

import Foundation

/// A flat object of JSON.
struct Answer {
  private(set) var members: [String: Double] = [:]

  subscript(name: String) -> Double? {
    get { members[name] }
    set { members[name] = newValue }
  }

  /// Adds the median, the 99th percentile and the longest, in milliseconds.
  mutating func add(_ name: String, _ times: [Duration]) {
    let sorted = times.sorted()
    guard let last = sorted.last else { return }
    members["\(name) p50"] = sorted[(sorted.count - 1) / 2].milliseconds
    members["\(name) p99"] = sorted[(sorted.count - 1) * 99 / 100].milliseconds
    members["\(name) last"] = last.milliseconds
  }

  var json: String {
    let rounded = members.mapValues { ($0 * 1000).rounded() / 1000 }
    guard let data = try? JSONEncoder().encode(rounded) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}

extension Duration {
  var milliseconds: Double { self / .milliseconds(1) }
}
