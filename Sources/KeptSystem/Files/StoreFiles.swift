/// The names of the files by which a folder is known to be a store's.
package enum StoreFiles {
  /// The checkpoint.
  package static let values = "values"
  package static let pulse = "pulse"
  /// What shows that a folder is a store's, be it a damaged one.
  package static let all = [values, pulse, "damaged", "migration", "quarantine"]
  /// The lock of a folder that keeps each key in its own file; each write creates it.
  package static let keyFilesLock = ".kept-lock"
}
