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
      throw ValidationError("--no-layers goes with none of --managed, --system and --env-prefix")
    }
  }

  /// Whether layers are named.
  var areGiven: Bool { managed != nil || system != nil || envPrefix != nil }

  var choice: LayerChoice {
    LayerChoice(managed: managed, system: system, environmentPrefix: envPrefix, hasStandard: !noLayers)
  }
}

/// The layers beside the store that a command reads.
struct LayerChoice {
  var managed: String?
  var system: String?
  var environmentPrefix: String?
  /// Whether the administrator's files are read from their fixed place, which only stores with an identifier have.
  var hasStandard = true

  private func isStandard(for location: String) -> Bool {
    hasStandard && StoreAccess.isIdentifier(location)
  }

  /// The same files for a store that has no identifier.
  func fixed(for location: String) -> LayerChoice {
    guard isStandard(for: location) else { return self }
    var choice = self
    choice.managed = managed ?? "/etc/kept/\(location)/managed.json"
    choice.system = system ?? "/etc/kept/\(location)/system.json"
    return choice
  }

  /// The files of the administrator that are read for a store.
  func files(for location: String) -> [String] {
    let choice = fixed(for: location)
    let files = [choice.managed, choice.system].compactMap { $0 }
    // Where a sandbox shows those of the host, they apply too.
    return files + files.filter { $0.begins(with: "/etc/kept/") }.map { "/run/host" + $0 }
  }

  /// Whether the administrator has written a file for a store.
  func hasFile(for location: String) -> Bool { files(for: location).contains { access($0, F_OK) == 0 } }

  func apply(to options: inout StoreOptions, location: String) {
    let standard: LayerPlace? = isStandard(for: location) ? .standard : nil
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
  static func open(
    _ location: String, _ layers: LayerChoice = LayerChoice(), arguments: [String]? = nil, durable: Bool = false,
    toChange changing: ChangeOptions? = nil
  ) throws -> Store {
    let location = named(location)
    try checkExists(location)
    if changing?.dryRun == true { try checkWritable(location) }
    let store = try openOrCreate(location, layers, arguments: arguments, durable: durable)
    if changing?.dryRun == false { changed = store }
    return store
  }

  /// Opens a store that exists, or that a program would make below files of the administrator.
  static func openToExplain(_ location: String, _ layers: LayerChoice, arguments: [String]?) throws -> Store {
    let name = named(location)
    guard try isMissing(name), layers.hasFile(for: name) else {
      return try open(location, layers, arguments: arguments)
    }
    return try openOrCreate("memory:", layers.fixed(for: name), arguments: arguments)
  }

  /// Opens a store, which is created if there is none.
  private static func openOrCreate(
    _ location: String, _ layers: LayerChoice = LayerChoice(), arguments: [String]? = nil, durable: Bool = false,
    isQuiet: Bool = false
  ) throws -> Store {
    if let folder = try Store.folder(of: location) { try checkIsNotFile(folder) }
    var options = StoreOptions(
      durability: durable ? .durable : .shared, tag: "kept", arguments: arguments,
      errorHandler: { if !isQuiet { Failure.print($0) } })
    layers.apply(to: &options, location: location)
    let store = try Store.open(location, options: options)
    // The end of the process closes it: what was written is safe already, and the last handle to close would tidy up
    // for longer than it takes to read a value.
    _ = Unmanaged.passRetained(store)
    return store
  }

  /// Opens a store to change it, which is created if there is none and `rehearse` throws nothing in an empty one.
  ///
  /// For a dry run it is created in memory.
  static func openToWrite(
    _ location: String, _ changing: ChangeOptions, _ layers: LayerChoice = LayerChoice(), durable: Bool = false,
    _ rehearse: (Store) throws -> Void
  ) throws -> Store {
    let location = named(location)
    let isNew = try isMissing(location)
    if changing.dryRun { try checkWritable(location) }
    if isNew { try rehearse(openOrCreate("memory:", layers.fixed(for: location), isQuiet: true)) }
    let store = try openOrCreate(
      changing.dryRun && isNew ? "memory:" : location, isNew && changing.dryRun ? layers.fixed(for: location) : layers,
      durable: durable)
    if !changing.dryRun { changed = store }
    if isNew {
      changing.warn("\(changing.dryRun ? "would make" : "made") the store \(location)\(try similar(to: location))")
    }
    return store
  }

  /// Which of the keys programs read from the administrator's file that locks them, with the path of that file.
  static func locks(on keys: [KeyName], at location: String) -> [(key: KeyName, file: String)] {
    guard let settings = try? open(location) else { return [] }
    return keys.compactMap { key in
      guard let found = try? settings.explain(key.text), found.isLocked else { return nil }
      return (key, found.layers.first { $0.layer == .managed }?.source ?? "the managed layer")
    }
  }

  /// The identifier of a store that is given by its path; else the location as it is.
  ///
  /// It is the same store, to which the same files of the administrator apply.
  static func named(_ location: String) -> String {
    let path = withoutLastSlashes(location)
    guard let (_, file) = path.halves(atLast: "/"), file.ends(with: ".kept") else { return location }
    let name = String(Substring(file.utf8.dropLast(5)))
    guard isIdentifier(name), let folder = try? Store.folder(of: name), isSame(folder, path),
      (try? Store.checkLinks(on: path)) != nil
    else { return location }
    return name
  }

  /// Whether a location names a store in the user's folder.
  static func isIdentifier(_ location: String) -> Bool { !location.has("/") && !location.has(":") }

  static func withoutLastSlashes(_ path: String) -> String {
    var path = Substring(path).utf8
    while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
    return String(Substring(path))
  }

  private static func isSame(_ a: String, _ b: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(a, &first) == 0, stat(b, &second) == 0 else { return a == b }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// `; did you mean …?` for an identifier that is close to that of another store, else nothing.
  private static func similar(to location: String) throws(StoreError) -> String {
    guard isIdentifier(location) else { return "" }
    return Suggestion.closest(to: location, among: try StoreFacts.identifiers().map(\.name).filter { $0 != location })
  }

  /// The keys of a store that are secret; none if it cannot be read.
  static func secrets(of location: String) -> Set<KeyName> {
    // The administrator's files declare nothing, and wrong ones would keep the store closed.
    let settings = try? open(location, LayerChoice(hasStandard: false))
    guard let declared = try? settings?.declarations().declarations else { return [] }
    return Set(declared.filter(\.declaration.isSecret).map(\.key))
  }

  /// Whether a location has a store, or something in its place.
  static func exists(_ location: String) throws(StoreError) -> Bool { try !isMissing(named(location)) }

  /// The keys of a store that are not split into others: objects, and secrets, whose parts would not be secret.
  static func wholeKeys(of location: String, below prefix: String) -> Set<ExactString> {
    let settings = try? open(location, LayerChoice(hasStandard: false))
    guard let declared = try? settings?.declarations(prefix: prefix).declarations else { return [] }
    let whole = declared.filter { $0.declaration.type == .object || $0.declaration.isSecret }
    let names = whole.map { String(Substring($0.key.text.utf8.dropFirst(prefix.utf8.count))) }
    return Set(names.map { ExactString($0) })
  }

  /// Whether a location has neither a store nor something else in its place.
  ///
  /// A folder with nothing of a store in it, such as the home folder, is not one: opening it would make it one.
  private static func isMissing(_ location: String) throws(StoreError) -> Bool {
    guard let folder = try Store.folder(of: location) else { return false }
    guard access(folder, F_OK) == 0 else { return errno == ENOENT }
    return !location.begins(with: "dir:") && isWithoutStore(folder)
  }

  /// Whether a path leads to a folder that this user may read, and that has no file of a store, not even of a damaged
  /// one.
  private static func isWithoutStore(_ folder: String) -> Bool {
    let names = ["values.sqlite", "journal", "pulse", "damaged", "quarantine", "migration", "salvaged.sqlite"]
    return File.isReadableFolder(folder)
      && names.allSatisfy { name in
        var status = stat()
        return lstat("\(folder)/\(name)", &status) != 0 && errno == ENOENT
      }
  }

  /// Throws what the commit would, which a dry run does not come to.
  private static func checkWritable(_ location: String) throws(StoreError) {
    guard let folder = try Store.folder(of: location), access(folder, W_OK) != 0, errno != ENOENT else { return }
    throw StoreError(
      .denied, "the store in \(folder) may be read but not written; check who owns the folder, and its permissions")
  }

  /// Throws for a backup or an export, which few commands take.
  private static func checkIsNotFile(_ path: String) throws(StoreError) {
    guard File.isRegular(path) else { return }
    throw StoreError(
      .unavailable,
      "\(path) is a file, and the command takes a store, which is a folder; kept diff A B compares backups and "
        + "exports, and kept restore and kept import read them into a store")
  }

  private static func checkExists(_ location: String) throws(StoreError) {
    guard try isMissing(location), let folder = try Store.folder(of: location) else { return }
    try checkIsNotFile(location)
    let hint = try similar(to: location)
    let found = File.isReadableFolder(folder) ? "is a folder without a store" : "does not exist"
    throw StoreError(
      .unavailable,
      "there is no store \(location): \(folder) \(found)"
        + (hint.isEmpty ? "; a program makes it when it first opens it, and kept set, declare and import do" : hint))
  }
}
