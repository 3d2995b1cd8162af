// Which locations this process has open: opening one again gives a second handle on the same shared store.

/// The process's table of open locations.
enum OpenLocations {
  /// What makes two locations the same.
  enum Identity: Hashable, Sendable {
    case memory(name: String)
    // By device and inode: a symbolic link leads to the same store.
    case folder(StoreFolder.Identity)
    case directory(StoreFolder.Identity)
  }

  private struct Place: Sendable {
    let identity: Identity
    let shared: SharedStore
    var handles = 1
  }

  // Few, so they are looked through: the first use of a dictionary would be a tenth of what opening costs a program.
  private static let places = Monitor<[Place]>([])

  /// The shared store of a location, opened by `open` if this is its first handle.
  ///
  /// Each call needs a ``leave(_:)``.
  static func enter(_ identity: Identity, open: () throws(StoreError) -> any Storage) throws(StoreError) -> SharedStore
  {
    try places.update { places throws(StoreError) in
      if let known = places.firstIndex(where: { $0.identity == identity }) {
        places[known].handles += 1
        return places[known].shared
      }
      let place = Place(identity: identity, shared: SharedStore(try open()))
      places.append(place)
      return place.shared
    }
  }

  /// Gives a handle back; true if it was the last one, and the storage is now the caller's to close.
  static func leave(_ identity: Identity) -> Bool {
    places.update { places in
      guard let place = places.firstIndex(where: { $0.identity == identity }) else { return false }
      places[place].handles -= 1
      guard places[place].handles == 0 else { return false }
      places.remove(at: place)
      return true
    }
  }
}
