// libsodium, loaded when a store has secrets.

import CSodium
import KeptSystem
package import KeptValues

/// The functions of libsodium that Kept uses.
package struct Sodium: @unchecked Sendable {
  // Never changed after loading, nor freed.
  let functions: UnsafePointer<kept_sodium>

  // Loading happens inside the monitor, so that a fork does not copy a library that is loaded in part.
  private static let loaded = Monitor<Sodium?>(nil)

  /// Throws `unavailable` if the library cannot be loaded; a later attempt may succeed.
  package static func load() throws(StoreError) -> Sodium {
    try loaded.updateQuietly { loaded throws(StoreError) in
      if let loaded { return loaded }
      let functions = UnsafeMutablePointer<kept_sodium>.allocate(capacity: 1)
      if let loaderMessage = kept_sodium_load(functions) {
        let reason = String(cString: loaderMessage)
        functions.deallocate()
        throw StoreError(
          .unavailable,
          "secrets need libsodium, which cannot be loaded (\(reason)); install it (Debian: libsodium23) and try again")
      }
      let sodium = Sodium(functions: UnsafePointer(functions))
      loaded = sodium
      return sodium
    }
  }

  /// Initializes what two threads of a forked child must not initialize at the same time, without loading the library.
  package static func prepare() {
    _ = loaded
    LockedPool.prepare()
  }

  func random(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    functions.pointee.randombytes_buf(&bytes, count)
    return bytes
  }
}
