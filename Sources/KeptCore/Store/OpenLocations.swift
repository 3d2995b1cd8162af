// Which locations this process has open: opening one again gives a second handle on the same shared store.

/// The process's table of open locations.
enum OpenLocations {
  /// What makes two locations the same.
  enum Identity: Hashable, Sendable {
    case memory(name: String)
    // By device and inode: a symbolic link leads to the same store.
    case folder(StoreFolder.Identity)
  }

  private struct Place: Sendable {
    let shared: SharedStore
    var handles: Int
  }

  private static let places = Monitor<[Identity: Place]>([:])

  /// The shared store of a location, opened by `open` if this is its first handle.
  ///
  /// Each call needs a ``leave(_:)``.
  static func enter(_ identity: Identity, open: () throws(StoreError) -> any Storage) throws(StoreError) -> SharedStore
  {
    try places.update { places throws(StoreError) in
      var place = if let open = places[identity] { open } else { Place(shared: SharedStore(try open()), handles: 0) }
      place.handles += 1
      places[identity] = place
      return place.shared
    }
  }

  /// Gives a handle back; true if it was the last one, and the storage is now the caller's to close.
  static func leave(_ identity: Identity) -> Bool {
    places.update { places in
      places[identity]?.handles -= 1
      guard places[identity]?.handles == 0 else { return false }
      places[identity] = nil
      return true
    }
  }
}
