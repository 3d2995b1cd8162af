// What a child process does with layer files: reads them as another user, and watches them.

import Foundation
import KeptCore
import KeptSystem
import KeptValues

enum Watching {
  /// The number of values in a layer file, or the error.
  static func read(_ path: String) -> String {
    switch LayerFile(path: path, layer: .managed).read(since: nil) {
    case .unchanged: "unchanged"
    case .read(let contents, _): "\(contents.values.count) values"
    case .absent: "absent"
    case .failed(let error): error.description
    }
  }

  private static let changed = DispatchSemaphore(value: 0)

  /// Begins to watch a file until the process ends.
  static func begin(_ path: String) -> String {
    _ = FileWatch.begin(path) { changed.signal() }
    return "ok"
  }

  /// Waits until the file has changed.
  static func awaitChange() -> String { changed.wait(timeout: .now() + 30) == .success ? "changed" : "no change" }

  /// Prevents the process from opening more files.
  static func useUpDescriptors() -> String {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 3
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return open("/dev/null", O_RDONLY) < 0 ? "ok" : "there are more"
  }
}
