// Telling a program that it sets what is deprecated: through the error handler, once for each key and handle.

/// What a handle has told of deprecated keys.
final class Deprecations: Sendable {
  // Of each key the declaration by which it was told; another one is told anew.
  private let told = Monitor([KeyName: Declaration]())

  /// Whether it is the first time that a key with this declaration is told of.
  fileprivate func isNew(_ key: KeyName, _ declaration: Declaration) -> Bool {
    told.updateQuietly { told in
      guard told[key] != declaration else { return false }
      told[key] = declaration
      return true
    }
  }
}

extension Store {
  /// Reports what a commit has changed and is deprecated; what was stored already is not asked for again.
  func reportDeprecated(in commit: Commit) {
    for change in commit.changes where change.isOfValue {
      guard let value = change.new.value, let declaration = change.new.declaration else { continue }
      report(value, of: change.key, by: declaration)
    }
  }

  private func report(_ value: Value, of key: KeyName, by declaration: Declaration) {
    guard let error = declaration.deprecation(of: value), deprecations.isNew(key, declaration) else { return }
    report(error.about(key.text))
  }
}
