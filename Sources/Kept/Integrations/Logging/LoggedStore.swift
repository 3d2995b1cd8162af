// A store that logs failures that cannot be thrown to a caller to a swift-log logger. Requires the trait Logging.

#if Logging
public import KeptCore
import KeptValues
public import Logging

extension Store {
  /// Opens a store, and logs the failures that its error handler receives.
  ///
  /// ```swift
  /// let settings = try Store.open("com.example.player", logger: logger)
  /// ```
  ///
  /// Each failure is one line: its message, with the metadata `kept.store`, `kept.code`, and `kept.key` and
  /// `kept.offset` if it has them. It never contains a value. Its level is ``StoreError/logLevel``. The `errorHandler`
  /// of the options, if there is one, is called afterwards. Thrown errors are not logged. Throws what
  /// ``open(_:options:)`` throws.
  public static func open(
    _ location: String, options: StoreOptions = StoreOptions(), logger: Logger
  ) throws(StoreError) -> Store {
    try open(location, options: options.logging(to: logger, asStore: location))
  }

  /// Opens a store as the process's default store, at the start of the program, and logs the failures that its error
  /// handler receives.
  ///
  /// See ``open(_:options:logger:)``. Throws what ``bootstrap(_:options:)`` throws.
  public static func bootstrap(
    _ location: String, options: StoreOptions = StoreOptions(), logger: Logger
  ) throws(StoreError) {
    try bootstrap(location, options: options.logging(to: logger, asStore: location))
  }

  /// Uses a custom storage, or a `MemoryStorage` in a test, and logs the failures that the error handler receives.
  ///
  /// See ``open(_:options:logger:)``. `kept.store` is the type of the storage.
  public convenience init(storage: any Storage, options: StoreOptions = StoreOptions(), logger: Logger) {
    self.init(storage: storage, options: options.logging(to: logger, asStore: "\(type(of: storage))"))
  }
}

extension StoreOptions {
  fileprivate func logging(to logger: Logger, asStore store: String) -> StoreOptions {
    var options = self
    let given = hasErrorHandler ? errorHandler : nil
    options.errorHandler = { error in
      logger.log(error, ofStore: store)
      given?(error)
    }
    return options
  }
}

extension Logger {
  fileprivate func log(_ error: StoreError, ofStore store: String) {
    log(level: error.logLevel, "\(DisplayText.line(error.description))", metadata: error.metadata(ofStore: store))
  }
}

extension StoreError {
  /// The log level of a failure.
  ///
  /// `notice`: the write succeeded, but a higher layer decides. `warning`: one key does not have the value that the
  /// program expects, and everything else works. `error`: the store does not work now. `critical`: values may be lost.
  public var logLevel: Logger.Level {
    switch code {
    case .shadowed: .notice
    case .absent, .wrongType, .typeConflict, .misfit, .deprecated, .invalid, .locked, .conflict, .tooLarge:
      .warning
    case .corrupt, .salvaged: .critical
    default: .error
    }
  }

  fileprivate func metadata(ofStore store: String) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["kept.store": "\(DisplayText.line(store))", "kept.code": "\(code)"]
    if let key { metadata["kept.key"] = "\(DisplayText.line(key))" }
    if let offset { metadata["kept.offset"] = "\(offset)" }
    return metadata
  }
}
#endif
