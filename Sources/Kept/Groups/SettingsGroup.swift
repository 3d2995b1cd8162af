// Settings whose keys are the cases of an enum: the protocol of a group, and the names under which its keys are stored.

public import KeptCore
import KeptValues

/// A group of settings, with the cases of an enum as their keys.
///
/// ```swift
/// struct LoginSettings: SettingsGroup {
///   enum Keys: String, GroupKey { case userName, loginDate }
///   let store: Store
/// }
///
/// let login = LoginSettings(store: settings)
/// try login.set("Tom", forKey: .userName)       // the key "userName"
/// try login.string(forKey: .userName)           // "Tom"
/// ```
///
/// A key belongs to one group: if two group types use one key of the same location in a process, the later one gets a
/// `typeConflict`, whatever is stored there, until all stores on the location are closed. Use a ``namespace`` to
/// separate the names of groups.
public protocol SettingsGroup: Sendable {
  associatedtype Keys: GroupKey

  /// The store of the settings.
  var store: Store { get }

  /// The prefix of all key names, which is followed by a dot: with `"login"`, `userName` is `"login.userName"`.
  ///
  /// nil by default: the names are the enum's.
  static var namespace: String? { get }
}

/// The keys of a ``SettingsGroup``: an enum with text as raw values.
public protocol GroupKey: RawRepresentable<String>, Sendable {
  /// The name under which the key is stored, before the group's namespace; the raw value by default.
  var uniqueValue: String { get }
}

extension GroupKey {
  public var uniqueValue: String { rawValue }
}

extension SettingsGroup {
  /// The process's default store, for a group that does not specify one.
  public var store: Store { .default }

  public static var namespace: String? { nil }

  /// The key as it is in the store, for all operations of a store: observe it, declare it, write it in a transaction.
  ///
  /// Throws `typeConflict` if another group has it, and `invalid` if its name is not a valid key.
  public func key<Value: Storable>(_ key: Keys, as type: Value.Type = Value.self) throws(StoreError) -> Key<Value?> {
    let name = try KeyName(Self.namespace.map { "\($0).\(key.uniqueValue)" } ?? key.uniqueValue)
    try store.sharedAttachment { GroupClaims() }.claim(name, for: Self.self)
    return Key(name.text)
  }
}
