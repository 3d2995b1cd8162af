// In which folders a change to some files would show: that of each file, or the nearest one above it that exists.

import CPlatform

/// The folders that one inotify descriptor hears of; used by one thread.
struct WatchedFolders {
  // The numbers of the watches that the descriptor has.
  private var watches: [Int32] = []

  /// Lets the descriptor hear of these files and of no others.
  ///
  /// Where that fails, for want of watches or of a right to read the folder, changes are found by looking.
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

  /// The number of the watch on the nearest folder; -1 where nothing can be watched.
  private static func watch(_ path: String, _ events: Int32) -> Int32 {
    var found = climb(path, events)
    // A folder may have come between looking for it and watching the one above it: then there is a nearer one.
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
