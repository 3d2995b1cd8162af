// A layer file that is watched and read whenever it changes, as in a store.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

/// The contents of a layer file at the last read and at those before.
final class FollowedFile: Sendable {
  let path: String
  private let file: LayerFile
  // The result of each read, as text.
  private let readings = Monitor<[String]>([])
  private let calls = Monitor(0)
  private let token = Monitor<FileWatch.Token?>(nil)

  /// - Parameter watch: an own watch, for tests of its thread; the process's by default.
  init(_ path: String, by watch: FileWatch = .ofThisProcess) {
    self.path = path
    file = LayerFile(path: path, layer: .managed)
    let begun = watch.begin(path) { [self] in
      calls.update { $0 += 1 }
      read()
    }
    token.update { $0 = begun }
    read()
  }

  /// The number of change notifications.
  var changes: Int { calls.read { $0 } }

  /// Waits until the last read has this result.
  func becomes(_ words: String) -> Bool {
    readings.wait(milliseconds: 30_000) { $0.last == words ? true : nil } ?? false
  }

  var last: String { readings.read { $0.last ?? "nothing" } }

  func end() { token.read { $0 }?.end() }

  private func read() {
    readings.update { readings in
      switch file.read(since: nil) {
      case .unchanged: readings.append("unchanged")
      case .read(let contents, _): readings.append(contents.values.map { "\($0) = \($1)" }.joined(separator: ", "))
      case .absent: readings.append("absent")
      case .failed(let error): readings.append("\(error.code)")
      }
    }
  }
}
