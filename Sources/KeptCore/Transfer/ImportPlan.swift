// Compares an import with the stored data: the batch to commit, the report, and the refusals.

import KeptSchema
import KeptValues

/// The difference between a text's contents and the stored data.
final class ImportPlan {
  /// The changes to commit.
  private(set) var batch: Batch
  /// The same, as they were planned.
  private(set) var changes: [StoredChange] = []
  private var refusals: [StoreError] = []
  /// The revision that the text was compared with.
  let revision: Revision
  // Everything that the text requests, including values that are stored already.
  private var wish = Batch()
  // How many of its edits are refused.
  private var refusedEdits = 0

  private let incoming: Incoming
  private let requests: ImportRequests
  private let present: [KeyName: Entry]
  private let isUnreadable: Set<KeyName>

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
    (self.batch, revision) = (batch, stored.revision)
    var present: [KeyName: Entry] = [:]
    present.reserveCapacity(stored.entries.count)
    for keyed in stored.entries { present[keyed.key] = keyed.entry }
    for known in stored.unreadable where known.declaration != nil {
      present[known.key] = Entry(value: nil, revision: 0, declaration: known.declaration)
    }
    (self.present, isUnreadable) = (present, Set(stored.unreadable.map(\.key)))
    var split = SplitSecrets()
    if let separator = incoming.separator {
      for (key, entry) in present where entry.declaration?.isSecret == true { split.insert(key, separator: separator) }
    }
    refusals = incoming.refusals
    requests = ImportRequests(incoming, rules, present, split, &refusals)
    wish.patterns = Pattern.Pool()
    wish.set(requests.values)
    if rules.includesDeclarations {
      for setting in incoming.settings { request(setting.key) }
      for (key, _) in incoming.declarations ?? [] { request(key) }
    }
    if rules.replaces {
      for key in present.keys where wish.edits[key] == nil { request(key) }
      for key in isUnreadable where wish.edits[key] == nil { request(key) }
    }
    judge(layerStack)
  }

  private func request(_ key: KeyName) {
    let entry = present[key]
    requests.add(key, entry, hasValue: entry?.value != nil || isUnreadable.contains(key), to: &wish)
  }

  /// Why nothing may be changed; nil if there is no reason.
  var refusal: StoreError? {
    guard let first = refusals.first else { return nil }
    let count = refusals.count == 1 ? "1 key is" : "\(refusals.count) keys are"
    return first.said { "\($0) (\(count) refused, and nothing was imported)" }
  }

  private func judge(_ layerStack: LayerStack) {
    let revision = revision + 1
    changes.reserveCapacity(wish.edits.count)
    for (key, edit) in wish.requests {
      do throws(StoreError) {
        // Also if declarations are not imported: a value that is secret in the text is not shown here.
        let hidden = incoming.secrets.contains(key)
        var change = try wish.change(of: key, by: edit, from: present[key], at: revision, hidden: hidden)
        if isUnreadable.contains(key), edit == .remove {
          // The batch rules do not know that there is something to remove.
          let new = Entry(value: nil, revision: revision, declaration: (change?.new ?? present[key])?.declaration)
          change = StoredChange(key: key, old: present[key], new: new)
        }
        guard let change else { continue }
        try incoming.checkSecret(change)
        if change.isOfValue { try layerStack.checkUnlocked(key, change.new.declaration) }
        changes.append(change)
      } catch {
        refusals.append(error.about(key.text))
        if edit != nil { refusedEdits += 1 }
      }
    }
    let isAll = changes.count == wish.edits.count && wish.declarations.isEmpty
    batch.takeRequests(of: isAll ? wish : wish.requests(of: Set(changes.map(\.key))))
  }

  /// Makes the commit include what the text requests for keys that others have changed since then.
  func complete(_ layerStack: LayerStack) {
    let (requests, isSplit) = (requests, incoming.separator != nil)
    batch.completion = Completion(scope: incoming.scope, base: revision) { key, stored, batch throws(StoreError) in
      let (entry, hasValue) = try stored()
      try entry?.declaration?.makeKnown()
      if isSplit, entry?.declaration?.isSecret == true {
        throw StoreError(.conflict, key: key.text, "was declared secret during the import; try again")
      }
      var part = Batch()
      requests.add(key, entry, hasValue: hasValue, to: &part)
      if requests.wouldShow(key, entry) {
        throw StoreError(.conflict, key: key.text, "was secret, and is not any more since the import began; try again")
      }
      batch.putBack(part.part(of: key), of: key)
      if let edit = part.edits[key], edit.value != entry?.value || hasValue && edit == .remove {
        try layerStack.checkUnlocked(key, entry?.declaration)
      }
    }
  }

  /// Whether it changes declarations.
  var declares: Bool { !batch.declarations.isEmpty }

  /// The report of changes that were planned or made.
  func report(of changes: [StoredChange], at revision: Revision) -> ImportReport {
    var report = ImportReport()
    (report.revision, report.notCarried) = (revision, incoming.notCarried + requests.superseded)
    report.refused = refusals.map { ImportReport.Refusal(key: $0.key ?? "", reason: $0.message) }
    report.unchanged = wish.edits.count - refusedEdits
    report.changed.reserveCapacity(changes.count)
    for change in changes {
      let key = change.key
      if change.new.declaration != change.old?.declaration { report.declared.append(key.text) }
      guard change.isOfValue else { continue }
      if wish.edits[key] != nil { report.unchanged -= 1 }
      guard let value = change.new.value else {
        report.removed.append(key.text)
        continue
      }
      let isSecret =
        incoming.secrets.contains(key) || change.new.declaration?.isSecret == true
        || change.old?.declaration?.isSecret == true
      report.changed.append(
        ImportReport.Change(
          key: key.text, old: isSecret ? nil : change.old?.value, new: isSecret ? nil : value, isSecret: isSecret))
    }
    return report
  }
}

/// What a text requests for each key.
private final class ImportRequests: Sendable {
  let values: KeyTable<Value>
  private let declarations: [KeyName: Declaration]
  private let replaces: Bool
  private let replacesDeclarations: Bool
  // The keys that stay as they are, and those with a value in the text that was refused.
  private let withheld: Set<KeyName>
  private let sealed: Set<KeyName>
  private let refused: Set<ExactString>
  private let isWithoutSecrets: Bool
  /// The values under former names of keys that have values in the text, too.
  let superseded: [NotCarried]

  /// - Parameter refusals: gets one for each secret that would be split.
  init(
    _ incoming: Incoming, _ rules: ImportRules, _ present: [KeyName: Entry], _ split: SplitSecrets,
    _ refusals: inout [StoreError]
  ) {
    replaces = rules.replaces
    replacesDeclarations = rules.replaces && rules.includesDeclarations && incoming.declarations != nil
    (withheld, isWithoutSecrets) = (incoming.omitted.union(incoming.unreadable), incoming.isWithoutSecrets)
    sealed = incoming.sealed
    var (values, declarations): (KeyTable<Value>, [KeyName: Declaration]) = (KeyTable(), [:])
    var refused = Set(refusals.map { ExactString($0.key ?? "") })
    if rules.includesDeclarations {
      for (key, declaration) in incoming.declarations ?? [] { declarations[key] = declaration }
    }
    values.reserve(incoming.settings.count)
    for setting in incoming.settings {
      // A declared key follows its own declaration.
      if let secret = split.secret(above: setting.key), present[setting.key]?.declaration == nil {
        if refused.insert(secret.exact).inserted { refusals.append(SplitSecrets.refusal(of: secret)) }
        refused.insert(setting.key.exact)
      } else {
        values.put(setting.key, setting.value)
      }
    }
    var superseded: [NotCarried] = []
    for key in values.map(\.key) {
      // Of keys that are each other's former names, one keeps its value.
      let declaration = declarations[key] ?? (replacesDeclarations ? nil : present[key]?.declaration)
      guard let name = declaration?.writtenFormerName, values[name] != nil, values[key] != nil else { continue }
      values.remove(name)
      superseded.append(
        NotCarried(
          place: name.text,
          reason: "it is the former name of \"\(Excerpt.of(key.text))\", whose value is imported instead"))
    }
    self.superseded = superseded
    (self.values, self.declarations, self.refused) = (values, declarations, refused)
  }

  /// Whether a value that the text has encrypted would not be secret.
  func wouldShow(_ key: KeyName, _ entry: Entry?) -> Bool {
    sealed.contains(key) && (declarations[key] ?? entry?.declaration)?.isSecret != true
  }

  /// Adds the requests for a key with an entry to a batch.
  ///
  /// - Parameter hasValue: whether the key has a value, which may be one that cannot be read.
  func add(_ key: KeyName, _ entry: Entry?, hasValue: Bool, to batch: inout Batch) {
    let isWithheld = withheld.contains(key) || isWithoutSecrets && entry?.declaration?.isSecret == true
    // Removes a present declaration first: the text may declare another type.
    if replacesDeclarations, entry?.declaration != nil, !isWithheld { batch.declare(key, nil) }
    // A lost declaration says less than any other.
    if let declaration = declarations[key],
      declaration != .lost || replacesDeclarations || entry?.declaration == nil
    {
      batch.declare(key, declaration)
    }
    if let value = values[key] {
      batch.edit(key, .set(value))
    } else if replaces, hasValue, !isWithheld, !refused.contains(key.exact) {
      batch.edit(key, .remove)
    }
  }
}
