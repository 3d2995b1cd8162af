// Which storage opens which location. Only this file knows: a new storage is a case of the scheme, and a row of the
// registry.

import CPlatform
import KeptSystem
import KeptValues

/// The beginning of a location, which determines its storage.
enum LocationScheme: String, CaseIterable {
  case memory = "memory:"
  case directory = "dir:"
  /// Reserved for a later version.
  case etcd = "etcd:"
  /// A path or an identifier. Every text begins with it, so it is the last case.
  case folder = ""
}

/// The storages by the schemes of their locations.
enum StorageRegistry {
  /// Finds the storage of a location, without opening it.
  static func find(_ location: Location, isReadOnly: Bool = false) throws(StoreError) -> Found {
    switch location.scheme {
    case .memory where isReadOnly:
      throw StoreError(.unsupported, "a store in memory has no files to read; open it without the read-only option")
    case .folder where isReadOnly: try reading(existing(location))
    case .memory: memory(location)
    case .directory: try directory(location, isReadOnly: isReadOnly)
    case .etcd: throw later(location)
    case .folder: try folder(location)
    }
  }

  /// Initializes what storages share, before several threads use it; see ``EagerInitialization``.
  static func initialize() {
    _ = Indexes.ofThisProcess
  }

  /// A storage that can be opened.
  struct Found {
    /// The identity under which this process shares the storage; nil if each handle has its own.
    let identity: OpenLocations.Identity?
    let open: (_ busyTimeoutMilliseconds: Int) throws(StoreError) -> any Storage
  }

  private static func memory(_ location: Location) -> Found {
    Found(identity: location.name.isEmpty ? nil : .name(location)) { _ in MemoryStorage() }
  }

  /// The folder of a location; throws `unavailable` if it does not exist, or is without a store.
  private static func existing(_ location: Location) throws(StoreError) -> StoreFolder {
    let folder = try UserLinks.resolve(location.name).map { StoreFolder(path: $0) }
    let needed = location.scheme == .directory ? folder?.path : folder?.values
    guard let folder, let needed, FileStatus.isThere(needed) else {
      let error = kept_errno()
      guard error == ENOENT || error == ENOTDIR else { throw .system("read", location.name) }
      throw StoreError(
        .unavailable,
        "there is no store in \(shown: location.name), and a read-only open does not create one; check the path, "
          + "or open it for writing")
    }
    return try folder.resolved()
  }

  /// The storage of a folder with a store that is opened only to read.
  private static func reading(_ folder: StoreFolder) -> Found {
    Found(identity: nil) { timeout throws(StoreError) in
      try ReadOnlyStorage(folder, because: .request, busyTimeoutMilliseconds: timeout)
    }
  }

  private static func directory(_ location: Location, isReadOnly: Bool) throws(StoreError) -> Found {
    // The handle refuses writes.
    let folder = isReadOnly ? try existing(location) : try StoreFolder(path: location.name).absolute()
    return Found(identity: .folder(try folder.identity(), location.scheme)) { timeout throws(StoreError) in
      SimpleStorageAdapter(try DirectoryStorage(path: folder.path, busyTimeoutMilliseconds: timeout))
    }
  }

  private static func folder(_ location: Location) throws(StoreError) -> Found {
    let folder = try StoreFolder(path: location.name).resolved()
    return Found(identity: .folder(try folder.identity(), location.scheme)) { timeout throws(StoreError) in
      if folder.isReadOnly { return try ReadOnlyStorage(folder, busyTimeoutMilliseconds: timeout) }
      let isNew = FileStatus(of: folder.values) == nil
      do throws(StoreError) { return try LocalStorage(folder, busyTimeoutMilliseconds: timeout) } catch {
        // A store can be read while the disk has no space for the pulse or a checkpoint, unless the store is new or
        // damaged.
        guard error.code == .noSpace, !isNew,
          let storage = try? ReadOnlyStorage(folder, because: .full(error), busyTimeoutMilliseconds: timeout)
        else { throw error }
        return storage
      }
    }
  }

  private static func later(_ location: Location) -> StoreError {
    StoreError(
      .unsupported,
      "this version does not support \"\(location.scheme.rawValue)\" locations; use an identifier, a path or "
        + "\"memory:\""
    )
  }
}
