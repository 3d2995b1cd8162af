/// How to open a store.
///
/// Its C twin is `kept_options`.
public struct StoreOptions: Sendable {
  /// For writes that do not say.
  public var durability: Durability
  /// How long a write waits for other writers before it throws `busy`, in milliseconds.
  public var busyTimeoutMilliseconds: Int
  /// Hears of failures where there is nobody to throw to: subscripts, wrappers, observers.
  ///
  /// Silent by default.
  ///
  /// Called on the thread where the failure happened, with no lock held.
  public var errorHandler: @Sendable (StoreError) -> Void

  public init(
    durability: Durability = .shared,
    busyTimeoutMilliseconds: Int = 5000,
    errorHandler: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) {
    self.durability = durability
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    self.errorHandler = errorHandler
  }
}
