// What the observer of a key is told: the change, in the key's own type.

public import KeptCore

extension Key {
  /// One change of a key's value.
  ///
  /// Both values are those that the layers agree upon. Where none has a value, or one that is not of the key's type, it
  /// is the key's default. `old` is what the
  /// subscription last told as `new`, or what it found when it was made. The C twin is `kept_notice`. In Python:
  /// `Change`.
  public struct Change: Sendable {
    /// The value before.
    public let old: Value
    /// The value after.
    public let new: Value
    /// What happened.
    public let event: Event
    /// Which layer `new` comes from; nil: it is the key's own default.
    ///
    /// It may be another one than before while the value stays the same.
    public let layer: Layer?
    /// Why `new` is the default although a layer has a value; nil when it is not so.
    ///
    /// What a transformer threw is its ``StoreError/underlying`` error.
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
    /// The new value, or why there is none; what a transformer threw comes unchanged.
    public var result: Result<Value, any Error> { error.map { .failure($0.cause) } ?? .success(new) }
  }

  public typealias Event = KeptCore.Change.Event
}

extension KeptCore.Change {
  /// What a change of a value came from.
  public enum Event: Sendable, Hashable {
    /// Nothing: it tells the value at the time of subscribing, and `old` equals `new`.
    case initial
    /// A value was written, or a layer came to decide that has one.
    case set
    /// The value was removed; `new` is a default: a registered one, a declared one or the key's own.
    case removed
    /// One default has taken the place of another.
    case defaultChanged
  }
}

extension Key.Change {
  /// The first change of a notice that is about one key; nil for a notice without any.
  init?(in notice: Notice, of key: Key<Value>, _ texts: LayerTexts) {
    guard let change = notice.changes.first else { return nil }
    do throws(StoreError) {
      new = try key.read(change.new, in: texts.store, from: change.newLayer, texts[change.newLayer])
      layer = change.newLayer
      error = nil
    } catch {
      (new, layer) = (key.defaultValue(in: texts.store), nil)
      self.error = change.isSecret ? error.ofSecret : error
    }
    event = .init(of: change, isInitial: notice.origin == .initial)
    if event == .initial {
      old = new
    } else {
      let read = try? key.read(change.old, in: texts.store, from: change.oldLayer, texts[change.oldLayer])
      old = read ?? key.defaultValue(in: texts.store)
    }
    revisions = notice.revisions
    origin = notice.origin
    tag = notice.tag
    mayHaveMissed = notice.mayHaveMissed
  }
}

extension Key.Change {
  /// The same change with both values converted; all else stays, also ``error``.
  ///
  /// Throws what `transform` throws.
  public func map<Mapped>(_ transform: (Value) throws -> Mapped) rethrows -> Key<Mapped>.Change {
    telling(try transform(old), try transform(new))
  }

  /// The same with other values.
  func telling<Other>(_ old: Other, _ new: Other) -> Key<Other>.Change {
    Key<Other>.Change(
      old: old, new: new, event: event, layer: layer, error: error, revisions: revisions, origin: origin, tag: tag,
      mayHaveMissed: mayHaveMissed)
  }

  /// The same with both values decoded.
  func map<Mapped>(_ decode: (Value) throws -> Mapped, else undecodable: (Value) -> Mapped) -> Key<Mapped>.Change {
    func decoded(_ value: Value) -> (Mapped, failure: (any Error)?) {
      do { return (try decode(value), nil) } catch { return (undecodable(value), error) }
    }
    let (new, failure) = decoded(new)
    let error = error ?? failure.map { StoreError(untransforming: $0) }
    return Key<Mapped>.Change(
      old: decoded(old).0, new: new, event: event, layer: error == nil ? layer : nil, error: error,
      revisions: revisions, origin: origin, tag: tag, mayHaveMissed: mayHaveMissed)
  }
}

/// Equal changes tell the same of the same values; two errors are the same if they say the same.
extension Key.Change: Equatable where Value: Equatable {
  public static func == (a: Self, b: Self) -> Bool {
    a.old == b.old && a.new == b.new && a.event == b.event && a.layer == b.layer && a.revisions == b.revisions
      && a.origin == b.origin && a.tag == b.tag && a.mayHaveMissed == b.mayHaveMissed
      && a.error?.code == b.error?.code && a.error?.description == b.error?.description
  }
}

extension Change.Event {
  fileprivate init(of change: Change, isInitial: Bool) {
    self =
      if isInitial { .initial } else if change.newLayer.hasValue { .set } else {
        change.oldLayer.hasValue ? .removed : .defaultChanged
      }
  }
}

extension Layer? {
  /// Whether it is a layer of values, and not one of defaults.
  fileprivate var hasValue: Bool { map { $0 > .registered } ?? false }
}

/// What the layers of text have for a key, a change tells a value of its own choice; and whose defaults it reads as.
struct LayerTexts: Sendable {
  private let arguments: TextValue?
  private let environment: TextValue?
  let store: StoreIdentity

  init(of key: KeyName, in store: Store) {
    (arguments, environment) = (store.text(of: key, in: .arguments), store.text(of: key, in: .environment))
    self.store = store.identity
  }

  subscript(layer: Layer?) -> TextValue? {
    switch layer {
    case .arguments: arguments
    case .environment: environment
    default: nil
    }
  }
}
