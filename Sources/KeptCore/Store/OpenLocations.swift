// The locations that this process has open. Opening one again returns a second handle on the same shared store.

import KeptSystem
import KeptValues

/// The process's table of open locations.
enum OpenLocations {
  /// The identity of a location.
  enum Identity: Hashable, Sendable {
    /// By its name, in this process.
    case name(Location)
    /// By device and inode: a symbolic link leads to the same store.
    case folder(StoreFolder.Identity, LocationScheme)
  }

  private struct Place: Sendable {
    let identity: Identity
    // nil: a thread is opening it. That thread waits for other processes and for the disk without holding a lock.
    var shared: SharedStore?
    var handles = 1
    // The fork count when that thread began: in a child it no longer exists.
    let forks: UInt64
  }

  // There are few, so they are searched linearly: the first use of a dictionary would cost a tenth of opening a store.
  private static let places = Monitor<[Place]>([])

  /// The shared store of a location, opened by `open` if this is its first handle, or if it has no identity.
  ///
  /// Each call that returns needs a ``leave(_:)`` of the identity.
  static func enter(
    _ identity: Identity?, open: () throws(StoreError) -> any Storage
  ) throws(StoreError) -> SharedStore {
    guard let identity else { return SharedStore(try open()) }
    if let known = places.wait(until: { take(identity, &$0) }) { return known }
    do throws(StoreError) {
      let shared = SharedStore(try open())
      places.update { places in
        if let place = places.firstIndex(where: { $0.identity == identity }) { places[place].shared = shared }
      }
      return shared
    } catch {
      places.update { places in places.removeAll { $0.identity == identity } }
      throw error
    }
  }

  /// The shared store of a location, with one more handle; the inner value is nil if the caller must open it, the outer
  /// value is nil if another thread is opening it.
  private static func take(_ identity: Identity, _ places: inout [Place]) -> SharedStore?? {
    let forks = Fork.gate.forks
    places.removeAll { $0.shared == nil && $0.forks != forks }
    guard let known = places.firstIndex(where: { $0.identity == identity }) else {
      places.append(Place(identity: identity, forks: forks))
      return .some(nil)
    }
    guard let shared = places[known].shared else { return nil }
    places[known].handles += 1
    return shared
  }

  /// Releases a handle; returns true if it was the last one, and the caller must close the storage.
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
