// The changes that a batch makes, and their frame.

import KeptEngine
import KeptSchema
import KeptSystem
import KeptValues

extension LocalStorage {
  /// The changes that a batch makes, in the order of the keys.
  func changes(by batch: Batch, _ chain: Chain) throws(StoreError) -> [StoredChange] {
    let revision = chain.revision + 1
    var changes: [StoredChange] = []
    for key in batch.keys {
      let known = readers.known(key, chain)
      if let change = try batch.change(of: key, by: batch.edits[key], chain, at: revision, known: known, secrets) {
        changes.append(change)
      }
    }
    return changes
  }

  /// Adds the frame of changes, unless there are none.
  func add(
    _ changes: [StoredChange], by batch: Batch, to frames: FrameWriter, _ chain: Chain
  ) throws(StoreError) -> Commit {
    try frames.add(changes, by: batch, chain, engine.author, time: now(), secrets)
  }
}

extension Batch {
  /// The change that the batch makes of a key; nil if it makes none.
  ///
  /// - Parameter known: the entry of the key; nil if it must be read.
  func change(
    of key: KeyName, by edit: Edit?, _ chain: Chain, at revision: Revision, known: Entry?? = nil,
    _ secrets: StoreSecrets
  ) throws(StoreError) -> StoredChange? {
    do throws(StoreError) {
      let entry = if let known { known } else { Entry(try chain.state(of: key)) }
      var found = try change(of: key, by: edit, from: entry, at: revision)
      // A value that becomes a secret is stored again, sealed for this revision.
      if let change = found, change.new.value != nil, !change.isOfValue, change.new.declaration?.isSecret == true,
        change.old?.declaration?.isSecret != true, try secrets.areEncrypted()
      {
        found?.new.revision = revision
      }
      return found
    } catch {
      // Declaring a key with a damaged value would make it look absent. A secret that is locked stays sealed.
      guard error.isOfValue, edit != nil || error.code != .corrupt else { throw error }
    }
    // Any edit replaces an unreadable value, and may remove it.
    let old = Entry(try chain.stateToReplace(of: key))
    if edit == nil { return try change(of: key, by: nil, from: old, at: revision) }
    var change =
      try change(of: key, by: edit, from: old, at: revision)
      ?? StoredChange(key: key, old: old, new: Entry(value: nil, revision: revision, declaration: old?.declaration))
    change.new.revision = revision
    return change
  }
}

extension FrameWriter {
  /// Adds the frame of changes that a batch makes after a chain, unless there are none.
  func add(
    _ changes: [StoredChange], by batch: Batch, _ chain: Chain, _ writer: UInt64, time: Int64, _ secrets: StoreSecrets
  ) throws(StoreError) -> Commit {
    let version = batch.schemaVersion.flatMap { $0 == chain.schemaVersion ? nil : $0 }
    let commit = Commit(
      revision: changes.isEmpty ? chain.revision : chain.revision + 1, changes: changes,
      time: changes.isEmpty ? nil : Timestamp(nanosecondsSince1970: time))
    guard !changes.isEmpty || version != nil else { return commit }
    try begin(
      FrameHead(
        writer: writer, revision: commit.revision, time: time, tag: batch.author.tag,
        erases: changes.contains(where: \.erases)), notesEdits: !batch.isAdmittedAsItIs)
    for change in changes { try add(change, secrets) }
    if let version { try add(schemaVersion: version) }
    try add(batch.lists(after: chain.lists, redeclares: changes.contains(where: \.redeclares)), after: chain.lists)
    try end()
    return commit
  }

  /// Adds the lists that are declared, if they are others than before.
  func add(_ lists: [DeclaredList], after known: [DeclaredList]) throws(StoreError) {
    if lists != known { try add(lists) }
  }

  func add(_ change: StoredChange, _ secrets: StoreSecrets) throws(StoreError) {
    if change.new.declaration != change.old?.declaration {
      if let declaration = change.new.declaration {
        try add(.declared, ExactString(declaration.json), for: change.key)
      } else {
        try add(.undeclared, for: change.key)
      }
    }
    guard change.isOfValue else { return }
    if let value = change.new.value {
      if change.new.declaration?.isSecret == true, let sealed = try change.sealed(value, secrets) {
        try add(sealed: sealed, for: change.key)
      } else {
        try add(value, for: change.key)
      }
    } else {
      try add(.removed, for: change.key)
    }
  }
}

extension StoredChange {
  fileprivate func sealed(_ value: Value, _ secrets: StoreSecrets) throws(StoreError) -> [UInt8]? {
    do throws(StoreError) {
      // A damaged store need not have had secrets.
      if new.declaration == .lost, try secrets.areUndecided() { return nil }
      return try secrets.seal(value, of: key, at: new.revision)
    } catch {
      throw error.about(key.text)
    }
  }

  /// Whether it changes or removes a declaration that was there.
  var redeclares: Bool { old?.declaration != nil && new.declaration != old?.declaration }
}

extension Batch {
  /// The lists that the store has declared after a commit.
  ///
  /// - Parameter redeclares: whether it changes or removes a declaration that was there.
  func lists(after known: [DeclaredList], redeclares: Bool) -> [DeclaredList] {
    let kept = redeclares || isAdmittedAsItIs ? [] : known
    guard let list else { return kept }
    return kept.filter { $0 != list }.suffix(DeclaredList.most - 1) + [list]
  }
}
