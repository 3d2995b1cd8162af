// A typed key: a name, the type of its value, its stored form, and the default.

public import KeptCore
import KeptSchema
import KeptValues

/// A key with the type of its value.
///
/// List keys in an extension of ``Keys``. Type, constraints, summary and `secret` apply to every process and language
/// once the key is declared in the store: `settings.declare(.volume)`.
///
/// The default is evaluated on first use, once for each open store, on the reading thread, and never while a lock is
/// held: it may read a store itself. A thread that waits longer than two seconds for another thread's evaluation
/// evaluates the default itself, because the other thread may be waiting for it, and the first result is used. The
/// default is not stored unless `persistDefault` requests it. Registered and declared defaults take precedence over it.
///
/// Use a ``Transformer`` for a value whose type is not ``Storable``, or that is to be stored in another form than its
/// own:
///
/// ```swift
/// static let frame = Key("window.frame", default: Frame.zero, through: .json)
/// static let mark  = Key<Mark?>("mark", through: .propertyList)
/// ```
public final class Key<Value: Sendable>: Keys, @unchecked Sendable {
  /// The name under which the value is stored: 1 to 1024 bytes of UTF-8 without NUL, compared byte by byte.
  ///
  /// With any other name, every call that uses the key fails with `invalid`.
  public let name: String

  // @unchecked is inherited; everything here is constant and Sendable.
  private let checked: Result<PreparedKey, StoreError>
  /// The bytes for a lookup in the index; `none` for an invalid name.
  let prepared: PreparedBytes
  /// The same bytes if the index has the value unconverted; else `none`.
  @usableFromInline let bytes: PreparedBytes
  let coding: KeyCoding<Value>
  private let lazyDefault: LazyDefault<Value>
  let description: KeyDescription
  /// When a read stores the default.
  public let persistDefault: PersistDefault

  /// Creates a key that reads as `default` if nothing is stored.
  /// - Parameters:
  ///   - name: identifies the key in every process and language; see ``name``.
  ///   - makeDefault: the default, evaluated on first use.
  ///   - constraints: constraints on its values, such as `.range(0...100)`.
  ///   - summary: its purpose, in one line.
  ///   - secret: whether its values must not appear in logs, errors or dumps.
  ///   - persistDefault: when a read stores the default.
  public convenience init(
    _ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value,
    _ constraints: Constraint<Value>..., summary: String? = nil, secret: Bool = false,
    persistDefault: PersistDefault = .never
  ) where Value: Storable {
    let description = KeyDescription(rules: constraints.map { $0.rule }, summary: summary, isSecret: secret)
    self.init(name, .plain, description, persistDefault, makeDefault)
  }

  /// Creates a key that reads as nil if nothing is stored.
  ///
  /// The constraints apply to a stored value.
  public convenience init<Wrapped: Storable>(
    _ name: String, _ constraints: Constraint<Wrapped>..., summary: String? = nil, secret: Bool = false
  ) where Value == Wrapped? {
    let description = KeyDescription(rules: constraints.map { $0.rule }, summary: summary, isSecret: secret)
    self.init(name, .plain, description, .never) { nil }
  }

  /// Creates a key whose values go through a transformer, and that reads as `default` if nothing is stored.
  ///
  /// An error of the transformer is the ``StoreError/underlying`` error of the thrown or reported error: `wrongType`
  /// for a stored value that cannot be read, `invalid` for a value that cannot be written. The stored value stays then.
  /// A nil removes the key without calling the transformer.
  /// - Parameters:
  ///   - name: identifies the key in every process and language; see ``name``.
  ///   - makeDefault: the default, evaluated on first use.
  ///   - transformer: such as `.json`, `.propertyList`, `.rawValue`, or a custom one.
  ///   - constraints: constraints on its values in their stored form.
  ///   - summary: its purpose, in one line.
  ///   - secret: whether its values must not appear in logs, errors or dumps.
  ///   - persistDefault: when a read stores the default.
  public convenience init<Stored: Storable>(
    _ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value,
    through transformer: Transformer<Value, Stored>, _ constraints: Constraint<Stored>..., summary: String? = nil,
    secret: Bool = false, persistDefault: PersistDefault = .never
  ) {
    let description = KeyDescription(rules: constraints.map { $0.rule }, summary: summary, isSecret: secret)
    self.init(name, .through(transformer), description, persistDefault, makeDefault)
  }

  /// Creates a key whose values go through a transformer, and that reads as nil if nothing is stored.
  public convenience init<Wrapped, Stored: Storable>(
    _ name: String, through transformer: Transformer<Wrapped, Stored>, _ constraints: Constraint<Stored>...,
    summary: String? = nil, secret: Bool = false
  ) where Value == Wrapped? {
    let description = KeyDescription(rules: constraints.map { $0.rule }, summary: summary, isSecret: secret)
    self.init(name, .through(transformer.ofOptionals), description, .never) { nil }
  }

  /// The key with another default.
  convenience init(
    _ key: Key, default makeDefault: @escaping @Sendable () -> Value, persistDefault: PersistDefault? = nil
  ) {
    self.init(key.name, key.coding, key.description, persistDefault ?? key.persistDefault, makeDefault)
  }

  private init(
    _ name: String, _ coding: KeyCoding<Value>, _ description: KeyDescription, _ persistDefault: PersistDefault,
    _ makeDefault: @escaping @Sendable () -> Value
  ) {
    self.name = name
    self.coding = coding
    self.description = description
    self.persistDefault = persistDefault
    lazyDefault = LazyDefault(makeDefault)
    checked = Result { () throws(StoreError) in PreparedKey(try KeyName(name)) }
    prepared = (try? checked.get())?.prepared ?? .none
    bytes = coding.isPlain ? prepared : .none
  }

  /// Whether a read of an absent key stores the default.
  @usableFromInline var storesAbsentDefault: Bool { persistDefault.whenAbsent }

  /// The value of the key if a store has none; evaluated once for each store.
  public func defaultValue(in store: Store) -> Value { defaultValue(in: store.identity) }

  func defaultValue(in store: StoreIdentity) -> Value { lazyDefault.value(for: store) }

  /// The current value of the default, evaluated again; the key is declared with it.
  public var defaultValue: Value { lazyDefault.evaluate() }

  /// The name, checked once.
  func keyName() throws(StoreError) -> KeyName { try checked.get().name }

  override func declared() throws(StoreError) -> (key: KeyName, declaration: Declaration) {
    (try keyName(), try makeDeclaration())
  }

  /// Converts a layer's value for the key; errors name the key.
  ///
  /// A text of the command line or the environment is read as the key's type.
  func read(
    _ found: KeptValues.Value?, in store: StoreIdentity, from layer: Layer? = nil, _ text: TextValue? = nil
  ) throws(StoreError) -> Value {
    guard let found else { return defaultValue(in: store) }
    do throws(StoreError) { return try coding.read(found) } catch {
      if let value = coding.read(text) { return value }
      throw saying(error).found(in: layer).about(name)
    }
  }

  /// Converts a value to the form that is stored; errors name the key.
  func write(_ value: Value) throws(StoreError) -> KeptValues.Value {
    do throws(StoreError) { return try coding.write(value) } catch { throw saying(error).about(name) }
  }

  /// The message of a conversion may contain a value.
  private func saying(_ error: StoreError) -> StoreError {
    description.isSecret ? error.ofSecret : error
  }
}
