// Migrations: a step from one shape of a program's settings to the next, and the result of running the steps.

package import KeptValues

/// A step that leads to a schema version.
///
/// ```swift
/// Migration(to: 1, "volume becomes audio.volume") { try $0.rename("volume", to: "audio.volume") }
/// ```
///
/// The step reads and writes through the transaction that it receives, and must have no effect outside it: it is run
/// again when another process writes at the same time. In C: `kept_migration`. In Python: `kept.Migration`.
public struct Migration: Sendable {
  /// The schema version that the step leads to, 1 or above.
  public let version: UInt32
  /// A description for errors.
  public let name: String
  let run: @Sendable (Transaction) throws -> Void

  public init(to version: UInt32, _ name: String, _ run: @escaping @Sendable (Transaction) throws -> Void) {
    self.version = version
    self.name = name
    self.run = run
  }
}

/// A step that failed.
///
/// Nothing was changed.
public struct MigrationFailure: Error, CustomStringConvertible {
  /// The schema version to which the step leads.
  public let version: UInt32
  /// The description of the step.
  public let name: String
  /// The error that the step threw, unchanged.
  public let reason: any Error

  public var description: String {
    "the migration to version \(version), \"\(name)\", failed, and nothing was changed: \(reason)"
  }

  /// The failure for callers that can only catch a store error.
  package var asStoreError: StoreError {
    let reason = reason as? StoreError
    return StoreError(reason?.code ?? .failed, offset: reason?.offset, description)
  }
}

/// The result of ``Store/migrate(_:whileOthersDo:ofLaterVersion:backup:)``.
public enum Migrated: Sendable, Hashable {
  /// The store had the version of the last step already.
  case nothing
  /// The steps ran, and the store has the version of the last one.
  ///
  /// - Parameter backup: the path of the copy that was made before; nil if there is none.
  case from(version: UInt32, backup: String?)
  /// Nothing was stored: the store has the version of the last step now, and no step ran.
  case fresh
  /// Another process is migrating: continue to read, and migrate again before you write.
  case elsewhere
  /// The store has a later version, and this handle only reads it.
  case readOnly(version: UInt32)
}

/// What to do while another process migrates.
public enum MigrationPatience: Sendable, Hashable {
  /// Waits for it, up to the busy timeout; then throws `busy`.
  case wait
  /// Does not wait: returns ``Migrated/elsewhere``.
  case carryOn
}

/// What to do with a store of a later version than the last step's.
public enum LaterVersion: Sendable, Hashable {
  /// Throws `unsupported`: the program must not change data of an unknown shape.
  case refuse
  /// The handle continues to read; all its writes throw `denied`.
  case readOnly
}
