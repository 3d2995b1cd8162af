// Compares an import with the stored data: the batch to commit, the report, and the refusals.

import KeptSchema
import KeptValues

/// The difference between a text's contents and the stored data.
final class ImportPlan {
  /// The changes to commit.
  private(set) var batch: Batch
  private(set) var report = ImportReport()
  private var refusals: [StoreError] = []
  // Everything that the text requests, including values that are stored already.
  private var wish = Batch()

  private let incoming: Incoming
  private var present: [KeyName: Entry] = [:]
  private let unreadable: [UnreadableEntry]
  private var split = SplitSecrets()
  private var refused: Set<ExactString> = []

  /// - Parameters:
  ///   - batch: the batch to fill.
  ///   - layerStack: determines which keys are locked.
  init(
    _ incoming: Incoming, over stored: StoredEntries, _ rules: ImportRules, into batch: Batch,
    under layerStack: LayerStack
  ) throws(StoreError) {
    // The stored, requested, edited and reported values are separate lists and tables.
    let count = incoming.settings.count + (incoming.declarations?.count ?? 0)
    try Allowance.ask(
      forEntries: 2 * count + stored.entries.count + stored.unreadable.count, to: "import the settings")
    self.incoming = incoming
    self.batch = batch
    unreadable = stored.unreadable
    present.reserveCapacity(stored.entries.count)
    for keyed in stored.entries { present[keyed.key] = keyed.entry }
    for known in stored.unreadable where known.declaration != nil {
      present[known.key] = Entry(value: nil, revision: 0, declaration: known.declaration)
    }
    wish.patterns = Pattern.Pool()
    report.notCarried = incoming.notCarried
    report.revision = stored.revision
    if let separator = incoming.separator {
      for (key, entry) in present where entry.declaration?.isSecret == true { split.insert(key, separator: separator) }
    }
    for error in incoming.refusals { refuse(error) }
    if rules.includesDeclarations { wishForDeclarations(replacing: rules.replaces) }
    wishForValues(replacing: rules.replaces)
    judge(at: stored.revision + 1, layerStack)
  }

  /// Why nothing may be changed; nil if there is no reason.
  var refusal: StoreError? {
    guard let first = refusals.first else { return nil }
    let count = refusals.count == 1 ? "1 key is" : "\(refusals.count) keys are"
    return first.said { "\($0) (\(count) refused, and nothing was imported)" }
  }

  private func refuse(_ error: StoreError) {
    refusals.append(error)
    let key = error.key ?? ""
    refused.insert(ExactString(key))
    report.refused.append(ImportReport.Refusal(key: key, reason: error.message))
  }

  // MARK: - Requests

  private func wishForDeclarations(replacing: Bool) {
    guard let declarations = incoming.declarations else { return }
    if replacing {
      // Removes all present declarations first: the text may declare another type, and keys that it does not name lose
      // theirs.
      for (key, entry) in present where entry.declaration != nil && !isWithheld(key) { wish.declare(key, nil) }
    }
    for (key, declaration) in declarations {
      // A lost declaration says less than any other.
      if declaration == .lost, !replacing, present[key]?.declaration != nil { continue }
      wish.declare(key, declaration)
    }
  }

  private func wishForValues(replacing: Bool) {
    wish.reserve(incoming.settings.count)
    for setting in incoming.settings {
      // A declared key follows its own declaration.
      if let secret = split.secret(above: setting.key), present[setting.key]?.declaration == nil {
        if !refused.contains(secret.exact) { refuse(SplitSecrets.refusal(of: secret)) }
        refused.insert(setting.key.exact)
        continue
      }
      wish.edit(setting.key, .set(setting.value))
    }
    guard replacing else { return }
    for (key, entry) in present where entry.value != nil { wishAway(key) }
    for lost in unreadable { wishAway(lost.key) }
  }

  @inline(never)
  private func wishAway(_ key: KeyName) {
    // The text has a value for this key, which was refused.
    guard wish.edits[key] == nil, !isWithheld(key), !refused.contains(key.exact) else { return }
    wish.edit(key, .remove)
  }

  /// Whether the text omits the value of the key.
  @inline(never)
  private func isWithheld(_ key: KeyName) -> Bool {
    if incoming.omitted.contains(key) || incoming.unreadable.contains(key) { return true }
    return incoming.isWithoutSecrets && present[key]?.declaration?.isSecret == true
  }

  // MARK: - Result

  private func judge(at revision: Revision, _ layerStack: LayerStack) {
    var isUnreadable: Set<KeyName> = []
    for lost in unreadable { isUnreadable.insert(lost.key) }
    batch.reserve(wish.edits.count)
    report.changed.reserveCapacity(wish.edits.count)
    for key in wish.keys {
      do throws(StoreError) {
        // Also if declarations are not imported: a value that is secret in the text is not shown here.
        let hidden = incoming.secrets.contains(key)
        var change = try wish.change(of: key, from: present[key], at: revision, hidden: hidden)
        if isUnreadable.contains(key), wish.edits[key] == .remove {
          // The batch rules do not know that there is something to remove.
          let new = Entry(value: nil, revision: revision, declaration: (change?.new ?? present[key])?.declaration)
          change = StoredChange(key: key, old: present[key], new: new)
        }
        guard let change else {
          report.unchanged += wish.edits[key] == nil ? 0 : 1
          continue
        }
        if change.isOfValue { try layerStack.checkUnlocked(key) }
        take(change)
      } catch {
        refuse(error.about(key.text))
      }
    }
  }

  @inline(never)
  private func take(_ change: StoredChange) {
    let key = change.key
    if change.new.declaration != change.old?.declaration, let wished = wish.declarations[key] {
      if wish.undeclared.contains(key) { batch.declare(key, nil) }
      if let wished { batch.declare(key, wished) }
      report.declared.append(key.text)
    }
    guard let edit = wish.edits[key] else { return }
    guard change.isOfValue else {
      report.unchanged += 1
      return
    }
    guard edit.value != nil, let value = change.new.value else {
      batch.edit(key, .remove)
      report.removed.append(key.text)
      return
    }
    batch.edit(key, .set(value))
    let isSecret =
      incoming.secrets.contains(key) || change.new.declaration?.isSecret == true
      || change.old?.declaration?.isSecret == true
    report.changed.append(
      ImportReport.Change(
        key: key.text, old: isSecret ? nil : change.old?.value, new: isSecret ? nil : value, isSecret: isSecret))
  }

  /// Whether it changes declarations.
  var declares: Bool { !batch.declarations.isEmpty }

  /// Sets the revision that the store has afterwards.
  func committed(_ revision: Revision) { report.revision = revision }
}
