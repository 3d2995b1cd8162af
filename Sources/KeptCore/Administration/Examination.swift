// Examining a store: its contents, its layers and its surroundings, also if it cannot be opened.

import KeptSchema
public import KeptValues

extension StorePlace {
  /// The result of ``examine(options:progress:)``.
  public struct Examination: Sendable {
    /// Why the store cannot be opened comes first, and facts about its place come last.
    public internal(set) var findings: [Finding]
    /// What is stored; nil if the store cannot be opened, so that its contents were not examined.
    public internal(set) var verification: Verification?
  }

  /// Reads everything: the files and their checksums, all values and declarations, the files of the layers, permissions
  /// and owners, the file system, and which processes have the store open.
  ///
  /// A store that cannot be opened is a finding, and not an error; then everything that may be the reason is found. No
  /// store is created, and nothing is repaired except what every opening repairs. A store that this process has open is
  /// examined as it is. In C: `kept_findings_json`. In Python: `kept.findings(location)`.
  ///
  /// Throws `unavailable` if there is no store, and what ``Store/verify(progress:)`` throws.
  /// - Parameters:
  ///   - options: those of the program, so that its layers are examined, too.
  ///   - progress: as for ``Store/verify(progress:)``.
  public func examine(
    options: StoreOptions = StoreOptions(), progress: TransferProgress? = nil
  ) throws(StoreError) -> Examination {
    if state == .absent || state == .folder {
      let found = state == .absent ? "does not exist" : "is a folder without a store"
      throw StoreError(
        .unavailable,
        "there is no store \(location): \(folder ?? "") \(found); a program creates it when it first opens the store")
    }
    var (given, bare) = (options, StoreOptions(errorHandler: { _ in }))
    if !given.hasErrorHandler { given.errorHandler = { _ in } }
    (bare.busyTimeoutMilliseconds, bare.isReadOnly) = (options.busyTimeoutMilliseconds, options.isReadOnly)
    var findings: [Finding] = []
    let store: Store
    do throws(StoreError) { store = try Store.open(location, options: given) } catch {
      findings.append(Finding(.damage, "the store cannot be opened: \(error.description)"))
      // The administrator's files may be the reason. Then the rest is examined all the same.
      guard let opened = try? Store.open(location, options: bare) else {
        return Examination(findings: findings + (folder.map(Obstacles.findings(for:)) ?? []))
      }
      findings += administratorsFiles(options).flatMap(Obstacles.findings(forAdministrators:))
      store = opened
    }
    defer { store.close() }
    let found = try store.verify(progress: progress)
    findings +=
      try contents(of: store, found) + locked(found) + salvage(of: store) + misfits(found) + lostDeclarations(store)
    findings += try ignored(in: store) + layers(of: store) + secrets(of: store) + surroundings(of: store)
    return Examination(findings: findings, verification: found)
  }

  private func administratorsFiles(_ options: StoreOptions) -> [String] {
    let sources = try? LayerSources(
      managed: options.managed, system: options.system, arguments: nil, environmentPrefix: nil,
      identifier: Location.identifier(in: location))
    return sources?.files.map(\.path) ?? []
  }

  // MARK: - Contents

  private func contents(of store: Store, _ found: Verification) -> [Finding] {
    // A salvage may find the values next to a damaged place.
    let isSalvaged = found.damage.contains { $0.key == nil }
    return found.damage.map { damage in
      Finding(
        .damage, damage.description,
        remedy: isSalvaged
          ? "close the store everywhere; the next program that opens it salvages the readable data"
          : "set the key again, or remove it with kept doctor --repair",
        key: damage.key, isRepairable: !isSalvaged)
    }
  }

  private func locked(_ found: Verification) -> [Finding] {
    found.locked.map { Finding(.attention, $0.description, key: $0.key) }
  }

  private func salvage(of store: Store) throws(StoreError) -> [Finding] {
    guard let note = try store.salvaged() else { return [] }
    let lost = note.lostKeys.count == 1 ? "1 key" : "\(note.lostKeys.count) keys"
    let losses =
      note.lostKeys.isEmpty
      ? "values and declarations of unknown keys may be missing or older"
      : "values of \(lost) are lost, and others may be missing or older"
    let whole = Finding(
      .attention, "the store was damaged and salvaged; \(losses); the damaged files are in \(note.quarantine)",
      remedy: "compare the store with a backup (kept diff), then acknowledge the salvage with kept doctor --repair",
      isRepairable: true)
    let stored = note.lostKeys.isEmpty ? [] : Set(try store.snapshot().storedKeys(prefix: ""))
    return [whole]
      + note.lostKeys.map { key in
        let fate = stored.contains(key) ? "may be older than its last commit" : "was lost"
        return Finding(
          .attention, "the value of \"\(key)\" \(fate)",
          remedy: key.text.has("=") ? "set it again with kept transaction" : "kept set \(words(key.text)) VALUE",
          key: key.text, isRepairable: true)
      }
  }

  private func misfits(_ found: Verification) -> [Finding] {
    found.misfits.map { key in
      let reset = "kept reset \(words(key))"
      return Finding(
        .attention, "the value of \"\(key)\" does not match its declaration and reads as absent",
        // `set` would take the text before the sign for the key.
        remedy: key.has("=") ? reset : "kept set \(words(key)) VALUE, or \(reset)", key: key)
    }
  }

  private func lostDeclarations(_ store: Store) -> [Finding] {
    declarations(of: store).filter { $0.declaration == .lost }.map { key, _ in
      Finding(
        .attention, "\"\(key)\" may have lost its declaration, so its value is treated as secret",
        remedy: "start the program that declares it, or, to show the value, kept undeclare \(words(key.text))",
        key: key.text)
    }
  }

  /// Secrets that are not encrypted.
  private func secrets(of store: Store) -> [Finding] {
    guard let status = try? store.secretsStatus(), declarations(of: store).contains(where: { $0.declaration.isSecret })
    else { return [] }
    let command = "kept secrets \(ShellWords.text([location]))"
    switch status.state {
    case .undecided:
      let plain = "; \(status.unsealed == 1 ? "1 has" : "\(status.unsealed) have") a plain value from before"
      return [
        Finding(
          status.unsealed == 0 ? .note : .attention,
          "no one has decided how secrets are stored, so none can be set\(status.unsealed == 0 ? "" : plain)",
          remedy: "\(command) init --systemd-creds, or another way")
      ]
    case .plain:
      return [
        Finding(
          .note, "secrets are stored as they are, and anyone who can read the files can read them",
          remedy: "\(command) init --systemd-creds, or another way")
      ]
    case .encrypted:
      let count = status.unsealed == 1 ? "1 secret is" : "\(status.unsealed) secrets are"
      let unsealed = Finding(
        .attention, "\(count) not encrypted with the present key", remedy: "\(command) rotate")
      let copies = (try? store.plainCopies()) ?? []
      return (status.unsealed > 0 ? [unsealed] : [])
        + copies.map { path in
          Finding(
            .attention, "\(path) is older than the encryption of secrets, and may have them in plain",
            remedy: "remove it, or replace the secrets")
        }
    }
  }

  // MARK: - Layers

  /// Stored values that programs do not read, because the key is locked.
  private func ignored(in store: Store) -> [Finding] {
    ((try? store.snapshot().storedKeys(prefix: "")) ?? []).compactMap { key in
      // A value that cannot be read is found as damage.
      guard let layers = try? store.explain(key.text).layers,
        layers.contains(where: { $0.layer == .user && $0.outcome == .ignored })
      else { return nil }
      let file = layers.first { $0.layer == .managed }?.source ?? "the managed layer"
      return Finding(
        .note, "the stored value of \"\(key)\" is ignored, because \(file) locks the key",
        remedy: "kept reset --no-layers \(words(key.text))", key: key.text)
    }
  }

  /// The mistakes in the files of the layers, and in the values of declared keys.
  private func layers(of store: Store) throws(StoreError) -> [Finding] {
    let correct = "correct the file; it is read again automatically"
    let files = try store.layerFiles().compactMap(\.problem)
    var findings = files.map { Finding(.attention, $0, remedy: correct) }
    var known = Set(files.map { ExactString($0) })
    for (key, _) in declarations(of: store) {
      // A secret that is locked is found elsewhere.
      let layers = (try? store.explain(key.text).layers) ?? []
      for layer in layers where layer.layer != .user {
        guard let problem = layer.problem, known.insert(ExactString(problem)).inserted else { continue }
        let source = layer.source.map { ", \($0)" } ?? ""
        findings.append(
          Finding(
            .attention, "the \(layer.layer) layer\(source), \"\(key)\": \(problem)",
            remedy: layer.layer == .environment ? "correct the variable" : correct, key: key.text))
      }
    }
    return findings
  }

  /// Empty if one of them cannot be read, which is found as damage.
  private func declarations(of store: Store) -> [(key: KeyName, declaration: Declaration)] {
    (try? store.declarations().declarations) ?? []
  }

  /// This store and a key as words of a command line of `kept`.
  private func words(_ key: String) -> String {
    let words = [location, key]
    return (words.contains { $0.begins(with: "-") } ? "-- " : "") + ShellWords.text(words)
  }
}

extension String {
  fileprivate func has(_ sign: Unicode.Scalar) -> Bool { unicodeScalars.contains(sign) }
}
