// Gets the data keys of a store from the first provider that has its key, and changes the providers and keys.

package import KeptValues

extension SecretsDocument {
  /// Unlocks the data keys with the first provider that gives its key.
  ///
  /// If a passphrase is given, it must be right, whatever the other providers have.
  ///
  /// Throws `unavailable` with the reason of each provider, and `denied` for a wrong passphrase.
  /// It may run programs and take long: do not call it while holding a lock.
  /// - Parameter noteMisfit: called if a provider gives a key, and the wrapped keys are not of it.
  package func unlock(
    _ access: ProviderAccess, noteMisfit: () -> Void = {}
  ) throws(StoreError) -> DataKeys {
    if access.passphrase != nil { return try unlockWithPassphrase(access) }
    guard !providers.isEmpty else {
      throw StoreError(
        .unavailable,
        isPlain
          ? "the secrets of this store are not encrypted" : "no provider of a key is left; restore the file secrets")
    }
    var reasons: [String] = []
    let (asking, others) = (providers.filter(\.isPassphrase), providers.filter { !$0.isPassphrase })
    for provider in access.askPassphrase == nil ? providers : others + asking {
      var key: LockedBytes?
      do throws(StoreError) {
        let given = try self.key(of: provider, access)
        key = given
        return try unlock(provider, by: given)
      } catch {
        if key != nil { noteMisfit() }
        reasons.append("\(provider.name): \(error.message)")
      }
    }
    throw StoreError(.unavailable, "no provider has given the key of the secrets. " + reasons.joined(separator: ". "))
  }

  private func unlockWithPassphrase(_ access: ProviderAccess) throws(StoreError) -> DataKeys {
    guard let entry = providers.first(where: \.isPassphrase) else {
      throw StoreError(
        .unavailable, "a passphrase was given, but the secrets have none; add one, or call again without it")
    }
    return try unlock(with: entry, access)
  }

  /// Unlocks the data keys with one provider.
  ///
  /// Throws with the reason why that is not possible.
  package func unlock(with provider: ProviderEntry, _ access: ProviderAccess) throws(StoreError) -> DataKeys {
    try unlock(provider, by: key(of: provider, access))
  }

  private func key(of provider: ProviderEntry, _ access: ProviderAccess) throws(StoreError) -> LockedBytes {
    var access = access
    if !mayRunPrograms { access.mayRunPrograms = false }
    return try Provider(provider.parameters).key(of: id, access)
  }

  func unlock(_ provider: ProviderEntry, by key: LockedBytes) throws(StoreError) -> DataKeys {
    var unlocked: [UInt32: LockedBytes] = [:]
    for dataKey in keys {
      guard let sealed = provider.wrapped[ExactString("\(dataKey.number)")]?.asString.flatMap(Base64.decode) else {
        throw Members.damaged("a provider has no data key \(dataKey.number)")
      }
      let opened = try sealed.withUnsafeBufferPointer { sealed throws(StoreError) in
        try Seal.open(sealed, with: key, for: context(dataKey, provider.parameters))
      }
      guard let opened, opened.count == Seal.keyBytes else {
        throw StoreError(
          .denied,
          "\(provider.isPassphrase ? "the passphrase" : "its key") is not the one that was added, or the file secrets "
            + "was changed; give the right one, or restore it")
      }
      unlocked[dataKey.number] = opened
    }
    return DataKeys(store: id, current: keys.first(where: \.isCurrent)?.number ?? 0, keys: unlocked)
  }

  /// Everything that the file says of a wrapped key.
  private func context(_ key: DataKey, _ parameters: ValueDictionary) -> SealContext {
    var context = SealContext("kept data key 1", of: id)
    context.add(Value.dictionary(key.members).json.utf8)
    context.add(Value.dictionary(parameters).json.utf8)
    return context
  }

  private func wrapped(
    _ data: DataKeys, with key: LockedBytes, _ parameters: ValueDictionary
  ) throws(StoreError) -> ProviderEntry {
    var entry = ProviderEntry(parameters: parameters)
    for dataKey in keys {
      guard let bytes = data.keys[dataKey.number] else {
        throw Members.damaged("data key \(dataKey.number) is missing")
      }
      var sealed: [UInt8] = []
      try bytes.withBytes { bytes throws(StoreError) in
        try Seal.seal(bytes, with: key, for: context(dataKey, parameters), to: &sealed)
      }
      entry.wrapped[ExactString("\(dataKey.number)")] = .string(Base64.text(sealed))
    }
    return entry
  }
}

extension SecretsDocument.ProviderEntry {
  /// Describes the provider, for messages.
  package var name: String { (try? Provider(parameters).name) ?? "an unknown provider" }
  /// nil for a kind that this version does not know.
  package var provider: Provider? { try? Provider(parameters) }
  fileprivate var isPassphrase: Bool { parameters["kind"]?.asString == "passphrase" }
}

// MARK: - Changes

extension SecretsDocument {
  /// Begins to encrypt secrets: returns the first data key, wrapped with the key of a provider.
  package mutating func encrypt(
    with provider: Provider, _ key: LockedBytes, at time: Timestamp
  ) throws(StoreError) -> DataKeys {
    guard keys.isEmpty else {
      throw StoreError(.invalid, "the store has data keys already; add the provider to them")
    }
    var changed = self
    let data = try changed.makeKey(DataKeys(store: id, current: 0, keys: [:]), at: time)
    changed.isPlain = false
    changed.providers = [try changed.wrapped(data, with: key, provider.parameters)]
    self = changed
    return data
  }

  /// The paths and arguments of its programs.
  package var programs: Set<[ExactString]> {
    var programs: Set<[ExactString]> = []
    for entry in providers {
      if case .program(let arguments) = entry.provider { programs.insert(arguments.map { ExactString($0) }) }
    }
    return programs
  }

  /// Adds a provider at the end, or replaces the one that it renews.
  package mutating func add(_ provider: Provider, _ key: LockedBytes, to data: DataKeys) throws(StoreError) {
    let entry = try wrapped(data, with: key, provider.parameters)
    if case .program(let arguments) = provider {
      // Another program may be named by a backup alone.
      mayRunPrograms = mayRunPrograms || programs.isSubset(of: [arguments.map { ExactString($0) }])
    }
    if let index = providers.firstIndex(where: { $0.provider?.isRenewed(by: provider) == true }) {
      providers[index] = entry
    } else {
      providers.append(entry)
    }
  }

  /// Removes a provider.
  ///
  /// A person who had its key may also have the data keys: rotate them afterwards.
  package mutating func remove(_ provider: ProviderEntry) throws(StoreError) {
    guard providers.contains(provider) else {
      throw StoreError(.absent, "\(provider.name) is not a provider of this store; list them first")
    }
    guard providers.count > 1 else {
      throw StoreError(
        .invalid, "\(provider.name) is the only provider, and without it no secret can be read; add another one first")
    }
    providers.removeAll { $0 == provider }
  }

  /// Makes a new data key the current one; values that were sealed with the others can still be read.
  ///
  /// Throws `unavailable`, and changes nothing, if a provider does not give its key: it could not read the new secrets.
  package mutating func rotate(_ access: ProviderAccess, at time: Timestamp) throws(StoreError) -> DataKeys {
    var (changed, data, entries) = (self, nil as DataKeys?, [(ValueDictionary, LockedBytes)]())
    for entry in providers {
      do throws(StoreError) {
        let key = try key(of: entry, access)
        data = try unlock(entry, by: key)
        entries.append((entry.parameters, key))
      } catch {
        throw error.said { "the data key is not rotated, because of \(entry.name): \($0). Or remove that provider" }
      }
    }
    guard let data else { throw StoreError(.unavailable, "the store has no provider; add one first") }
    let rotated = try changed.makeKey(data, at: time)
    changed.providers = []
    for (parameters, key) in entries {
      changed.providers.append(try changed.wrapped(rotated, with: key, parameters))
    }
    self = changed
    return rotated
  }

  /// Forgets all data keys but the current one, once no value needs them.
  package mutating func forgetOldKeys() {
    let old = keys.filter { !$0.isCurrent }
    keys.removeAll { !$0.isCurrent }
    for index in providers.indices {
      for key in old { providers[index].wrapped[ExactString("\(key.number)")] = nil }
    }
  }

  private mutating func makeKey(_ data: DataKeys, at time: Timestamp) throws(StoreError) -> DataKeys {
    let (number, isOver) = (keys.map(\.number).max() ?? 0).addingReportingOverflow(1)
    guard !isOver else { throw StoreError(.failed, "the numbers of data keys are used up; make a new store") }
    for index in keys.indices { keys[index].isCurrent = false }
    let key = try LockedBytes.random(Seal.keyBytes)
    let publicKey = try KeyPair(of: key, number, id).publicKey
    keys.append(DataKey(number: number, created: time, publicKey: publicKey, isCurrent: true))
    var all = data.keys
    all[number] = key
    return DataKeys(store: id, current: number, keys: all)
  }
}
