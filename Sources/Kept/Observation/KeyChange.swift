// The change that an observer of a key receives, in the key's own type.

public import KeptCore
import KeptSystem
import KeptValues

extension Key {
  /// One change of a key's value.
  ///
  /// Both values are resolved over all layers. If no layer has a value of the key's type, it is the key's default.
  /// `old` is the last `new` that the subscription reported, or the value it read when it was created. In C:
  /// `kept_notice`. In Python: `Change`.
  public struct Change: Sendable {
    /// The value before.
    public let old: Value
    /// The value after.
    public let new: Value
    /// The kind of change.
    public let event: Event
    /// The layer that `new` comes from; nil if it is the key's own default.
    ///
    /// The layer may change while the value stays the same.
    public let layer: Layer?
    /// Why `new` is the default although a layer has a value; nil otherwise.
    ///
    /// An error thrown by a transformer is its ``StoreError/underlying`` error.
    public let error: StoreError?
    /// The revisions of the commits: one of this process, or one or more of others.
    public let revisions: ClosedRange<Revision>
    /// The origin of the change.
    public let origin: Notice.Origin
    /// The tag that the writers of all these commits set; nil if they differ.
    public let tag: String?
    /// When the last of these commits was made, by the wall clock, which may be set back; see ``Notice/time``.
    public let time: Timestamp
    /// Whether intermediate changes may be missing; `new` is correct in any case.
    public let mayHaveMissed: Bool

    /// The revision after the change.
    public var revision: Revision { revisions.upperBound }
    /// Whether this is not a change but the value at the time of subscribing.
    public var isInitial: Bool { event == .initial }
    /// The new value, or why there is none; an error thrown by a transformer is unchanged.
    public var result: Result<Value, any Error> { error.map { .failure($0.cause) } ?? .success(new) }
  }

  public typealias Event = KeptCore.Change.Event
}

extension KeptCore.Change {
  /// The kind of change of a value.
  public enum Event: Sendable, Hashable {
    /// The value at the time of subscribing; `old` equals `new`.
    case initial
    /// A value was written, or another layer with a value now decides.
    case set
    /// The value was removed; `new` is a default: a registered one, a declared one or the key's own.
    case removed
    /// One default has replaced another.
    case defaultChanged
  }
}

extension Key.Change {
  /// The first change of a notice that is about one key; nil for a notice without changes.
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
    time = notice.time
    mayHaveMissed = notice.mayHaveMissed
  }
}

extension Key.Change {
  /// The change with both values converted; the other properties are unchanged, including ``error``.
  ///
  /// Throws what `transform` throws.
  public func map<Mapped>(_ transform: (Value) throws -> Mapped) rethrows -> Key<Mapped>.Change {
    telling(try transform(old), try transform(new))
  }

  /// The change with other values.
  func telling<Other>(_ old: Other, _ new: Other) -> Key<Other>.Change {
    Key<Other>.Change(
      old: old, new: new, event: event, layer: layer, error: error, revisions: revisions, origin: origin, tag: tag,
      time: time, mayHaveMissed: mayHaveMissed)
  }

  /// The change with both values decoded.
  func map<Mapped>(_ decode: (Value) throws -> Mapped, else undecodable: (Value) -> Mapped) -> Key<Mapped>.Change {
    func decoded(_ value: Value) -> (Mapped, failure: (any Error)?) {
      do { return (try decode(value), nil) } catch { return (undecodable(value), error) }
    }
    let (new, failure) = decoded(new)
    let error = error ?? failure.map { StoreError(untransforming: $0) }
    return Key<Mapped>.Change(
      old: decoded(old).0, new: new, event: event, layer: error == nil ? layer : nil, error: error,
      revisions: revisions, origin: origin, tag: tag, time: time, mayHaveMissed: mayHaveMissed)
  }
}

/// Changes are equal if all their properties are; two errors are equal if their messages are.
extension Key.Change: Equatable where Value: Equatable {
  public static func == (a: Self, b: Self) -> Bool {
    a.old == b.old && a.new == b.new && a.event == b.event && a.layer == b.layer && a.revisions == b.revisions
      && a.origin == b.origin && a.tag == b.tag && a.time == b.time && a.mayHaveMissed == b.mayHaveMissed
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
  /// Whether it is a layer of values, not of defaults.
  fileprivate var hasValue: Bool { map { $0 > .registered } ?? false }
}

/// The texts that the text layers have for a key, which a change reads as its own type, and the store whose defaults
/// apply.
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
