// Where stores are, found without opening them: nothing is created, locked or repaired.

import CPlatform
import KeptSystem
public import KeptValues

/// A place where a store is or could be, as it was when this was created.
///
/// In C: `kept_place_json`. In Python: `kept.Place`.
public struct StorePlace: Sendable {
  /// The location to open: the identifier, also if the path of its folder was given; otherwise the given location.
  public let location: String
  /// Whether the location is an identifier, so that the administrator's standard files apply.
  public let isIdentifier: Bool
  /// The folder, whether or not it exists; nil if the location has none, such as `memory:`.
  public let folder: String?
  public let state: State
  /// Distinguishes the folder from every other one, also from a later one of the same name; nil if there is none.
  ///
  /// The text has no meaning of its own.
  public let identity: String?

  public enum State: String, Sendable {
    /// Nothing is there: opening the location creates a store.
    case absent
    /// A store, perhaps a damaged one; also any location in memory.
    case store
    /// A folder that contains no store: opening the location makes it one.
    case folder
    /// Something that is not a folder.
    case file
    /// It cannot be examined: opening the location reports the reason.
    case unknown
  }

  /// Throws `invalid` for a location that ``Store/open(_:options:)`` would refuse, and `unavailable` for an identifier
  /// if the user has no home folder.
  public init(_ location: String) throws(StoreError) {
    let given = try Location(location)
    let identifier = Location.identifier(in: location) ?? Self.identifier(of: given)
    (self.location, isIdentifier) = (identifier ?? location, identifier != nil)
    let parsed = try Location(self.location)
    guard parsed.scheme == .folder || parsed.scheme == .directory else {
      (folder, state, identity) = (nil, parsed.scheme == .memory ? .store : .unknown, nil)
      return
    }
    folder = parsed.name
    guard (try? UserLinks.check(parsed.name)) != nil else {
      (state, identity) = (.unknown, nil)
      return
    }
    identity = Self.identity(of: parsed.name)
    if identity != nil {
      state = parsed.scheme == .directory ? .store : Self.contents(of: parsed.name)
    } else {
      switch kept_errno() {
      case ENOTDIR where FileStatus.isThere(parsed.name): state = .file
      case ENOENT, ENOTDIR: state = .absent
      default: state = .unknown
      }
    }
  }

  /// The stores of the user, or those in a folder, in the order of their locations.
  ///
  /// Those of the user include the identifiers that have only files of the administrator. A name that ends with `.kept`
  /// is listed whatever its state is. Names that are not UTF-8 are left out, because they cannot be opened. In C:
  /// `kept_places_json`. In Python: `kept.places()`.
  ///
  /// Throws `denied` or `unavailable` if the folder cannot be listed. A user without a folder has no stores.
  public static func all(in folder: String? = nil) throws(StoreError) -> [StorePlace] {
    let root: String
    if let folder { root = folder } else { root = try Location.userFolder() }
    var places: [StorePlace] = []
    for name in try names(in: root, mayLack: folder == nil) {
      let isNamed = name.ends(with: Location.ending)
      guard isNamed || folder != nil else { continue }
      let place = try StorePlace("\(root)/\(name)")
      if isNamed || place.state == .store { places.append(place) }
    }
    if folder == nil { places += managed(besides: Set(places.map { ExactString($0.location) })) }
    return places.inOrder { ExactString($0.location) }
  }

  /// The administrator's standard files, and the state of each, the managed layer first; empty without an identifier.
  ///
  /// They are read at each call. In a sandbox that shows the files of its host, those are included.
  public func layerFiles() -> [LayerFileState] {
    var files = LayerFiles(standardFiles)
    _ = files.read()
    return files.states
  }

  private var standardFiles: [LayerFile] {
    guard isIdentifier else { return [] }
    return [Layer.managed, .system].flatMap { layer in
      LayerFile.all(at: LayerFile.standardPath(identifier: location, layer: layer), layer: layer)
    }
  }

  /// The bytes that the store takes on the disk, as far as this user can find them; counted at each call.
  ///
  /// Of the folders in the store's folder, only `quarantine` belongs to the store. 0 for a place without a store.
  public func bytesOnDisk() -> Int {
    guard state == .store, let folder else { return 0 }
    return Self.bytesOnDisk(of: folder, entering: "quarantine")
  }

  /// - Parameter only: the only folder in it whose contents are counted, too; nil for all of them.
  package static func bytesOnDisk(of folder: String, entering only: String? = nil) -> Int {
    var (total, due) = (0, [folder])
    while let next = due.popLast() {
      for name in (try? names(in: next)) ?? [] {
        guard let status = FileStatus(of: "\(next)/\(name)") else { continue }
        total += status.bytesOnDisk
        if status.isFolder, only == nil || next != folder || name == only { due.append("\(next)/\(name)") }
      }
    }
    return total
  }

  package var asValue: Value {
    var members: [(ExactString, Value)] = [
      ("location", .string(location)), ("identifier", .bool(isIdentifier)), ("state", .string(state.rawValue)),
      ("bytes", .int(Int64(bytesOnDisk()))), ("layerFiles", .array(layerFiles().map(\.asValue))),
    ]
    if let folder { members.append(("folder", .string(folder))) }
    if let identity { members.append(("identity", .string(identity))) }
    return .dictionary(ValueDictionary(members))
  }

  // MARK: - Looking

  /// The identifier whose folder a location leads to.
  private static func identifier(of location: Location) -> String? {
    let name = PathWalk.name(of: location.name)
    guard location.scheme == .folder, name.ends(with: Location.ending) else { return nil }
    let text = String(Substring(name.utf8.dropLast(Location.ending.utf8.count)))
    guard let identifier = Location.identifier(in: text), let own = try? Location(identifier).name else { return nil }
    let isSame = identity(of: own).map { $0 == identity(of: location.name) } ?? (own == location.name)
    return isSame && (try? UserLinks.check(location.name)) != nil ? identifier : nil
  }

  /// Nil, with errno, if it is not a folder.
  private static func identity(of folder: String) -> String? {
    var found = kept_folder_identity()
    guard kept_identify_folder(folder, &found) == 0 else { return nil }
    return [found.device, found.inode, UInt64(bitPattern: found.made)].map { String($0, radix: 16) }
      .joined(separator: "-")
  }

  /// Whether a folder has any file of a store, be it damaged.
  private static func contents(of folder: String) -> State {
    for name in StoreFiles.all {
      if FileStatus(of: "\(folder)/\(name)") != nil { return .store }
      if kept_errno() != ENOENT { return .unknown }
    }
    return .folder
  }

  /// The other identifiers for which the administrator has written a file.
  private static func managed(besides known: Set<ExactString>) -> [StorePlace] {
    let found = ["", AdministratorFolder.host].flatMap { root in
      // A user who may not list the folder does not learn these identifiers.
      (try? names(in: "\(root)/etc/kept")) ?? []
    }
    return Set(found.map { ExactString($0) }).subtracting(known).compactMap { name in
      guard let place = try? StorePlace(name.text), place.isIdentifier else { return nil }
      return place.standardFiles.contains(where: \.isThere) ? place : nil
    }
  }

  /// The names in a folder, in order.
  package static func names(in folder: String, mayLack: Bool = false) throws(StoreError) -> [String] {
    try UserLinks.check(folder)
    if mayLack, !FileStatus.isThere(folder), kept_errno() == ENOENT { return [] }
    let names = try FolderListing.names(in: folder).filter { $0 != "." && $0 != ".." }
    return names.map { ExactString($0) }.inOrder(of: \.self).map(\.text)
  }
}
