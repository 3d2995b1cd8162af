/// The names of the files by which a folder is known to be a store's.
enum StoreFiles {
  static let database = "values.sqlite"
  /// The newest commits.
  static let journal = "journal"
  /// The lock of a folder that keeps each key in its own file; each write creates it.
  static let keyFilesLock = ".kept-lock"
}
