// What a migration is: one step from a shape of a program's settings to the next, and what came of running them.

/// A step that leads to a schema version.
///
/// ```swift
/// Migration(to: 1, "volume becomes audio.volume") { try $0.rename("volume", to: "audio.volume") }
/// ```
///
/// The step reads and writes through the transaction it is given, and must have no effect elsewhere: it is run again
/// when another process writes meanwhile. The C twin is `kept_migration`. In Python: `kept.Migration`.
public struct Migration: Sendable {
  /// The schema version that the step leads to, 1 or above.
  public let version: UInt32
  /// What it does, for errors.
  public let name: String
  let run: @Sendable (Transaction) throws -> Void

  public init(to version: UInt32, _ name: String, _ run: @escaping @Sendable (Transaction) throws -> Void) {
    self.version = version
    self.name = name
    self.run = run
  }
}

/// A step that failed: nothing was changed.
public struct MigrationFailure: Error, CustomStringConvertible {
  /// The schema version to which the step leads.
  public let version: UInt32
  /// What the step is called.
  public let name: String
  /// What it threw, unchanged.
  public let reason: any Error

  public var description: String {
    "the migration to version \(version), \"\(name)\", failed, and nothing was changed: \(reason)"
  }

  /// The failure for those who cannot catch any other.
  package var asStoreError: StoreError {
    let reason = reason as? StoreError
    return StoreError(reason?.code ?? .failed, offset: reason?.offset, description)
  }
}

/// What ``Store/migrate(_:whileOthersDo:ofLaterVersion:backup:)`` came to.
public enum Migrated: Sendable, Hashable {
  /// The store had the version of the last step already.
  case nothing
  /// The steps were run, and the store has the version of the last one.
  ///
  /// - Parameter backup: the path of the copy that was made before; nil: there is none.
  case from(version: UInt32, backup: String?)
  /// Nothing was stored: the store has the version of the last step now, and none was run.
  case fresh
  /// Another process is at it: read on, and migrate again before you write.
  case elsewhere
  /// The store is of a later version, and this handle only reads it.
  case readOnly(version: UInt32)
}

/// What to do while another process migrates.
public enum MigrationPatience: Sendable, Hashable {
  /// Waits for it, as long as the busy time-out; then `busy`.
  case wait
  /// Does not wait: ``Migrated/elsewhere``.
  case carryOn
}

/// What to do with a store of a later version than the last step's.
public enum LaterVersion: Sendable, Hashable {
  /// `unsupported`: the program is not to touch what it does not know.
  case refuse
  /// The handle goes on reading; all its writes are `denied`.
  case readOnly
}
