// Reports that a program sets deprecated keys: through the error handler, once for each key and handle.

import KeptSchema
import KeptSystem
import KeptValues

/// The deprecated keys that a handle has reported.
final class Deprecations: Sendable {
  // For each key, the declaration that it was reported with; another declaration is reported again.
  private let reported = Monitor([KeyName: Declaration]())

  /// Whether the key has not been reported with this declaration yet.
  fileprivate func isNew(_ key: KeyName, _ declaration: Declaration) -> Bool {
    reported.updateQuietly { reported in
      guard reported[key] != declaration else { return false }
      reported[key] = declaration
      return true
    }
  }
}

extension Store {
  /// Reports deprecated keys and members that a commit has changed, disregarding values that were stored already.
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
