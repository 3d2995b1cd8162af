// The files that this process has open through SQLite, and those that it reads outside SQLite: the two sets never
// overlap. POSIX releases all locks that a process has on a file when it closes any descriptor of it, so another
// process could then write while this one reads.

import CPlatform
package import KeptValues

package enum FilesInUse {
  /// A database that is open.
  private struct Database {
    let path: String
    // The database and the files next to it, as they were when it was opened.
    let identities: [FileIdentity]
  }
  private struct Reading {
    var count: Int
    // The fork count when the read began: in a child its thread no longer exists, and its descriptor is never closed.
    let forks: UInt64
  }
  private struct State {
    var databases: [Int: Database] = [:]
    var lastNumber = 0
    var readings: [FileIdentity: Reading] = [:]

    func isRead(_ file: FileIdentity) -> Bool { readings[file]?.forks == Fork.gate.forks }

    func isInTheWay(of identities: [FileIdentity]) -> Bool {
      !readings.isEmpty && identities.contains(where: isRead)
    }
  }
  private static let state = Monitor(State())
  /// How long to wait for SQLite to close a removed database, which takes microseconds.
  private static let closingMilliseconds: Int64 = 500

  /// Initializes the state early (EagerInitialization).
  package static func prepare() { state.read { _ in } }

  // MARK: - Databases

  /// Registers a database that SQLite is about to open; waits for readers of its files.
  ///
  /// - Parameter path: the database's path, without symbolic links.
  /// - Returns: a number for ``leave(_:)``.
  package static func enter(
    _ path: String, _ identities: [FileIdentity], waiting milliseconds: Int
  ) throws(StoreError) -> Int {
    let number: Int? = state.wait(milliseconds: Int64(milliseconds)) { state in
      guard !state.isInTheWay(of: identities) else { return nil }
      state.lastNumber += 1
      state.databases[state.lastNumber] = Database(path: path, identities: identities)
      return state.lastNumber
    }
    if let number { return number }
    throw StoreError(.busy, "\(shown: path) is being read as an ordinary file by this program; try again")
  }

  /// Removes a database that SQLite has closed.
  package static func leave(_ number: Int) { state.update { $0.databases[number] = nil } }

  // MARK: - Other files

  /// Registers a file that is about to be opened outside SQLite; throws `invalid` if it belongs to an open store.
  ///
  /// Each call that returns needs an ``endReading(_:)`` after the file was closed.
  package static func beginReading(_ file: FileIdentity, _ path: String) throws(StoreError) {
    // Registered first: a thread that opens its store from now on waits, and a store that is already open is found.
    state.updateQuietly { state in
      let count = state.isRead(file) ? state.readings[file]?.count ?? 0 : 0
      state.readings[file] = Reading(count: count + 1, forks: Fork.gate.forks)
    }
    do throws(StoreError) { try checkForeign(file, path) } catch {
      endReading(file)
      throw error
    }
  }

  static func endReading(_ file: FileIdentity) {
    state.update { state in
      guard state.isRead(file), let reading = state.readings[file] else { return }
      state.readings[file] = reading.count > 1 ? Reading(count: reading.count - 1, forks: reading.forks) : nil
    }
  }

  /// Throws `invalid` if a file belongs to a store that this process has open.
  static func checkForeign(_ file: FileIdentity, _ path: String) throws(StoreError) {
    guard let database = database(with: file) else { return }
    // SQLite may be closing a database that was removed, and a new file may have reused its inode number.
    if !([database] + names(of: database)).contains(where: { FileStatus(of: $0)?.identity == file }) {
      let isOpen = state.wait(milliseconds: closingMilliseconds) { state in
        state.databases.values.contains { $0.identities.contains(file) } ? nil : false
      }
      if isOpen == false { return }
    }
    throw StoreError(
      .invalid,
      "\(shown: path) belongs to the store \(shown: database), which is open in this program; use another file")
  }

  /// The path of the open database that a file belongs to.
  package static func database(with file: FileIdentity) -> String? {
    var paths: [String] = []
    let open = state.read { state in Array(state.databases.values) }
    for database in open {
      if database.identities.contains(file) { return database.path }
      if !paths.contains(database.path) { paths.append(database.path) }
    }
    return paths.first { path in names(of: path).contains { FileStatus(of: $0)?.identity == file } }
  }

  /// The files that belong to a database.
  private static func names(of path: String) -> [String] {
    let siblings = DatabaseFiles.suffixes.map { path + $0 }
    guard path.ends(with: StoreFiles.database) else { return siblings }
    let folder = String(Substring(path.utf8.dropLast(StoreFiles.database.utf8.count)))
    return siblings + StoreFiles.others.map { folder + $0 }
  }
}
