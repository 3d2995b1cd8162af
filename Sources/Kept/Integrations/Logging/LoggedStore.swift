// A store whose failures go to a swift-log logger: those that nobody is there to catch. With the trait Logging.

#if Logging
public import KeptCore
public import Logging

extension Store {
  /// Opens a store, and lets a logger have what its error handler hears.
  ///
  /// ```swift
  /// let settings = try Store.open("com.example.player", logger: logger)
  /// ```
  ///
  /// Each failure is one line: its sentence, with `kept.store`, `kept.code`, and `kept.key` and `kept.offset` where it
  /// has them as metadata. A value never stands in it. ``StoreError/logLevel`` says how loud it is. The `errorHandler`
  /// of the options, if there is one, hears of it afterwards. What is thrown is not logged. Throws what
  /// ``open(_:options:)`` throws.
  public static func open(
    _ location: String, options: StoreOptions = StoreOptions(), logger: Logger
  ) throws(StoreError) -> Store {
    try open(location, options: options.logging(to: logger, asStore: location))
  }

  /// Opens a store as the process's own, at the start of the program, and lets a logger have what its error handler
  /// hears: see ``open(_:options:logger:)``.
  ///
  /// Throws what ``bootstrap(_:options:)`` throws.
  public static func bootstrap(
    _ location: String, options: StoreOptions = StoreOptions(), logger: Logger
  ) throws(StoreError) {
    try bootstrap(location, options: options.logging(to: logger, asStore: location))
  }

  /// Uses a storage of your own making, or a `MemoryStorage` in a test, and lets a logger have what the error handler
  /// hears: see ``open(_:options:logger:)``.
  ///
  /// `kept.store` is the type of the storage.
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
    log(level: error.logLevel, "\(oneLine(error.description))", metadata: error.metadata(ofStore: store))
  }
}

extension StoreError {
  /// How loud a failure is in a log.
  ///
  /// `notice`: the program was heard, but a higher layer decides. `warning`: one key is not as the program wants it,
  /// and everything else goes on. `error`: the store cannot do its work now. `critical`: values may be lost.
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
    var metadata: Logger.Metadata = ["kept.store": "\(oneLine(store))", "kept.code": "\(code)"]
    if let key { metadata["kept.key"] = "\(oneLine(key))" }
    if let offset { metadata["kept.offset"] = "\(offset)" }
    return metadata
  }
}

/// A key may hold line breaks, and must not be able to write lines of its own into a log.
private func oneLine(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: \.breaksLines) else { return text }
  return text.unicodeScalars.reduce(into: "") { line, scalar in
    if scalar.breaksLines { line += scalar.escaped(asASCII: true) } else { line.unicodeScalars.append(scalar) }
  }
}

extension Unicode.Scalar {
  /// Control characters, among them the ESC of terminals, and the two separators of Unicode.
  fileprivate var breaksLines: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
    default: false
    }
  }
}
#endif
