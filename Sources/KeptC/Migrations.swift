// The section "Migrations" of kept.h: changing the shape of settings.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_schema_version") @implementation
public func kept_schema_version(
  _ store: OpaquePointer?, _ version: UnsafeMutablePointer<UInt32>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try version.required("version"))
    out.pointee = try store.schemaVersion()
  }
}

@_cdecl("kept_migrate") @implementation
public func kept_migrate(
  _ store: OpaquePointer?, _ steps: UnsafePointer<kept_migration>?, _ count: Int, _ flags: UInt32,
  _ result: UnsafeMutablePointer<UInt32>?, _ backup: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let store = try store.store()
    try checkFlags(flags, KEPT_MIGRATE_CONFIRMED << 1 - 1, "KEPT_MIGRATE_…")
    // C counts are unsigned: a negative number here is a huge one there.
    guard 0...mostSteps ~= count else {
      throw StoreError(.invalid, "there are \(UInt(bitPattern: count)) steps; at most \(mostSteps) are allowed")
    }
    let steps = UnsafeBufferPointer(start: count > 0 ? try steps.required("steps") : nil, count: count)
    var migrations: [Migration] = []
    for step in steps { migrations.append(try Migration(step, isConfirmed: flags & KEPT_MIGRATE_CONFIRMED != 0)) }
    var found: UInt32 = 0
    try copied(to: backup) { () throws(StoreError) in
      let migrated = try store.migrating(migrations, flags)
      found = migrated.inC
      return migrated.backup
    }
    result?.pointee = found
  }
}

/// The most steps of a migration.
///
/// A larger count is a mistake, and the array is not that long.
private let mostSteps = 1 << 16

@_cdecl("kept_rename") @implementation
public func kept_rename(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ to: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let (settings, key, other) = (try store.settings(), try key.text("key"), try to.text("to"))
    guard try settings.rename(key, to: other) else {
      throw StoreError(.absent, key: key, "is neither stored nor declared, so it cannot be renamed")
    }
    let name = try KeyName(other)
    return settings.layerHiding(name).map { StoreError.shadowed(name, by: $0) }
  }
}

extension Store {
  /// Migrates; the failure of a step is converted to a C error.
  fileprivate func migrating(_ steps: [Migration], _ flags: UInt32) throws(StoreError) -> Migrated {
    do {
      return try migrate(
        steps, whileOthersDo: flags & KEPT_MIGRATE_CARRY_ON == 0 ? .wait : .carryOn,
        ofLaterVersion: flags & KEPT_MIGRATE_READ_ONLY == 0 ? .refuse : .readOnly,
        backup: flags & KEPT_MIGRATE_NO_BACKUP == 0)
    } catch let failure as MigrationFailure {
      throw failure.asStoreError
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.failed, "the migration failed, and nothing was changed: \(error)")
    }
  }
}

extension Migration {
  /// - Parameter isConfirmed: the callback's return value is ignored; its result is the status that it has written.
  fileprivate init(_ step: kept_migration, isConfirmed: Bool) throws(StoreError) {
    try checkReserved(step.reserved)
    let name = try step.name.text("name")
    let run = try step.run.required("run")
    // The C program is responsible for its callback's use of it, on the thread that migrates.
    nonisolated(unsafe) let context = step.context
    self.init(to: step.version, name) { transaction in
      transaction.isLent = true
      let handle = try Handles.handle(of: transaction)
      defer { Handles.transactions.remove(UInt(bitPattern: handle)) }
      var error = kept_error()
      if isConfirmed { error.expectFailure() }
      let returned = run(context, handle, &error)
      let status = isConfirmed ? error.status : returned
      if status < 0 { throw error.asStoreError(status) }
      guard !transaction.hasEnded else {
        throw StoreError(
          .unsupported, "a step cannot roll back the transaction of its migration; let the step fail instead")
      }
    }
  }
}

extension kept_error {
  /// Sets the failure that applies until a confirming callback has written another result.
  fileprivate mutating func expectFailure() {
    withUnsafeMutablePointer(to: &self) { $0.fill(StoreError(.failed, "the step did not finish")) }
  }

  /// The failure of a callback; its message may be missing.
  fileprivate func asStoreError(_ status: kept_status) -> StoreError {
    let sentence = withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let code = StoreError.Code(rawValue: status)
    return StoreError(code, sentence.isEmpty ? "the step returned \"\(code)\"" : sentence)
  }
}

extension Migrated {
  fileprivate var inC: UInt32 {
    switch self {
    case .nothing: KEPT_MIGRATED_NOTHING
    case .from: KEPT_MIGRATED
    case .fresh: KEPT_MIGRATED_FRESH
    case .elsewhere: KEPT_MIGRATED_ELSEWHERE
    case .readOnly: KEPT_MIGRATED_READ_ONLY
    }
  }

  fileprivate var backup: String? {
    if case .from(_, let backup) = self { backup } else { nil }
  }
}
