// The folder of a store: where it is, copies of it, and damage in it.

import CPlatform
import KeptEngine
import KeptSecrets
import KeptSystem
import KeptValues

extension LocalStorage: FolderStorage {
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

  func copy(into draft: StoreFile) throws(StoreError) -> Revision {
    while true {
      let document = try secrets.document()
      let revision = try Backup.write(engine, to: draft) { () throws(StoreError) in
        try secrets.document() == document ? document?.ofBackup.json ?? "" : nil
      }
      if let revision { return revision }
    }
  }
}

extension LocalStorage: VerifiableStorage {
  func damage() throws(StoreError) -> StoreError? { try engine.damage() }
}
