// The history of a store in a folder, and the note of a salvage.

import KeptEngine
import KeptSchema
public import KeptValues

extension LocalStorage: HistoricalStorage {
  func history(in scope: Scope) throws(StoreError) -> History {
    defer { engine.endChange() }
    return try engine.past { past, chain throws(StoreError) in try History(past, in: scope, chain) }
  }

  func historyAndEntries(in scope: Scope) throws(StoreError) -> (History, StoredEntries) {
    defer { engine.endChange() }
    return try engine.past { past, chain throws(StoreError) in
      (try History(past, in: scope, chain), try chain.entries(in: [scope]))
    }
  }

  func historyLimits() throws(StoreError) -> HistoryLimits {
    try engine.read { chain throws(StoreError) in HistoryLimits(stored: chain.limits.isEmpty ? nil : chain.limits) }
  }

  func set(_ limits: HistoryLimits) throws(StoreError) {
    try engine.commit(timeoutMilliseconds: Int64(busyTimeoutMilliseconds)) { chain, frames throws(StoreError) in
      try frames.begin(FrameHead(writer: engine.author, revision: chain.revision, time: now()))
      try frames.add(.historyLimits, ExactString(limits.json))
      try frames.end()
    }
  }
}

extension LocalStorage {
  public func salvaged() throws(StoreError) -> SalvageNote? {
    try engine.read { chain throws(StoreError) in chain.salvageNote(in: path) }
  }

  public func acknowledgeSalvage() throws(StoreError) {
    guard try salvaged() != nil else { return }
    try engine.commit(timeoutMilliseconds: Int64(busyTimeoutMilliseconds)) { chain, frames throws(StoreError) in
      try frames.begin(FrameHead(writer: engine.author, revision: chain.revision, time: now()))
      try frames.add(.acknowledged)
      try frames.end()
    }
  }
}

extension History {
  /// The past changes in a scope.
  ///
  /// The new value of a change is the old value of its key's next change, or the present one.
  init(_ past: Past, in scope: Scope, _ chain: Chain) throws(StoreError) {
    self.init(changes: [], completeAfter: past.completeAfter)
    var following: [KeyName: PastValue] = [:]
    for change in past.changes.reversed() where scope.contains(change.key) {
      let old = try PastValue(change.old)
      let new = if let known = following[change.key] { known } else { try PastValue(of: change.key, chain) }
      changes.append(
        PastChange(
          key: change.key, revision: change.revision,
          time: Timestamp(nanosecondsSince1970: change.time.multipliedReportingOverflow(by: 1_000_000).partialValue),
          old: old, new: new, tag: change.tag, first: change.first, isTorn: false, sealed: change.old.sealed))
      following[change.key] = old
    }
    changes = changes.inOrder(of: { .max - $0.revision }, then: \.key.exact)
  }
}

extension PastValue {
  fileprivate init(_ old: OldValue) throws(StoreError) {
    self =
      switch old {
      case .absent: .absent
      case .value where old.sealed != nil: .secret
      case .value: try old.value().map { .value($0) } ?? .unknown
      case .secret: .secret
      case .notKept: .notKept
      case .forgotten: .unknown
      }
  }

  /// The present value of a key.
  fileprivate init(of key: KeyName, _ chain: Chain) throws(StoreError) {
    do throws(StoreError) {
      let entry = Entry(try chain.state(of: key))
      self =
        switch entry?.value {
        case nil: .absent
        case _ where entry?.declaration?.isSecret == true: .secret
        case let value?: .value(value)
        }
    } catch {
      guard error.isOfValue else { throw error }
      self = error.code == .corrupt ? .unknown : .secret
    }
  }
}

extension StoredChange {
  /// Whether files have bytes of the key that are secret, and no longer its value or its declaration.
  var erases: Bool {
    guard let old, let declaration = old.declaration, declaration.isSecret else {
      return new.declaration?.isSecret == true
    }
    return isOfValue && old.value != nil || new.declaration != declaration
  }
}
