// The folder of a storage on the engine: where it is, copies of it, and damage in it.

import CPlatform
import KeptEngine
@testable import KeptCore
import KeptSystem
import KeptValues

extension EngineStorage: FolderStorage {
  // Held when it is first needed: the engine itself opens no file by its path.
  var folder: StoreFolder {
    get throws(StoreError) {
      try held.updateQuietly { held throws(StoreError) in
        if let held { return held }
        let folder = try StoreFolder(try engine.holdFolder(), on: fileSystem)
        held = folder
        return folder
      }
    }
  }

  func checkPlace() {
    if (try? engine.checkPlace()) == nil { engine.wake() }
  }

  func copy(into draft: String) throws(StoreError) -> Revision {
    try Backup.write(engine, to: StoreFile.emptyFile(draft))
  }
}

extension EngineStorage: VerifiableStorage {
  /// No process reads the store in a way that others notice.
  func readingProcesses() -> [Int32] { [] }

  func damage() throws(StoreError) -> StoreError? { try engine.damage() }
}

extension StoreFile {
  /// Opens an empty file of this user.
  static func emptyFile(_ path: String) throws(StoreError) -> StoreFile {
    guard let folder = OpenFolder(holding: PathWalk.parent(of: path)),
      let file = try folder.open(PathWalk.name(of: path), O_RDWR)
    else { throw .system("open", path) }
    return StoreFile(taking: file, path: path)
  }
}
