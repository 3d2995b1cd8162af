// The older copies of a store that have its secrets as they were before they were encrypted.

import KeptEngine
import KeptSchema
import KeptSecrets
import KeptSystem
public import KeptValues

extension Store {
  /// The older copies of an encrypted store that have secrets in plain, or may have them.
  ///
  /// These are backups before a migration or a restore, damaged files in the quarantine, and the file that `kept mark`
  /// writes, including copies from before a key was declared secret. Encrypting secrets leaves them as they are: remove
  /// them, or replace the secrets. Backups elsewhere are not found.
  public func plainCopies() throws(StoreError) -> [String] {
    let storage = try storage()
    guard let folder = try (storage as? any FolderStorage)?.folder,
      let document = try (storage as? any SecretStorage)?.secrets.document(), !document.isPlain,
      let since = document.keys.first(where: \.isCurrent)?.created.nanosecondsSince1970
    else { return [] }
    var secrets: Set<KeyName> = []
    for (key, declaration) in try storage.declarations(prefix: "") where declaration.isSecret { secrets.insert(key) }
    func hasPlain(_ path: String, _ status: FileStatus) -> Bool {
      var isPlain = false
      do throws(StoreError) {
        _ = try KeptEngine.Backup.read(BackupFile.open(path)) { key, state in
          if state.isSecret || secrets.contains(key), !state.isSealed, state.value != nil { isPlain = true }
        }
        return isPlain
      } catch { return isPlain || status.modified < since }
    }
    var found: [String] = []
    func look(in name: String, _ files: borrowing OpenFolder) throws(StoreError) {
      for file in try files.names() where file != "." && file != ".." {
        let path = name + "/" + file
        if let inner = files.enter(file) {
          try look(in: path, inner)
        } else if let status = files.status(of: file), hasPlain(folder.path + path, status) {
          found.append(folder.shown + path)
        }
      }
    }
    for name in ["backups", "quarantine"] {
      if let files = OpenFolder(holding: folder.path)?.enter(name) { try look(in: "/" + name, files) }
    }
    if let status = FileStatus(of: folder.path + ".good"), hasPlain(folder.path + ".good", status) {
      found.append(folder.shown + ".good")
    }
    return found.inOrder { ExactString($0) }
  }
}
