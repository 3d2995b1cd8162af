// The names of files in the folder of a store.

import CPlatform
import KeptValues

/// The names of the files that identify the folder of a store, and of drafts.
package enum StoreFiles {
  /// The checkpoint.
  package static let values = "values"
  package static let pulse = "pulse"
  /// What shows that a folder is a store's, be it a damaged one.
  package static let all = [values, pulse, "damaged", "migration", "quarantine"]
  /// The lock of a folder that keeps each key in its own file; each write creates it.
  package static let keyFilesLock = ".kept-lock"

  private static let draftPrefix = ".new-"

  package static func isDraft(_ name: String) -> Bool { name.begins(with: draftPrefix) }

  /// Returns a unique name for a file that is completed before it gets its final name.
  package static func draftName() -> String { "\(draftPrefix)\(getpid())-\(UInt32.random(in: 0 ... .max))" }
}
