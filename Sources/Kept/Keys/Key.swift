// What a key is: a name, the type of its value, how that is stored, and what to read where nothing is.

public import KeptCore

/// A key with the type of its value.
///
/// List keys in an extension of ``Keys``. Type, constraints, summary and `secret` hold for every process and language
/// once the key is declared in the store: `settings.declare(.volume)`.
///
/// The default is evaluated when it is needed, once for each open store, on the thread that reads, and never while a
/// lock is held: it may read a store itself. A thread that waits longer than two seconds for another one's evaluation
/// makes its own, as that one may be waiting for it, and the first result counts. It is not stored unless
/// `persistDefault` asks for it. A default that is registered, or that the key is declared with, comes before it.
///
/// A value of another type than the ``Storable`` ones goes through a ``Transformer``, and so does one that is to be
/// stored in another way than its own:
///
/// ```swift
/// static let frame = Key("window.frame", default: Frame.zero, through: .json)
/// static let mark  = Key<Mark?>("mark", through: .propertyList)
/// ```
public final class Key<Value: Sendable>: Keys, @unchecked Sendable {
  /// The name under which the value is stored: 1 to 1024 bytes of UTF-8 without NUL, compared byte by byte.
  ///
  /// Any other name is an `invalid` error of every call that uses the key.
  public let name: String

  // @unchecked is inherited; everything here is constant and Sendable.
  private let checked: Result<PreparedKey, StoreError>
  /// What the index finds the key by; `none` for a name that is no key.
  let prepared: PreparedBytes
  /// The same if what the index has is the value as it stands; else `none`.
  @usableFromInline let bytes: PreparedBytes
  let coding: KeyCoding<Value>
  private let lazyDefault: LazyDefault<Value>
  let description: KeyDescription
  /// When a read stores the default.
  public let persistDefault: PersistDefault

  /// A key that reads as `default` where nothing is stored.
  /// - Parameters:
  ///   - name: the text that finds it in every process and language; see ``name``.
  ///   - makeDefault: the default, evaluated when it is needed.
  ///   - constraints: what its values must be, such as `.range(0...100)`.
  ///   - summary: what it is for, in a line.
  ///   - secret: its values are for no log, error or dump.
  ///   - persistDefault: when a read stores the default.
  public convenience init(
    _ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value,
    _ constraints: Constraint<Value>..., summary: String? = nil, secret: Bool = false,
    persistDefault: PersistDefault = .never
  ) where Value: Storable {
    let description = KeyDescription(rules: constraints.map { $0.rule }, summary: summary, isSecret: secret)
    self.init(name, .plain, description, persistDefault, makeDefault)
  }

  /// A key that reads as nil where nothing is stored.
  ///
  /// The constraints are those of the value that is stored when there is one.
  public convenience init<Wrapped: Storable>(
    _ name: String, _ constraints: Constraint<Wrapped>..., summary: String? = nil, secret: Bool = false
  ) where Value == Wrapped? {
    let description = KeyDescription(rules: constraints.map { $0.rule }, summary: summary, isSecret: secret)
    self.init(name, .plain, description, .never) { nil }
  }

  /// A key whose values go through a transformer, and that reads as `default` where nothing is stored.
  ///
  /// What the transformer throws is the ``StoreError/underlying`` error of what the call throws, or is told to the
  /// error handler: `wrongType` for what is stored and cannot be read, `invalid` for what cannot be written. What is
  /// stored stays. A nil removes the key, without the transformer being asked.
  /// - Parameters:
  ///   - name: the text that finds it in every process and language; see ``name``.
  ///   - makeDefault: the default, evaluated when it is needed.
  ///   - transformer: such as `.json`, `.propertyList`, `.rawValue`, or one of your own.
  ///   - constraints: what its values must be as they are stored.
  ///   - summary: what it is for, in a line.
  ///   - secret: its values are for no log, error or dump.
  ///   - persistDefault: when a read stores the default.
  public convenience init<Stored: Storable>(
    _ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value,
    through transformer: Transformer<Value, Stored>, _ constraints: Constraint<Stored>..., summary: String? = nil,
    secret: Bool = false, persistDefault: PersistDefault = .never
  ) {
    let description = KeyDescription(rules: constraints.map { $0.rule }, summary: summary, isSecret: secret)
    self.init(name, .through(transformer), description, persistDefault, makeDefault)
  }

  /// A key whose values go through a transformer, and that reads as nil where nothing is stored.
  public convenience init<Wrapped, Stored: Storable>(
    _ name: String, through transformer: Transformer<Wrapped, Stored>, _ constraints: Constraint<Stored>...,
    summary: String? = nil, secret: Bool = false
  ) where Value == Wrapped? {
    let description = KeyDescription(rules: constraints.map { $0.rule }, summary: summary, isSecret: secret)
    self.init(name, .through(transformer.ofOptionals), description, .never) { nil }
  }

  /// The same key with another default.
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

  /// What the key reads as where a store has nothing; evaluated once for each store.
  public func defaultValue(in store: Store) -> Value { defaultValue(in: store.identity) }

  func defaultValue(in store: StoreIdentity) -> Value { lazyDefault.value(for: store) }

  /// The default as it is now, evaluated anew: what the key is declared with.
  public var defaultValue: Value { lazyDefault.evaluate() }

  /// The name, checked once.
  func keyName() throws(StoreError) -> KeyName { try checked.get().name }

  override func declared() throws(StoreError) -> (key: KeyName, declaration: Declaration) {
    (try keyName(), try makeDeclaration())
  }

  /// Reads what a layer has for the key; errors name the key.
  ///
  /// A text of the command line or the environment is read as what the key asks for.
  func read(
    _ found: KeptCore.Value?, in store: StoreIdentity, from layer: Layer? = nil, _ text: TextValue? = nil
  ) throws(StoreError) -> Value {
    guard let found else { return defaultValue(in: store) }
    do throws(StoreError) { return try coding.read(found) } catch {
      if let value = coding.read(text) { return value }
      throw saying(error).found(in: layer).about(name)
    }
  }

  /// What is to be stored under the key; errors name the key.
  func write(_ value: Value) throws(StoreError) -> KeptCore.Value {
    do throws(StoreError) { return try coding.write(value) } catch { throw saying(error).about(name) }
  }

  /// What a conversion says may have a value in it.
  private func saying(_ error: StoreError) -> StoreError {
    description.isSecret ? error.ofSecret : error
  }
}
