// Lists the folder of a DirectoryStorage, and the folders that its long keys need.

import CPlatform
import KeptSystem
import KeptValues

enum FolderListing {
  /// Visits the paths, relative to the folder, of all files whose names may belong to keys; in no order.
  static func visit(_ folder: String, _ file: (String) -> Void) throws(StoreError) {
    // The folders that remain to be listed; others may have created folders of any depth.
    var due = [(below: "", depth: 0)]
    while let (below, depth) = due.popLast() {
      for name in try names(in: below.isEmpty ? folder : "\(folder)/\(below)") where !name.begins(with: ".") {
        if name.ends(with: KeyFileName.ending) {
          file(below + name)
        } else if depth < KeyFileName.mostPieces, KeyFileName.isPiece(name), isFolder("\(folder)/\(below)\(name)") {
          due.append((below + name + "/", depth + 1))
        }
      }
    }
  }

  static func names(in folder: String) throws(StoreError) -> [String] {
    guard let listing = opendir(folder) else { throw .system("list", folder) }
    defer { closedir(listing) }
    var names: [String] = []
    while let name = kept_next_name(listing) {
      // A name that is not UTF-8 does not belong to a key.
      if let name = String(validatingCString: name) { names.append(name) }
    }
    guard kept_errno() == 0 else { throw .system("list", folder) }
    return names
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR)
  }
}

extension FileStamp {
  /// The combined stamp of all key files in a folder.
  init(ofFolder path: String) {
    var all = FileStamp(of: path)
    do throws(StoreError) {
      try FolderListing.visit(path) { file in all.add(FileStamp(of: "\(path)/\(file)"), named: file) }
      self = all
    } catch {
      self = FileStamp(of: path)
    }
  }
}
