// Edits of a database by programs that do not use Kept.

import CPlatform
import CSQLite
import Foundation

/// Runs a statement in the sqlite3 shell, and then gives every page a right checksum.
@discardableResult
func shell(_ database: String, _ statement: String) throws -> String {
  let shown = try run("/usr/bin/sqlite3", database, statement)
  try sealPages(of: database)
  return shown
}

/// Gives every page of a closed database a right checksum, and the salt of the first one.
func sealPages(of database: String) throws {
  let url = URL(fileURLWithPath: database)
  try sealed(Data(contentsOf: url)).write(to: url)
}

/// Returns the bytes of a database with right checksums.
func sealed(_ database: Data) -> Data {
  var bytes = [UInt8](database)
  let size = bytes.count < 100 ? 0 : Int(kept_checked_page_size(bytes))
  guard size > 0 else { return database }
  let salt = kept_page_salt(bytes, UInt32(size))
  bytes.withUnsafeMutableBytes { bytes in
    for page in 0..<bytes.count / size {
      kept_seal_page(bytes.baseAddress.map { $0 + page * size }, UInt32(size), UInt32(page + 1), salt)
    }
  }
  return Data(bytes)
}
