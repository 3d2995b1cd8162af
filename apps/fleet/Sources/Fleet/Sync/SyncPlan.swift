// Decides what to do about keys that may have changed, from the values on both sides and from those when they were last
// the same.

internal import Etcd
internal import Kept

/// The action for a key.
enum Step: Sendable, Hashable {
  case nothing
  /// Both sides have the same.
  case agree
  case upload(isConflict: Bool)
  case download(isConflict: Bool)
  case refuse(String)
  /// A secret, which stays on its side.
  case withhold
}

/// The state of a key in etcd.
struct RemoteValue: Sendable {
  /// The last change or deletion; 0 if it is not known.
  var revision: Int64
  /// The revision for a compare; 0 for an absent key.
  var compared: Int64
  /// Nil for an absent key; an error if the text is not a value.
  var value: Result<Value, StoreError>?
  /// The text, if it is a sealed value.
  var sealed: SealedValue?

  init(_ mirror: Mirror, _ key: ExactString, _ keys: SecretsKeys) {
    (revision, compared) = (mirror.revision(of: key), mirror.comparedRevision(of: key))
    var sealed: SealedValue?
    value = mirror.items[key].map { item in
      Result { () throws(StoreError) in
        guard let text = String(validating: try item.readable(), as: UTF8.self) else {
          throw StoreError(.invalid, "the value in etcd is not UTF-8; write it as JSON")
        }
        _ = try KeyName(key.text)
        sealed = SealedValue(text)
        let value =
          if let sealed { try keys.open(sealed, at: item.key) } else { try Value(json: text) }
        guard value != .null else {
          throw StoreError(.invalid, "the value in etcd is null, which cannot be stored; delete the key there instead")
        }
        return value
      }
    }
    self.sealed = sealed
  }

  /// Nil for an absent key, and for a text that is not a value.
  var digest: String? { if case .success(let value) = value { Agreement.digest(value) } else { nil } }

  /// Returns why a key with a declaration cannot have the value.
  func refusal(by declaration: Declaration?) -> String? {
    switch value {
    case nil: return nil
    case .failure(let error): return error.description
    case .success(let value):
      do throws(StoreError) { _ = try declaration?.admitted(value) } catch { return error.description }
      return nil
    }
  }

  /// The value as a key with a declaration has it, if it is one.
  func present(_ declaration: Declaration?) -> Value? {
    guard case .success(let value) = value else { return nil }
    return (try? declaration?.admitted(value)) ?? value
  }
}

struct Situation: Sendable {
  var local: LocalValue
  var remote: RemoteValue
  var agreed: Agreement?
  /// The revisions of the store and of etcd at the time of the readings: one that is before the agreement belongs to a
  /// store or an etcd that was restored.
  var localRevision: Revision
  var remoteRevision: Int64
  /// Whether etcd lacks the key, also in its past at the revision that was agreed.
  var isUnknownToEtcd = false
  /// Whether this store had etcd's value before the one that was agreed.
  var isOlderInEtcd = false
  /// Whether the value in etcd is sealed again if it is sealed with another key than new ones.
  var isResealed = false

  func step(_ key: ExactString, _ options: SyncOptions) -> Step {
    let keys = options.secretsKeys
    if isSecret, keys.isEmpty || local.isDeclarationLost { return .withhold }
    // Neither side takes the value of the other: the user must judge the damaged value.
    if let damage = local.damage { return .refuse("the stored value cannot be read: \(damage)") }
    if let mismatch = sealMismatch(keys) { return .refuse(mismatch) }
    let isReadable = if case .failure = remote.value { false } else { true }
    let present = remote.present(local.declaration)
    if isReadable, local.value == present {
      if isResealed, let sealed = remote.sealed, sealed.keyID != keys.ids.first { return .upload(isConflict: false) }
      return agreed == agreement ? .nothing : .agree
    }
    // The store does not take another value for it.
    if local.isDeclarationLost, hasRemoteChange { return .refuse(LocalValue.lostDeclaration) }
    let rule = options.rules.rule(for: key)
    let refusal = hasRemoteChange ? remote.refusal(by: local.declaration) : nil
    if isContested, refusal == nil {
      return isOlderInEtcd || rule == .local ? .upload(isConflict: true) : .download(isConflict: true)
    }
    switch (hasLocalChange, hasRemoteChange) {
    case (false, false): return .nothing
    case (true, false): return .upload(isConflict: false)
    case (_, true):
      if let refusal {
        // A machine that is new, or has changed nothing, does not decide about a value that it does not understand.
        return hasLocalChange && agreed != nil ? .upload(isConflict: false) : .refuse(refusal)
      }
      if !hasLocalChange { return .download(isConflict: false) }
      return rule == .local ? .upload(isConflict: true) : .download(isConflict: true)
    }
  }

  /// Why the value in etcd is neither taken nor replaced: it is plain or sealed where it should not be, or is sealed
  /// with a key that this machine lacks.
  func sealMismatch(_ keys: SecretsKeys) -> String? {
    guard let sealed = remote.sealed else {
      return isSecret && remote.value != nil
        ? "the key is declared secret, but etcd has its plain value; delete the key in etcd, and change the secret"
        : nil
    }
    guard isSecret else {
      return "the value in etcd is a sealed secret, but the key is not declared secret here; start the program that "
        + "declares it"
    }
    guard let id = sealed.keyID else {
      return "the value in etcd is sealed in a form that this version does not know; update kept-fleet"
    }
    return keys.ids.contains(id)
      ? nil : "the value in etcd is sealed with the key \(id); give the file of that key with --secrets-key"
  }

  /// Where a salvage may have lost the declaration: what is agreed of a secret has no digest.
  private var isSecret: Bool { local.isDeclarationLost ? agreed?.digest == nil : local.isSecret }

  /// The agreement that both sides have the same now.
  var agreement: Agreement? {
    local.value == nil && remote.value == nil
      ? nil : Agreement(etcd: remote.compared, local: local.revision, digest: digest)
  }

  /// A digest of the value in etcd; nil for a secret, which could be guessed from it.
  var digest: String? { isSecret ? nil : remote.digest }

  /// Whether the store has the value that it had when both sides were the same.
  var isUnchangedHere: Bool { local.revision == agreed?.local }

  private var hasLocalChange: Bool {
    guard agreed != nil else { return local.value != nil }
    guard !hasGoneBack else { return false }
    return !isUnchangedHere || isRolledBack
  }

  var hasRemoteChange: Bool {
    guard let agreed else { return remote.value != nil }
    return hasGoneBack || isContested || remote.compared != agreed.etcd && !isRolledBack && !hasAgreedValue
  }

  /// Whether etcd has the value that was agreed, or has it again: another machine sends lost values again.
  private var hasAgreedValue: Bool { remote.digest.map { $0 == agreed?.digest } ?? false }

  /// Whether etcd was restored from a backup, and has another value with the agreed revision or with a lower one.
  ///
  /// It is from the backup, or was set since.
  var isContested: Bool {
    guard let agreed, remote.value != nil, !hasGoneBack, !hasAgreedValue else { return false }
    return remote.compared < agreed.etcd || remote.compared == agreed.etcd && agreed.digest != nil
  }

  /// Whether etcd was restored from a backup, and has lost the value.
  private var isRolledBack: Bool {
    guard let agreed else { return false }
    return remote.value == nil && (isUnknownToEtcd || agreed.etcd > remoteRevision)
  }

  /// Whether the store has lost what it had, as after a loss of power.
  private var hasGoneBack: Bool {
    guard let agreed, let known = agreed.local else { return false }
    return local.revision ?? localRevision < known
  }
}

/// What to do about some keys.
struct SyncPlan: Sendable {
  private(set) var steps: [ExactString: Step] = [:]

  /// - Parameter groups: keys that were changed together, and win or lose together.
  init(_ situations: [ExactString: Situation], _ groups: Groups, _ options: SyncOptions) {
    for (key, situation) in situations { steps[key] = situation.step(key, options) }
    let losers = steps.filter { $0.value == .download(isConflict: true) }.flatMap { groups.group(of: $0.key) }
    for key in losers where steps[key] == .upload(isConflict: false) {
      // The value in etcd is the earlier one.
      if let situation = situations[key], !situation.local.isDeclarationLost,
        situation.remote.refusal(by: situation.local.declaration) == nil
      {
        steps[key] = .download(isConflict: true)
      }
    }
  }

  /// Whether a change of etcd has won against one of this machine, which loses the changes made with it, too.
  var hasConflict: Bool { steps.values.contains(.download(isConflict: true)) }

  func keys(_ isWanted: (Step) -> Bool) -> Set<ExactString> { Set(steps.filter { isWanted($0.value) }.keys) }

  /// The keys that have changed on this machine.
  var localChanges: Set<ExactString> { uploads.union(keys { $0 == .download(isConflict: true) }) }

  var uploads: Set<ExactString> { keys { if case .upload = $0 { true } else { false } } }
  var downloads: Set<ExactString> { keys { if case .download = $0 { true } else { false } } }
}

/// Keys that were changed together.
struct Groups: Sendable {
  private var numbers: [ExactString: Int] = [:]
  private var members: [Int: Set<ExactString>] = [:]
  private var last = 0

  /// All groups that have one of the keys become one.
  mutating func join(_ keys: some Collection<ExactString>) {
    guard keys.count > 1 else { return }
    last += 1
    var joined = Set(keys)
    for number in Set(keys.compactMap { numbers[$0] }) { joined.formUnion(members.removeValue(forKey: number) ?? []) }
    for key in joined { numbers[key] = last }
    members[last] = joined
  }

  /// The keys that were changed together with one, and itself.
  func group(of key: ExactString) -> Set<ExactString> { numbers[key].flatMap { members[$0] } ?? [key] }

  /// Forgets keys whose changes are on both sides.
  mutating func remove(_ keys: some Sequence<ExactString>) {
    for key in keys {
      guard let number = numbers.removeValue(forKey: key) else { continue }
      members[number]?.remove(key)
      if members[number]?.isEmpty == true { members[number] = nil }
    }
  }
}
