/// How to open a store.
///
/// Its C twin is `kept_options`.
public struct StoreOptions: Sendable {
  /// For writes that do not say.
  public var durability: Durability
  /// How long a write waits for other writers before it throws `busy`, in milliseconds.
  ///
  /// A negative number counts as 0, and one above 4,294,967,295 (49 days) as that.
  public var busyTimeoutMilliseconds: Int
  /// Observers are called by this program's own event loop, and not by a thread of the library.
  ///
  /// For C; Swift programs choose a queue or a sequence for each subscription.
  package var isHostDriven = false
  /// What this program calls itself: observers in every process find it in the notices of its commits.
  public var tag: String?
  /// Where the administrator prescribes values and locks keys; nil: nowhere.
  public var managed: LayerPlace?
  /// The program's arguments: `-audio.volume 30` counts before what is stored; nil: none is read.
  public var arguments: [String]?
  /// What begins the names of the environment's variables that count: with `PLAYER_`, `PLAYER_AUDIO_VOLUME` is
  /// `audio.volume`; nil: none does.
  ///
  /// ``EnvironmentName`` says which name stands for which key.
  public var environmentPrefix: String?
  /// Where the administrator's defaults are; nil: nowhere.
  public var system: LayerPlace?
  /// Hears of failures where there is nobody to throw to: subscripts, wrappers, observers.
  ///
  /// Where none is given, a debug build prints the first error of each kind to standard error, and a release build is
  /// silent. `{ _ in }` is always silent.
  ///
  /// Called on the thread where the failure happened, with no lock held.
  public var errorHandler: @Sendable (StoreError) -> Void {
    get { givenHandler ?? StoreError.noticeUnheard }
    set { givenHandler = newValue }
  }
  private var givenHandler: (@Sendable (StoreError) -> Void)?

  /// Hears of the same, until the store is closed: then calls of it are waited for.
  ///
  /// For C, where what it uses is freed afterwards.
  package var reporter: Reporter? {
    didSet { if let reporter { givenHandler = { reporter.report($0) } } }
  }

  /// The busy time-out that counts.
  var patience: Int { Self.patience(milliseconds: busyTimeoutMilliseconds) }

  /// The time-out that a number of a caller's stands for: one that can be added to a clock, and that C can say, too.
  static func patience(milliseconds: Int) -> Int { min(max(0, milliseconds), Int(UInt32.max)) }

  /// Whether the program has named an error handler.
  package var hasErrorHandler: Bool { givenHandler != nil }

  public init(
    durability: Durability = .shared,
    busyTimeoutMilliseconds: Int = 5000,
    tag: String? = nil,
    managed: LayerPlace? = nil,
    arguments: [String]? = nil,
    environmentPrefix: String? = nil,
    system: LayerPlace? = nil,
    errorHandler: (@Sendable (StoreError) -> Void)? = nil
  ) {
    self.durability = durability
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    self.tag = tag
    self.managed = managed
    self.arguments = arguments
    self.environmentPrefix = environmentPrefix
    self.system = system
    givenHandler = errorHandler
  }
}
