// Opens the store that a command is about.

import ArgumentParser
import Glibc
import Kept

/// The options of commands that read values as a program would.
struct LayerOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The administrator's file of prescribed values.", valueName: "file"))
  var managed: String?
  @Option(help: ArgumentHelp("The administrator's file of defaults.", valueName: "file"))
  var system: String?
  @Option(help: ArgumentHelp("Read environment variables with this prefix as settings.", valueName: "prefix"))
  var envPrefix: String?
  @Flag(help: "Leave the administrator's files out.")
  var noLayers = false

  func validate() throws {
    if noLayers, areGiven {
      throw ValidationError("--no-layers cannot be combined with --managed, --system or --env-prefix")
    }
  }

  /// Whether layers are named.
  var areGiven: Bool { managed != nil || system != nil || envPrefix != nil }

  var choice: LayerChoice {
    LayerChoice(managed: managed, system: system, environmentPrefix: envPrefix, hasStandard: !noLayers)
  }
}

/// The layers that a command reads in addition to the store.
struct LayerChoice {
  var managed: String?
  var system: String?
  var environmentPrefix: String?
  /// Whether the administrator's files are read from their fixed place, which only stores with an identifier have.
  var hasStandard = true

  /// The same files for a store that has no identifier.
  func fixed(for place: StorePlace) -> LayerChoice {
    guard hasStandard else { return self }
    // The host's files, which come first, follow from the others.
    func standard(_ layer: Layer) -> String? { place.layerFiles().last { $0.layer == layer }?.path }
    var choice = self
    (choice.managed, choice.system) = (managed ?? standard(.managed), system ?? standard(.system))
    return choice
  }

  /// The files of the administrator that are read for a store.
  func files(for place: StorePlace) -> [String] {
    [managed, system].compactMap { $0 }
      + place.layerFiles().filter { hasStandard && ($0.layer == .managed ? managed : system) == nil }.map(\.path)
  }

  /// Whether the administrator has written a file for a store.
  func hasFile(for place: StorePlace) -> Bool { files(for: place).contains { access($0, F_OK) == 0 } }

  func apply(to options: inout StoreOptions, _ place: StorePlace) {
    let standard: LayerPlace? = hasStandard && place.isIdentifier ? .standard : nil
    options.managed = managed.map { .path($0) } ?? standard
    options.system = system.map { .path($0) } ?? standard
    options.environmentPrefix = environmentPrefix
  }
}

enum StoreAccess {
  /// The store that the command changes.
  nonisolated(unsafe) private static var changed: Store?

  /// Closes the store that was changed, so that the next command that opens it finds no log to sync.
  static func closeChanged() { changed?.close() }

  /// Opens a store that exists.
  ///
  /// Throws `unavailable` if there is none: no command that only reads makes a store.
  ///
  /// - Parameter isReadOnly: whether the store is opened only to read, for commands that look at the whole store once,
  ///   or at little of it without anybody waiting for it.
  /// - Parameter isKept: whether the store stays open until the process ends.
  static func open(
    _ location: String, _ layers: LayerChoice = LayerChoice(), arguments: [String]? = nil, durable: Bool = false,
    isReadOnly: Bool = false, isKept: Bool = true, toChange changing: ChangeOptions? = nil,
    report: @escaping @Sendable (StoreError) -> Void = { Failure.print($0) }
  ) throws -> Store {
    let place = try existing(location)
    if changing?.dryRun == true { try checkWritable(place) }
    let store = try openOrCreate(
      place, layers, arguments: arguments, durable: durable, isReadOnly: isReadOnly, isKept: isKept, report: report)
    if changing?.dryRun == false { changed = store }
    return store
  }

  /// Calls `body` with every store of the user, and closes each before it opens the next one.
  ///
  /// Prints why one cannot be read, and goes on.
  ///
  /// - Returns: whether all could be read.
  static func readAll(_ layers: LayerChoice, _ body: (String, Store) throws -> Void) throws -> Bool {
    var isComplete = true
    // Others are folders that a program has just made.
    for place in try StorePlace.stores() where !place.isMissing {
      do {
        let settings = try open(place.location, layers, isKept: false) { Failure.print($0, in: place.location) }
        defer { settings.close() }
        try body(place.location, settings)
      } catch let error as StoreError {
        Failure.print(error, in: place.location)
        isComplete = false
      }
    }
    return isComplete
  }

  /// The place of a store that exists; throws as ``open(_:_:arguments:durable:toChange:)`` does.
  static func existing(_ location: String) throws(StoreError) -> StorePlace {
    let place = try StorePlace(location)
    try checkExists(place)
    return place
  }

  /// - Parameter report: is called with each error that the store reports later, and with each warning.
  static func options(
    for place: StorePlace, _ layers: LayerChoice, report: @escaping @Sendable (StoreError) -> Void
  ) -> StoreOptions {
    var options = StoreOptions(
      tag: "kept", errorHandler: { report($0.code == .salvaged ? salvaged(place.location, $0) : $0) })
    layers.apply(to: &options, place)
    return options
  }

  /// The warning about a salvage, with the command that acknowledges it.
  private static func salvaged(_ location: String, _ warning: StoreError) -> StoreError {
    StoreError(warning.code, "\(warning.message) with kept doctor \(Shown.line(location)) --repair")
  }

  /// Opens a store that exists, or that a program would make below files of the administrator.
  static func openToExplain(_ location: String, _ layers: LayerChoice, arguments: [String]?) throws -> Store {
    let place = try StorePlace(location)
    guard place.isMissing, layers.hasFile(for: place) else { return try open(location, layers, arguments: arguments) }
    return try openOrCreate(StorePlace("memory:"), layers.fixed(for: place), arguments: arguments)
  }

  /// Opens a store, which is created if there is none.
  private static func openOrCreate(
    _ place: StorePlace, _ layers: LayerChoice = LayerChoice(), arguments: [String]? = nil, durable: Bool = false,
    isReadOnly: Bool = false, isKept: Bool = true,
    report: @escaping @Sendable (StoreError) -> Void = { Failure.print($0) }
  ) throws -> Store {
    if place.state == .file { try checkIsNotFile(place.folder) }
    var options = options(for: place, layers, report: report)
    (options.durability, options.arguments) = (durable ? .durable : .shared, arguments)
    options.passphrase = { () throws(StoreError) in try Passphrase.whenNeeded() }
    options.isReadOnly = isReadOnly && place.folder != nil
    let store = try Store.open(place.location, options: options)
    // The end of the process closes it: writes are safe already, and the last handle to close would tidy up
    // for longer than it takes to read a value.
    if isKept { _ = Unmanaged.passRetained(store) }
    return store
  }

  /// Opens a store to change it, which is created if there is none and `rehearse` throws nothing in an empty one.
  ///
  /// For a dry run it is created in memory.
  static func openToWrite(
    _ location: String, _ changing: ChangeOptions, _ layers: LayerChoice = LayerChoice(), durable: Bool = false,
    _ rehearse: (Store) throws -> Void
  ) throws -> Store {
    let place = try StorePlace(location)
    let isNew = place.isMissing
    if changing.dryRun { try checkWritable(place) }
    let memory = try StorePlace("memory:")
    if isNew { try rehearse(openOrCreate(memory, layers.fixed(for: place), report: { _ in })) }
    let isRehearsal = isNew && changing.dryRun
    let store = try openOrCreate(
      isRehearsal ? memory : place, isRehearsal ? layers.fixed(for: place) : layers, durable: durable)
    if !changing.dryRun { changed = store }
    if isNew {
      changing.warn("\(changing.dryRun ? "would create" : "created") the store \(place.location)\(similar(to: place))")
    }
    return store
  }

  /// Which of the keys programs read from the administrator's file that locks them, with the path of that file.
  static func locks(on keys: [KeyName], at location: String) -> [(key: KeyName, file: String)] {
    guard let settings = try? open(location, isReadOnly: true) else { return [] }
    return keys.compactMap { key in
      guard let found = try? settings.explain(key.text), found.isLocked else { return nil }
      return (key, found.layers.first { $0.layer == .managed }?.source ?? "the managed layer")
    }
  }

  static func withoutLastSlashes(_ path: String) -> String {
    var path = Substring(path).utf8
    while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
    return String(Substring(path))
  }

  /// `; did you mean …?` for an identifier that is close to that of another store, else nothing.
  private static func similar(to place: StorePlace) -> String {
    guard place.isIdentifier else { return "" }
    return Suggestion.closest(
      to: place.location, among: ((try? StorePlace.stores()) ?? []).map(\.location).filter { $0 != place.location })
  }

  /// The keys of a store that are secret; none if it cannot be read.
  static func secrets(of location: String) -> Set<KeyName> {
    // The administrator's files declare nothing, and wrong ones would keep the store closed.
    let settings = try? open(location, LayerChoice(hasStandard: false), isReadOnly: true)
    guard let declared = try? settings?.declarations().declarations else { return [] }
    return Set(declared.filter(\.declaration.isSecret).map(\.key))
  }

  /// The keys of a store that are not split into others: objects, and secrets, whose parts would not be secret.
  static func wholeKeys(of location: String, below prefix: String) -> Set<ExactString> {
    let settings = try? open(location, LayerChoice(hasStandard: false), isReadOnly: true)
    guard let declared = try? settings?.declarations(prefix: prefix).declarations else { return [] }
    let whole = declared.filter { $0.declaration.type == .object || $0.declaration.isSecret }
    let names = whole.map { String(Substring($0.key.text.utf8.dropFirst(prefix.utf8.count))) }
    return Set(names.map { ExactString($0) })
  }

  /// Throws what the commit would, which a dry run does not come to.
  private static func checkWritable(_ place: StorePlace) throws(StoreError) {
    guard let folder = place.folder, access(folder, W_OK) != 0, errno != ENOENT else { return }
    let reason = String(cString: strerror(errno))
    throw StoreError(
      .denied, "the store in \(folder) is not writable: \(reason); check who owns the folder, and its permissions")
  }

  /// Throws for a backup or an export, which few commands take.
  private static func checkIsNotFile(_ path: String?) throws(StoreError) {
    guard let path, File.isRegular(path) else { return }
    throw StoreError(
      .unavailable,
      "\(path) is a file, but a store is a folder; kept diff A B compares backups and "
        + "exports, and kept restore and kept import read them into a store")
  }

  private static func checkExists(_ place: StorePlace) throws(StoreError) {
    guard place.isMissing, let folder = place.folder else { return }
    // Without a slash, the name of a file is that of a store, too.
    try checkIsNotFile(place.location)
    let hint = similar(to: place)
    let found = place.state == .folder ? "is a folder without a store" : "does not exist"
    throw StoreError(
      .unavailable,
      "there is no store \(place.location): \(folder) \(found)"
        + (hint.isEmpty
          ? "; kept set, declare, import, restore and transaction create it, as does a program that opens it"
          : hint))
  }
}

extension StorePlace {
  /// Whether there is neither a store nor something else in its place.
  ///
  /// A folder with nothing of a store in it, such as the home folder, is not one: opening it would make it one.
  var isMissing: Bool { state == .absent || state == .folder }

  /// Whether its folder was removed since, or replaced by another.
  var isReplaced: Bool { (try? StorePlace(location))?.identity != identity }

  /// The stores in the user's folder.
  static func stores() throws(StoreError) -> [StorePlace] { try all().filter { $0.state != .absent } }
}
