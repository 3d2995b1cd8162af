// Which storage opens which location. Only this file knows: a new storage is a case of the scheme, and a row of the
// registry.

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
  static func find(_ location: Location) throws(StoreError) -> Found {
    switch location.scheme {
    case .memory: memory(location)
    case .directory: try directory(location)
    case .etcd: throw later(location)
    case .folder: try folder(location)
    }
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

  private static func directory(_ location: Location) throws(StoreError) -> Found {
    guard !location.name.isEmpty else {
      throw StoreError(.invalid, "\"dir:\" names no folder; give its path, such as dir:/home/me/settings")
    }
    let folder = try StoreFolder(path: location.name).absolute()
    return Found(identity: .folder(try folder.identity(), location.scheme)) { timeout throws(StoreError) in
      SimpleStorageAdapter(try DirectoryStorage(path: folder.path, busyTimeoutMilliseconds: timeout))
    }
  }

  private static func folder(_ location: Location) throws(StoreError) -> Found {
    let folder = try StoreFolder(path: location.name).resolved()
    return Found(identity: .folder(try folder.identity(), location.scheme)) { timeout throws(StoreError) in
      if folder.isReadOnly { return try ReadOnlyStorage(folder, busyTimeoutMilliseconds: timeout) }
      let isNew = FileStatus(of: folder.database) == nil
      do throws(StoreError) { return try LocalStorage(folder, busyTimeoutMilliseconds: timeout) } catch {
        // A store can be read while the disk has no space for the log and its shared memory, unless the store is new
        // or damaged.
        guard error.code == .noSpace, !isNew,
          let storage = try? ReadOnlyStorage(folder, full: error, busyTimeoutMilliseconds: timeout)
        else { throw error }
        return storage
      }
    }
  }

  private static func later(_ location: Location) -> StoreError {
    StoreError(
      .unsupported,
      "this version opens no \"\(location.scheme.rawValue)\" location; give an identifier, a path or \"memory:\"")
  }
}
