// A layer file that is watched and read whenever it changes, as a store does it.

import Foundation
import Testing

@testable import KeptCore

/// What a layer file was found to hold, last and before.
final class FollowedFile: Sendable {
  let path: String
  private let file: LayerFile
  // What each reading has given, in words.
  private let readings = Monitor<[String]>([])
  private let calls = Monitor(0)
  private let token = Monitor<FileWatch.Token?>(nil)

  /// - Parameter watch: one apart from the process's, for tests of its thread.
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

  /// How often it was told to have changed.
  var changes: Int { calls.read { $0 } }

  /// Waits until the last reading is this one.
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
