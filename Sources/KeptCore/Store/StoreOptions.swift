/// How to open a store.
///
/// Its C twin is `kept_options`.
public struct StoreOptions: Sendable {
  /// For writes that do not say.
  public var durability: Durability
  /// How long a write waits for other writers before it throws `busy`, in milliseconds.
  public var busyTimeoutMilliseconds: Int
  /// Observers are called by this program's own event loop, and not by a thread of the library.
  ///
  /// For C; Swift programs choose a queue or a sequence for each subscription.
  package var isHostDriven = false
  /// What this program calls itself: observers in every process find it in the notices of its commits.
  public var tag: String?
  /// Hears of failures where there is nobody to throw to: subscripts, wrappers, observers.
  ///
  /// Silent by default.
  ///
  /// Called on the thread where the failure happened, with no lock held.
  public var errorHandler: @Sendable (StoreError) -> Void

  public init(
    durability: Durability = .shared,
    busyTimeoutMilliseconds: Int = 5000,
    tag: String? = nil,
    errorHandler: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) {
    self.durability = durability
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    self.tag = tag
    self.errorHandler = errorHandler
  }
}
