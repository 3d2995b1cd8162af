// Checking the files of a store, or of a backup, without opening it.

import KeptEngine
import KeptSystem
public import KeptValues

extension StorePlace {
  /// Checks every block, record, commit and past change in the files of a store, or in a backup.
  ///
  /// The store is not opened: nothing is created, locked or changed. So it may be in use, a copy, or on a medium that
  /// cannot be written. Each finding is damage, with the file and the place, the names of the keys as far as they can
  /// be read, and the remedy; there are at most 1,000.
  /// In C: `kept_verify_files_json`. In Python: `kept.verify_files(location)`.
  ///
  /// Throws `unavailable` if there is no store, or a file cannot be read; `denied` if other users may write the files;
  /// `unsupported` for a location without such files, and for a file that is not a backup; and `busy` if others replace
  /// the files again and again.
  public func verifyFiles() throws(StoreError) -> [Finding] {
    guard let folder, try Location(location).scheme == .folder else {
      throw StoreError(.unsupported, "\(location) has no files with checksums; examine it with kept doctor")
    }
    let (found, remedy): ([KeptEngine.Finding], String)
    if state == .file {
      found = try KeptEngine.Verification.findings(inBackup: BackupFile.open(folder), name: folder)
      remedy = "use another backup"
    } else {
      guard let held = OpenFolder(holding: folder) else { throw .system("open the folder", folder) }
      try Trust.check(sharedFolder: try held.status(), folder)
      found = try KeptEngine.Verification.findings(in: held)
      remedy =
        "end the programs that use the store, and salvage the readable data with kept doctor "
        + ShellWords.text([location]) + " --repair"
    }
    return found.map { $0.finding(remedy: remedy) }
  }
}

extension KeptEngine.Finding {
  fileprivate func finding(remedy: String) -> Finding {
    let what = keys.isEmpty ? description : "\(description); it concerns \(keys.shown)"
    return Finding(.damage, what, remedy: remedy, key: keys.count == 1 ? keys.first?.text : nil)
  }
}
