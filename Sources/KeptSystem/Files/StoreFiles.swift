/// The names of the files by which a folder is known to be a store's.
package enum StoreFiles {
  package static let database = "values.sqlite"
  /// The newest commits.
  package static let journal = "journal"
  /// The files that a store may have next to its database.
  static let others = [journal, "pulse", "damaged", "migration", "salvaged.sqlite"]
  /// What shows that a folder is a store's, be it a damaged one.
  package static let all = [database, "quarantine"] + others
  /// The lock of a folder that keeps each key in its own file; each write creates it.
  package static let keyFilesLock = ".kept-lock"
}
