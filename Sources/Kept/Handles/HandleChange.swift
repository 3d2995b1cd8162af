// What the observers of a handle are told: the change, in the handle's own type.

public import KeptCore

extension Handle {
  /// One change of a handle's value; of a mapped handle both values are the mapped ones.
  ///
  /// It is ``Key/Change`` for types that need not be `Storable`, and with errors of conversions as they were thrown.
  public struct Change: Sendable {
    /// The value before.
    public let old: Value
    /// The value after; where it is removed or cannot be read, the default.
    public let new: Value
    /// What happened.
    public let event: KeptCore.Change.Event
    /// Which layer `new` comes from; nil: it is a default.
    public let layer: Layer?
    /// Why `new` is the default although a layer has a value; nil when it is not so.
    public let error: (any Error)?
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
    /// The new value, or why there is none.
    public var result: Result<Value, any Error> { error.map { .failure($0) } ?? .success(new) }
  }
}

extension Handle.Change where Value: Storable {
  init(_ change: Key<Value>.Change) {
    (old, new, event, layer, error) = (change.old, change.new, change.event, change.layer, change.error)
    (revisions, origin, tag) = (change.revisions, change.origin, change.tag)
    mayHaveMissed = change.mayHaveMissed
  }
}

extension Handle.Change {
  /// The same with both values decoded.
  init<Base>(_ change: Handle<Base>.Change, _ decode: (Base) throws -> Value, else undecodable: (Base) -> Value) {
    var failure = change.error
    do { new = try decode(change.new) } catch {
      new = undecodable(change.new)
      failure = failure ?? error
    }
    do { old = try decode(change.old) } catch { old = undecodable(change.old) }
    (event, layer, error) = (change.event, failure == nil ? change.layer : nil, failure)
    (revisions, origin, tag) = (change.revisions, change.origin, change.tag)
    mayHaveMissed = change.mayHaveMissed
  }
}
