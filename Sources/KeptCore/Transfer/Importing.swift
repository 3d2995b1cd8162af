// Imports the content of a text into a store: all of it in one commit, against the state that it was compared with, or
// nothing.

import KeptSchema
import KeptSecrets
import KeptValues

/// How the content of a text is imported.
struct ImportRules: Sendable {
  /// Whether keys with the prefix that are not in the text are removed.
  let replaces: Bool
  /// Whether nothing is changed, and the report describes what would change.
  let isDryRun: Bool
  /// Whether the declarations in the text are imported, too.
  let includesDeclarations: Bool
  /// Whether secrets that the text has encrypted may become plain.
  var leavesSecretsPlain = false
  let progress: TransferProgress?
}

extension Store {
  /// Imports what a reader finds in a text: all of it in one commit, or nothing.
  func `import`(
    _ rules: ImportRules, read: () throws(StoreError) -> Incoming
  ) throws(StoreError) -> ImportReport {
    guard try storage().abilities.isSuperset(of: [.atomicBatch, .revisions, .listsKeys]) else {
      throw StoreError(
        .unsupported,
        "this storage cannot list its keys, or cannot change several at once; import into a store in a folder")
    }
    let incoming = try read()
    if rules.includesDeclarations, let declared = incoming.declarations {
      let (list, others) = try declarations(by: declared, in: self)
      // Replacing removes the others.
      let kept = others.filter { !rules.replaces || !$0.key.exact.hasPrefix(incoming.scope) }
      incoming.declarations = kept + list
    }
    let reporter = ProgressReporter(rules.progress, total: incoming.size)
    layerStack.watchAgain()
    let first = try plan(incoming, rules)
    try reporter.finish()
    if rules.isDryRun { return first.report(of: first.changes, at: first.revision) }
    if let refusal = first.refusal { throw refusal }
    if first.changes.isEmpty, first.batch.schemaVersion == nil { return first.report(of: [], at: first.revision) }
    var (plan, isFirst) = (first, true)
    let commit = try commit("nothing was imported") { () throws(StoreError) in
      if !isFirst { plan = try self.plan(incoming, rules, isAgain: true) }
      isFirst = false
      if let refusal = plan.refusal { throw refusal }
      return plan.batch
    }
    // Without other commits in between, it has made the planned changes.
    let isAsPlanned = commit.revision == plan.revision + 1 && commit.count == plan.changes.count
    return plan.report(of: isAsPlanned ? plan.changes : commit.changes, at: commit.revision)
  }

  /// Compares the text with the stored data.
  ///
  /// - Parameter isAgain: whether others have written since the last time.
  private func plan(
    _ incoming: Incoming, _ rules: ImportRules, isAgain: Bool = false
  ) throws(StoreError) -> ImportPlan {
    let stored = try unlocking(\.self) { () throws(StoreError) in try storage().entries(in: [.prefix(incoming.scope)]) }
    for entry in stored.entries { try entry.entry.declaration?.makeKnown() }
    for entry in stored.unreadable { try entry.declaration?.makeKnown() }
    var batch = newBatch()
    let isCompleted = try storage() is any FolderStorage
    if !isCompleted { batch.conditions = [.unchangedPrefix(incoming.scope, after: stored.revision)] }
    // A condition for each key takes longer, and lets others write other keys at the same time.
    if !isCompleted, isAgain, !rules.replaces, incoming.separator == nil {
      let keys =
        incoming.settings.map(\.key) + (rules.includesDeclarations ? incoming.declarations ?? [] : []).map(\.key)
      batch.conditions = keys.map { .unchanged($0, after: stored.revision) }
    }
    try carry(incoming.schemaVersion, into: &batch, at: stored.revision)
    incoming.secretRefusal = try secretRefusal(rules)
    let plan = try ImportPlan(incoming, over: stored, rules, into: batch, under: layerStack)
    if isCompleted { plan.complete(layerStack) }
    if plan.declares, try !storage().abilities.contains(.declarations) {
      throw StoreError(.unsupported, "this storage does not support declarations; import without them")
    }
    return plan
  }

  /// Why the store takes no secrets: `unavailable`; or none that the text has encrypted: `invalid`.
  private func secretRefusal(_ rules: ImportRules) throws(StoreError) -> StoreError? {
    let storage = try storage()
    let secrets = (storage as? any SecretStorage)?.secrets
    let document = try secrets?.document()
    if let secrets, document == nil { return try secrets.undecidedOrLost() }
    if rules.leavesSecretsPlain || document?.isPlain == false || storage is MemoryStorage { return nil }
    return StoreError(
      .invalid,
      "is encrypted in the export, and this store would have it plain; encrypt the store's secrets first (kept secrets "
        + "init), or allow it (kept import --plain)")
  }

  /// Refuses to mix settings of different schema versions.
  ///
  /// An empty store takes the version of the text.
  private func carry(_ version: UInt32, into batch: inout Batch, at revision: Revision) throws(StoreError) {
    guard version > 0 else { return }
    guard try storage().abilities.contains(.schemaVersion) else {
      throw StoreError(
        .unsupported,
        "the export has schema version \(version), but this storage does not support schema versions; import into a "
          + "store in a folder")
    }
    let found = try storage().schemaVersion()
    if found != version {
      guard found == 0, try storage().holdsNothing() else {
        let here = found == 0 ? "settings without one" : "settings of schema version \(found)"
        let remedy =
          found < version
          ? "migrate this store first" : "import it into a new store, migrate that store, and export it again"
        throw StoreError(.unsupported, "the export has schema version \(version), but the store has \(here); \(remedy)")
      }
      batch.schemaVersion = version
      batch.conditions.append(.unchangedPrefix("", after: revision))
    }
    batch.conditions.append(.schemaVersion(found))
  }
}
