// What the observer of a key is told: the change, in the key's own type.

public import KeptCore

extension Key {
  /// One change of a key's value.
  ///
  /// Where a side has no stored value, or one that is not of the key's type, it is the key's default. `old` is what the
  /// subscription last told as `new`, or what it found when it was made. The C twin is `kept_notice`. In Python:
  /// `Change`.
  public struct Change: Sendable {
    /// The value before.
    public let old: Value
    /// The value after.
    public let new: Value
    /// What happened.
    public let event: Event
    /// Why `new` is the default although something is stored; nil when it is not so.
    public let error: StoreError?
    /// The commits that it tells of: one of this process, or one or more of others.
    public let revisions: ClosedRange<Revision>
    /// Who made it.
    public let origin: Notice.Origin
    /// What the writers of all these commits call themselves; nil where they do not agree.
    public let tag: String?
    /// Whether changes in between may have been missed; `new` is right all the same.
    public let mayHaveMissed: Bool

    /// The revision that the change leads up to.
    public var revision: Revision { revisions.upperBound }
    /// Whether nothing changed: this is the value at the time of subscribing.
    public var isInitial: Bool { event == .initial }
  }

  /// What a change came from.
  public enum Event: Sendable, Hashable {
    /// Nothing: it tells the value at the time of subscribing, and `old` equals `new`.
    case initial
    /// A value was written.
    case set
    /// The value was removed; `new` is the default.
    case removed
  }
}

extension Key.Change {
  /// The first change of a notice that is about one key; nil for a notice without any.
  init?(in notice: Notice, of key: Key<Value>) {
    guard let change = notice.changes.first else { return nil }
    do {
      new = try key.read(change.new)
      error = nil
    } catch {
      new = key.defaultValue
      self.error = error
    }
    if notice.origin == .initial {
      event = .initial
      old = new
    } else {
      event = change.new == nil ? .removed : .set
      old = (try? key.read(change.old)) ?? key.defaultValue
    }
    revisions = notice.revisions
    origin = notice.origin
    tag = notice.tag
    mayHaveMissed = notice.mayHaveMissed
  }
}
