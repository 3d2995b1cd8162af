package import KeptSystem
public import KeptValues

/// How to open a store.
///
/// In C: `kept_options`.
public struct StoreOptions: Sendable {
  /// The durability of writes that do not specify one.
  public var durability: Durability
  /// How long a write waits for other writers before it throws `busy`, in milliseconds.
  ///
  /// A negative number counts as 0, and a number above 4,294,967,295 (49 days) as that.
  public var busyTimeoutMilliseconds: Int
  /// Whether observers are called by this program's own event loop instead of a thread of the library.
  ///
  /// For C; Swift programs choose a queue or a sequence for each subscription.
  package var isHostDriven = false
  /// Whether the store is opened only to read: no thread is made, no lock is taken, and no file is created, repaired or
  /// changed.
  ///
  /// Reads see every commit, and the layers' files as they are at each read. A damaged store is `corrupt`, one that
  /// does not exist `unavailable`, and one in memory `unsupported`. Writes are `denied`, and observers `unsupported`.
  /// Each read looks at the files: use it to look at a store once.
  public var isReadOnly: Bool
  /// The tag of this program: observers in every process find it in the notices of its commits.
  public var tag: String?
  /// Where the administrator prescribes values and locks keys; nil for nowhere.
  public var managed: LayerPlace?
  /// The program's arguments: `-audio.volume 30` takes precedence over the stored value; nil if none are read.
  public var arguments: [String]?
  /// The prefix of environment variables that are read as settings; nil if none are read.
  ///
  /// With `PLAYER_`, `PLAYER_AUDIO_VOLUME` is `audio.volume`. ``EnvironmentName`` maps names to keys.
  public var environmentPrefix: String?
  /// Where the administrator's defaults are; nil for nowhere.
  public var system: LayerPlace?
  /// Asks for the passphrase of the store's secrets; nil not to ask.
  ///
  /// It is called when a secret is read or stored and no other provider gives the key, with no lock held, and not again
  /// for some time if the passphrase was wrong. It returns nil if there is none. C and Python have no counterpart:
  /// their programs call `kept_secrets_json` and `unlock_secrets`, as ``Store/unlockSecrets(passphrase:)``.
  public var passphrase: (@Sendable () throws(StoreError) -> String?)?
  /// Receives failures that cannot be thrown to a caller: in subscripts, wrappers and observers.
  ///
  /// Without one, a debug build prints the first error of each kind to standard error, and a release build prints
  /// nothing. `{ _ in }` never prints.
  ///
  /// Called on the thread where the failure happened, with no lock held.
  public var errorHandler: @Sendable (StoreError) -> Void {
    get { givenHandler ?? StoreError.printUnhandled }
    set { givenHandler = newValue }
  }
  private var givenHandler: (@Sendable (StoreError) -> Void)?

  /// Receives the same failures until the store is closed; closing waits for its running calls.
  ///
  /// For C, where the context of the calls is freed afterwards.
  package var reporter: Reporter? {
    didSet { if let reporter { givenHandler = { reporter.report($0) } } }
  }

  /// The effective busy timeout.
  var patience: Int { BusyTimeout.effective(milliseconds: busyTimeoutMilliseconds) }

  /// Whether the program has set an error handler.
  package var hasErrorHandler: Bool { givenHandler != nil }

  public init(
    durability: Durability = .shared,
    busyTimeoutMilliseconds: Int = 5000,
    isReadOnly: Bool = false,
    tag: String? = nil,
    managed: LayerPlace? = nil,
    arguments: [String]? = nil,
    environmentPrefix: String? = nil,
    system: LayerPlace? = nil,
    errorHandler: (@Sendable (StoreError) -> Void)? = nil
  ) {
    self.durability = durability
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    self.isReadOnly = isReadOnly
    self.tag = tag
    self.managed = managed
    self.arguments = arguments
    self.environmentPrefix = environmentPrefix
    self.system = system
    givenHandler = errorHandler
  }
}

extension StoreOptions {
  /// The sources of a handle's layers.
  ///
  /// - Parameter identifier: the identifier that the store was opened by, if any.
  func layerSources(identifier: String?) throws(StoreError) -> LayerSources {
    try LayerSources(
      managed: managed, system: system, arguments: arguments, environmentPrefix: environmentPrefix,
      identifier: identifier)
  }
}
