// Copies of a whole store: to a file, or to a folder that is itself a store.

import CPlatform
import KeptSystem
public import KeptValues

extension Store {
  /// Copies the store with declarations, revisions and secrets, as one consistent state, while others write.
  ///
  /// The copy is readable for its owner only, and on the disk when the call returns; the path never holds an incomplete
  /// copy. In C: `kept_backup`. In Python: `settings.backup(path)`.
  ///
  /// Throws `invalid` if the path exists already, `denied` or `noSpace`, with nothing left behind, and
  /// `unsupported` for a storage that cannot list its keys.
  /// - Parameters:
  ///   - path: a file; with a slash at its end, or as the path of an empty folder, a folder, which can then be
  ///     opened by its path.
  ///   - replacing: whether an existing regular file may be replaced, once the new one is complete.
  /// - Returns: the revision of the copy.
  @discardableResult
  public func backup(to path: String, replacing: Bool = false) throws(StoreError) -> Revision {
    let storage = try storage()
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.invalid, "the path of a backup must not be empty or contain a NUL")
    }
    let isFolder = path.ends(with: "/") || kept_is_folder(path) == 1
    let isNew = kept_is_folder(path) != 1
    do throws(StoreError) {
      let target = isFolder ? try Self.values(inFolder: path) : path
      let file = try FileTarget(target)
      BackupDraft.sweep(besideTargetIn: file.folder)
      return try BackupDraft.place(at: file, replacing: replacing && !isFolder) { draft throws(StoreError) in
        if let copyable = storage as? any CopyableStorage { return try copyable.copy(into: draft) }
        return try BackupDraft.fill(draft, from: storage)
      }
    } catch {
      if isFolder && isNew { rmdir(path) }
      throw error
    }
  }

  private static func values(inFolder path: String) throws(StoreError) -> String {
    if let parent = OpenFolder(holding: PathWalk.parent(of: path)) {
      try FileTarget.checkNotInStore(path, parent)
    }
    let folder = try StoreFolder(preparing: path)
    guard FileStatus(of: folder.values) == nil else {
      throw StoreError(.invalid, "\(path) already contains a store; use another folder")
    }
    guard try FolderListing.names(in: folder.path).allSatisfy({ $0 == "." || $0 == ".." }) else {
      throw StoreError(.invalid, "\(path) is not empty; use an empty folder, or name a file in this one")
    }
    return folder.values
  }
}
