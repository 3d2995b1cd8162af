// Declaring keys, in a store or in a transaction.

package import KeptEngine
public import KeptSchema
import KeptSystem
public import KeptValues

extension SettingsAccess {
  /// Declares what a key holds.
  ///
  /// From then on, every process and language is refused values of another type or outside the constraints.
  ///
  /// Declaring the same again changes nothing, and returns again what does not fit. Another default, summary or
  /// constraint replaces the old one, whether wider or narrower: the last declaration applies. In C:
  /// `kept_declare_json`. In Python: `settings.declare(key)`.
  ///
  /// Throws `typeConflict` if the key is declared with another type, and `unsupported` if a later version has declared
  /// it or if the storage keeps no declarations.
  /// - Returns: the stored value that does not fit, with the reason. It stays stored, and the key reads as if it were
  ///   absent.
  @discardableResult
  public func declare(_ declaration: Declaration, forKey key: String) throws(StoreError) -> StoreError? {
    try declare([(try KeyName(key), declaration)]).first
  }

  /// Declares several keys at once, all or none.
  ///
  /// Throws as ``declare(_:forKey:)`` does, with the key. In C: `kept_declare_list`.
  /// - Returns: the stored values that do not fit.
  @discardableResult
  public func declare(_ list: DeclarationList) throws(StoreError) -> [StoreError] {
    guard let text = list.text else { return try declare(list.declarations) }
    return try declare(text) { () throws(StoreError) in list }
  }

  /// Declares the keys that a text lists, all or none.
  ///
  /// Declaring a long list again costs one comparison of texts; the text is parsed only if something differs.
  ///
  /// Throws as ``DeclarationList/init(json:)`` and ``declare(_:forKey:)`` do. In C: `kept_declare_list`. In Python:
  /// `settings.declare_list(text)`.
  /// - Returns: the stored values that do not fit.
  @discardableResult
  public func declare(listJSON text: String) throws(StoreError) -> [StoreError] {
    try declare(text) { () throws(StoreError) in try DeclarationList(json: text) }
  }

  private func declare(
    _ text: String, _ read: () throws(StoreError) -> DeclarationList
  ) throws(StoreError) -> [StoreError] {
    try ExactString(text).withBytes { bytes throws(StoreError) in try declare(UnsafeRawBufferPointer(bytes), read) }
  }

  /// Declares the keys that a text lists, which is read only if the store may not have declared it.
  package func declare(
    _ text: UnsafeRawBufferPointer, _ read: () throws(StoreError) -> DeclarationList
  ) throws(StoreError) -> [StoreError] {
    let storage = try (self as? Store)?.storage() as? any MarkingStorage
    let isDeclared = try storage?.hasDeclared(text) == true
    // A former name may be written again at any time.
    if isDeclared, try !hasValue(underAny: DeclarationList.formerNames(in: text)) { return [] }
    let list = try read()
    if isDeclared, try store.renaming(of: list.declarations, in: self).isEmpty { return [] }
    guard let storage, list.declarations.count >= Self.many, let text = list.text, list.showsFormerNames else {
      return try declare(list.declarations)
    }
    return try declare(list.declarations, markedBy: try storage.mark(of: text))
  }

  func hasValue(underAny names: [KeyName]) throws(StoreError) -> Bool {
    for name in names {
      if let entry = try readableEntry(for: name), try hasValue(name, entry) { return true }
    }
    return false
  }

  /// Whether an entry that was found to declare has a value, which may be a secret that is locked.
  fileprivate func hasValue(_ key: KeyName, _ entry: Entry) throws(StoreError) -> Bool {
    if entry.value != nil { return true }
    return try isLocked(key, entry)
  }

  /// Fewer keys are looked at one by one.
  private static var many: Int { 64 }

  /// Declares the keys that a file lists, all or none.
  ///
  /// The file is one JSON Schema object with `properties`, which a program ships for all its languages.
  ///
  /// Throws `invalid`, `tooLarge` or `unsupported` with the mistake in the file, `unavailable` or `denied` if it
  /// cannot be read, and what ``declare(_:forKey:)`` throws. In C: `kept_declare_file`. In Python:
  /// `settings.declare_file(path)`.
  /// - Returns: the stored values that do not fit.
  @discardableResult
  public func declare(contentsOf path: String) throws(StoreError) -> [StoreError] {
    let text = try DeclarationList.text(of: path)
    return try declare(text) { () throws(StoreError) in try DeclarationList(json: text, from: path) }
  }

  /// Removes a declaration; returns false if there was none.
  ///
  /// The value stays. In C: `kept_undeclare`.
  @discardableResult
  public func undeclare(_ key: String) throws(StoreError) -> Bool {
    let key = try KeyName(key)
    guard try entry(for: key)?.declaration != nil else { return false }
    return try !declare([key], [nil]).isEmpty
  }

  /// Declares several keys at once, all or none, and returns the stored values that do not fit.
  ///
  /// - Parameter mark: what the store then marks the list with, unless it stays unchanged, a value does not fit, or
  ///   others commit at the same time.
  package func declare(
    _ list: [(key: KeyName, declaration: Declaration)], markedBy mark: DeclaredList? = nil
  ) throws(StoreError) -> [StoreError] {
    try DeclarationList.checkFormerNames(in: list)
    let deadline = MonotonicTime.milliseconds + Int64(store.options.patience)
    var attempt = 0
    while true {
      do throws(StoreError) {
        return try declareOnce(list, markedBy: attempt == 0 ? mark : nil).inOrder { ExactString($0.key ?? "") }
      } catch {
        // Others have committed since the keys were compared.
        guard error.code == .conflict, self is Store, attempt < 2 || MonotonicTime.milliseconds < deadline else {
          throw error
        }
        MonotonicTime.backOff(attempt: attempt)
        attempt += 1
      }
    }
  }

  /// Declares keys, and moves values from former names to them in the same commit.
  private func declareOnce(
    _ list: [(key: KeyName, declaration: Declaration)], markedBy mark: DeclaredList?
  ) throws(StoreError) -> [StoreError] {
    let base = try store.currentRevision()
    let renaming = try store.renaming(of: list, in: self)
    // A program that declares the same at every start needs no permission to write.
    var (news, misfits, fit) = try compare(renaming.list)
    misfits.removeAll { misfit in (try? KeyName(misfit.key ?? "")).map { renaming.edits[$0] != nil } == true }
    misfits += renaming.misfits
    guard !news.isEmpty || !renaming.edits.isEmpty else { return misfits }
    let declared = try store.declarations(changingWith: news, in: self) + news
    fit = fit && misfits.isEmpty
    do throws(StoreError) {
      for (key, entry, wasSecret) in try commit(declared, renaming.edits, markedBy: fit ? mark : nil, after: base) {
        // A value that was stored as a secret is not shown, even if the new declaration is not secret.
        if let misfit = entry.misfit(hidden: wasSecret) { misfits.append(misfit.about(key.text)) }
      }
    } catch {
      guard error.code == .denied, news.allSatisfy({ renaming.hidden.contains($0.key) }) else { throw error }
    }
    // Those of a transaction are not declared yet.
    (self as? Store)?.reportUndeclaredVariables(meantFor: Set(news.map(\.key)))
    return misfits
  }

  /// Declares keys and changes values, unless others have changed these since a revision, or anything if the store
  /// marks the list.
  private func commit(
    _ declared: [(key: KeyName, declaration: Declaration)], _ edits: KeyTable<Batch.Edit>, markedBy mark: DeclaredList?,
    after base: Revision
  ) throws(StoreError) -> [(key: KeyName, entry: Entry, wasSecret: Bool)] {
    if let transaction = self as? Transaction {
      return try transaction.allOrNone(of: edits.map(\.key)) { () throws(StoreError) in
        try transaction.edit { batch in
          for (key, edit) in edits { batch.edit(key, edit) }
        }
        return try transaction.declare(declared.map(\.key), declared.map(\.declaration))
      }
    }
    var batch = store.newBatch(tag: edits.isEmpty ? nil : "renamed")
    for (key, declaration) in declared { batch.declare(key, declaration) }
    for (key, edit) in edits {
      batch.edit(key, edit)
      batch.conditions.append(.unchanged(key, after: base))
    }
    if let mark { (batch.list, batch.conditions) = (mark, [.unchangedPrefix("", after: base)]) }
    return try store.declare(batch)
  }

  /// The entry of a key; nil if its value cannot be read, which is reported when it is read.
  fileprivate func readableEntry(for key: KeyName) throws(StoreError) -> Entry? {
    do throws(StoreError) { return try storedEntry(for: key).entry } catch {
      guard error.code == .corrupt else { throw error }
      return nil
    }
  }

  /// Whether an entry that was found to declare has no value because that is a secret that is locked.
  fileprivate func isLocked(_ key: KeyName, _ entry: Entry) throws(StoreError) -> Bool {
    guard entry.value == nil, entry.declaration?.isSecret == true else { return false }
    do throws(StoreError) { _ = try self.entry(for: key) } catch {
      guard error.code == .unavailable else { throw error }
      return true
    }
    return false
  }

  /// The declarations that differ from the stored ones, the stored values that do not fit the others, and whether all
  /// values surely fit those that differ.
  private func compare(
    _ list: [(key: KeyName, declaration: Declaration)]
  ) throws(StoreError) -> (news: [(key: KeyName, declaration: Declaration)], misfits: [StoreError], fit: Bool) {
    try Allowance.ask(forEntries: 2 * list.count, to: "declare the keys")
    var news: [(key: KeyName, declaration: Declaration)] = []
    var (misfits, fit): ([StoreError], Bool) = ([], true)
    if list.count >= Self.many, self is Store {
      // All stored declarations are read at once and compared as texts, without parsing them.
      let stored = try store.storage().declarations(prefix: "")
      let known = Dictionary(stored.map { ($0.key, $0.declaration) }) { first, _ in first }
      let keys = Set(try storedKeys(prefix: ""))
      for (key, declaration) in list {
        if known[key] != declaration {
          news.append((key, declaration))
          if keys.contains(key), try misfit(of: key, by: declaration) != nil { fit = false }
        } else if keys.contains(key), let misfit = try misfit(of: key, by: declaration) {
          misfits.append(misfit)
        }
      }
      return (news, misfits, fit)
    }
    for (key, declaration) in list {
      let entry = try storedEntry(for: key).entry
      guard entry?.declaration == declaration else {
        news.append((key, declaration))
        continue
      }
      let hidden = self is Transaction && store.hasStoredAsSecret(key)
      if let misfit = entry?.misfit(by: declaration, hidden: hidden) { misfits.append(misfit.about(key.text)) }
    }
    return (news, misfits, false)
  }

  private func misfit(of key: KeyName, by declaration: Declaration) throws(StoreError) -> StoreError? {
    try readableEntry(for: key)?.misfit(by: declaration)?.about(key.text)
  }
}

extension Store {
  /// The declaration of a key, usually from the index.
  func declaration(of key: KeyName) throws(StoreError) -> Declaration? {
    try checkOpen()
    if let known = key.withPrepared({ knownKey($0) }) { return known.declaration }
    // No provider is asked.
    do throws(StoreError) { return try storage().entry(for: key)?.declaration } catch {
      guard error.code == .unavailable, let locked = try lockedEntry(for: key) else { throw error }
      return locked.declaration
    }
  }

  /// Throws `locked` for a key that the administrator has locked.
  func checkUnlocked(_ key: KeyName) throws(StoreError) {
    guard layerStack.mayLock else { return }
    try layerStack.checkUnlocked(key, try? declaration(of: key))
  }

  /// The index's state of a key; nil if it must be read.
  func knownKey(_ key: PreparedBytes) -> KnownKey? { fast?.known(key) }

  /// Whether the key is declared secret, disregarding transactions that are not committed.
  func hasStoredAsSecret(_ key: KeyName) -> Bool {
    // A declaration that cannot be read may be secret.
    do throws(StoreError) { return try declaration(of: key)?.isSecret == true } catch { return true }
  }

  /// The declarations of the keys that begin with a prefix, in byte order; `""` for all.
  ///
  /// In C: `kept_declarations_json`. In Python: `settings.declarations(prefix)`.
  public func declarations(prefix: String = "") throws(StoreError) -> DeclarationList {
    try DeclarationList(checking: storage().declarations(prefix: ExactString(prefix)))
  }

  public func declare(
    _ keys: [KeyName], _ declarations: [Declaration?]
  ) throws(StoreError) -> [(key: KeyName, entry: Entry, wasSecret: Bool)] {
    var batch = newBatch()
    for (key, declaration) in zip(keys, declarations) { batch.declare(key, declaration) }
    return try declare(batch)
  }

  fileprivate func declare(
    _ batch: Batch
  ) throws(StoreError) -> [(key: KeyName, entry: Entry, wasSecret: Bool)] {
    guard try storage().abilities.contains(.declarations) else {
      throw StoreError(.unsupported, "this storage does not support declarations; validate values in your program")
    }
    return try commit(batch).changes.map { ($0.key, $0.new, $0.old?.declaration?.isSecret == true) }
  }
}

// MARK: - Former names

extension Store {
  /// The list as it is declared, and the declarations of other keys that change with it.
  func declarations(
    by list: [(key: KeyName, declaration: Declaration)], in settings: any SettingsAccess
  ) throws(StoreError) -> (
    list: [(key: KeyName, declaration: Declaration)], others: [(key: KeyName, declaration: Declaration)]
  ) {
    let list = try renaming(of: list, in: settings).list
    return (list, try declarations(changingWith: list, in: settings))
  }

  /// The declarations of other keys that lose their former names: those that are not secret and whose former name
  /// becomes one, and those that take turns with a key in being the other's former name.
  fileprivate func declarations(
    changingWith list: [(key: KeyName, declaration: Declaration)], in settings: any SettingsAccess
  ) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    var changed = try declarations(losing: secrets(in: list), in: settings)
    for (key, declaration) in list {
      guard let name = declaration.formerName, let other = try settings.readableEntry(for: name)?.declaration,
        other.writtenFormerName == key, !(changed + list).contains(where: { $0.key == name })
      else { continue }
      changed.append((name, try other.changing("renamedFrom", to: nil)))
    }
    return changed
  }

  fileprivate func secrets(in list: [(key: KeyName, declaration: Declaration)]) -> Set<KeyName> {
    var secrets: Set<KeyName> = []
    for (key, declaration) in list where declaration.isSecret { secrets.insert(key) }
    return secrets
  }

  /// The effect of the former names in a list.
  fileprivate func renaming(
    of list: [(key: KeyName, declaration: Declaration)], in settings: any SettingsAccess
  ) throws(StoreError) -> Renaming {
    var renaming = Renaming(try hidingFormerNames(of: list, in: settings))
    guard list.contains(where: { $0.declaration.formerName != nil }) else { return renaming }
    let secrets = secrets(in: renaming.list)
    var waiting: Set<KeyName> = []
    layerStack.watchAgain()
    for (index, (key, declaration)) in list.enumerated() {
      guard let name = declaration.formerName else { continue }
      // A value that may still be needed under this name stays there.
      var isDone = false
      defer { if !isDone { waiting.insert(name) } }
      let former = try settings.readableEntry(for: name)
      let isSecret = former?.declaration?.isSecret == true || hasStoredAsSecret(name) || secrets.contains(name)
      if isSecret && !renaming.list[index].declaration.isSecret {
        renaming.list[index].declaration = try declaration.changing("renamedFrom", to: nil)
        renaming.misfits.append(
          StoreError(
            .invalid, key: key.text,
            "is declared with the former name \"\(Excerpt.of(name.text))\", which is a secret and is not read for a "
              + "key that is not secret; declare the new name secret too"))
        continue
      }
      guard let former, layerStack.layers.lockedName(of: key, declaration) == nil else { continue }
      let isLocked = try settings.isLocked(name, former)
      guard former.value != nil || isLocked else { continue }
      if let own = try settings.readableEntry(for: key), try settings.hasValue(key, own), !isNewer(former, than: own) {
        isDone = isNewer(own, than: former)
        if isDone { renaming.edits.put(name, .remove) }
        continue
      }
      guard let value = former.value else {
        renaming.misfits.append(
          StoreError(
            .unavailable, key: key.text,
            "has its value under the former name \"\(Excerpt.of(name.text))\", which is an encrypted secret, and no "
              + "provider gives its key; declare it again when one does"))
        continue
      }
      if let misfit = former.misfit(by: declaration, hidden: isSecret, storedAs: name) {
        renaming.misfits.append(misfit.about(key.text))
      } else if declaration.isSecret, try shared.secrets?.areUndecided() == true {
        renaming.misfits.append(
          StoreError(
            .unavailable, key: key.text,
            "has its value under the former name \"\(Excerpt.of(name.text))\", and stays there until someone decides "
              + "how this store keeps secrets; run kept secrets STORE init, and declare it again"))
      } else {
        isDone = true
        renaming.edits.put(name, .remove)
        renaming.edits.put(key, .set(value))
      }
    }
    for name in waiting { renaming.edits.remove(name) }
    return renaming
  }

  /// Whether a value is newer than another one.
  func isNewer(_ one: Entry, than other: Entry) -> Bool {
    // What a transaction has written itself has no revision yet, and is newer than all others.
    other.revision &- 1 < one.revision &- 1
  }

  /// The declarations of keys that are not secret and have a secret as their former name, without it.
  func declarations(
    losing secrets: Set<KeyName>, in settings: any SettingsAccess
  ) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    guard !secrets.isEmpty else { return [] }
    func isLost(_ declaration: Declaration) -> Bool {
      !declaration.isSecret && declaration.formerName.map(secrets.contains) == true
    }
    var keys = (settings as? Transaction)?.newlyDeclared ?? []
    for (key, declaration) in try storage().declarations(prefix: "") where isLost(declaration) {
      keys.insert(key)
    }
    var changed: [(key: KeyName, declaration: Declaration)] = []
    for key in keys {
      guard let declaration = try settings.readableEntry(for: key)?.declaration, isLost(declaration) else { continue }
      changed.append((key, try declaration.changing("renamedFrom", to: nil)))
    }
    return changed
  }

  /// The list with the former names of secrets as secrets, and the former names of these, as far as declarations say.
  ///
  /// The history and the layers may have values under these names, whether or not the names are declared or have a
  /// value now.
  /// - Parameter settings: the store, or a transaction of it.
  /// - Returns: also the names that become secret.
  fileprivate func hidingFormerNames(
    of list: [(key: KeyName, declaration: Declaration)], in settings: any SettingsAccess
  ) throws(StoreError) -> (list: [(key: KeyName, declaration: Declaration)], hidden: Set<KeyName>) {
    var (hiding, hidden, known) = (list, Set<KeyName>(), Set<KeyName>())
    var pending: [(key: KeyName, declaration: Declaration)] = []
    for declared in list where declared.declaration.isSecret { pending.append(declared) }
    while let (key, declaration) = pending.popLast() {
      for place in 0..<3 {
        // The store may have other former names than the list, also those that a transaction has undeclared.
        let source: Declaration? =
          switch place {
          case 0: declaration
          case 1: try settings.readableEntry(for: key)?.declaration
          default: try? self.declaration(of: key)
          }
        guard let name = source?.formerName, known.insert(name).inserted else { continue }
        let index = list.firstIndex { $0.key == name }
        let former = try settings.readableEntry(for: name)
        let declared = index.map { list[$0].declaration } ?? former?.declaration
        if let declared, declared.isSecret {
          pending.append((name, declared))
          continue
        }
        let secret: Declaration
        if let old = declared ?? (former?.value == nil ? try? self.declaration(of: name) : nil), old.unreadable == nil {
          secret = try old.changing("secret", to: true)
        } else {
          let type = former?.value.flatMap { DeclaredType($0.kind) } ?? declaration.type
          secret = try Declaration(["secret": true, "type": .string("\(type)")])
        }
        if let index { hiding[index].declaration = secret } else { hiding.append((name, secret)) }
        hidden.insert(name)
        pending.append((name, secret))
      }
    }
    return (hiding, hidden)
  }
}

/// The effect of the former names in a list of declarations.
private struct Renaming {
  /// The list as it is declared: the former names of secrets are secrets, and no other key has one of these as its
  /// former name.
  var list: [(key: KeyName, declaration: Declaration)]
  /// The moves of values that are newer than the keys' own, and the removals of older ones.
  var edits = KeyTable<Batch.Edit>()
  /// The former names that become secret.
  let hidden: Set<KeyName>
  /// The former names that are not read, and their values that do not fit.
  var misfits: [StoreError] = []

  init(_ hiding: (list: [(key: KeyName, declaration: Declaration)], hidden: Set<KeyName>)) {
    (list, hidden) = hiding
  }

  var isEmpty: Bool { edits.isEmpty && hidden.isEmpty && misfits.isEmpty }
}

extension Entry {
  /// Why the stored value does not fit the declaration; nil if it fits.
  fileprivate func misfit(hidden: Bool) -> StoreError? { declaration.flatMap { misfit(by: $0, hidden: hidden) } }

  /// - Parameters:
  ///   - hidden: whether the message omits the value even if the declaration is not secret.
  ///   - name: the former name of the declared key, if the value is stored under that.
  fileprivate func misfit(
    by declaration: Declaration, hidden: Bool = false, storedAs name: KeyName? = nil
  ) -> StoreError? {
    guard let value, declaration.unreadable == nil else { return nil }
    do throws(StoreError) {
      _ = try declaration.admitted(value, hidden: hidden)
      return nil
    } catch {
      let place = name.map { "under the former name \"\(Excerpt.of($0.text))\"" } ?? "and reads as absent"
      return error.said { "\($0); the earlier value stays stored \(place)" }
    }
  }
}
