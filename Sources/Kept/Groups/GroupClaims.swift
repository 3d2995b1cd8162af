// The group that owns a key: the first one that uses it, while the process has the location open.

import KeptSystem
import KeptValues

/// The keys that groups have used at one location.
final class GroupClaims: Sendable {
  private let owners = Monitor<[KeyName: any SettingsGroup.Type]>([:])

  /// Claims a key for a group.
  ///
  /// Throws `typeConflict` if another group has it. Concurrent claims are serialized.
  func claim(_ key: KeyName, for group: any SettingsGroup.Type) throws(StoreError) {
    let owner = owners.update { owners in
      let owner = owners[key] ?? group
      owners[key] = owner
      return owner
    }
    guard owner == group else {
      throw StoreError(
        .typeConflict, key: key.text,
        """
        is a key of both \(String(reflecting: owner)) and \(String(reflecting: group)); give one of these groups a \
        namespace, or give its key another raw value
        """)
    }
  }
}
