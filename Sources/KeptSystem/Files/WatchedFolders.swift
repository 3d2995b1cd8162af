// The folders that show a change to the watched files: the folder of each file, or its nearest existing ancestor.

import CPlatform

/// The folders that one inotify descriptor watches; used by one thread.
struct WatchedFolders {
  // The watch numbers of the descriptor.
  private var watches: [Int32] = []

  /// Watches the folders of these files and no others.
  ///
  /// If that fails, for lack of watches or of permission to read the folder, changes are found by checking the files.
  mutating func follow(_ paths: [String], events: Int32) {
    guard events >= 0 else { return }
    var wanted: [Int32] = []
    for path in paths {
      let watch = Self.watch(path, events)
      if watch >= 0 && !wanted.contains(watch) { wanted.append(watch) }
    }
    for watch in watches where !wanted.contains(watch) { kept_inotify_remove(events, watch) }
    watches = wanted
  }

  /// The number of the watch on the nearest folder; -1 if no folder can be watched.
  private static func watch(_ path: String, _ events: Int32) -> Int32 {
    var found = climb(path, events)
    // A folder may have been created between looking for it and watching its parent; then a nearer one exists.
    while !found.isNearest {
      let again = climb(path, events)
      if again.watch == found.watch { break }
      found = again
    }
    return found.watch
  }

  private static func climb(_ path: String, _ events: Int32) -> (watch: Int32, isNearest: Bool) {
    var folder = parent(of: path)
    var isNearest = true
    while let place = folder {
      let watch = kept_inotify_add(events, place, isNearest)
      if watch >= 0 { return (watch, isNearest) }
      switch kept_errno() {
      case ENOENT, ENOTDIR, EACCES, ELOOP: folder = parent(of: place)
      default: return (-1, true)
      }
      isNearest = false
    }
    return (-1, true)
  }

  private static func parent(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path == "." ? nil : "." }
    guard slash > path.startIndex else { return path == "/" ? nil : "/" }
    return String(path[..<slash])
  }
}
