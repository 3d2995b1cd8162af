// PCRE2, loaded when a pattern is first used.

import CPCRE2
import KeptSystem
import KeptValues

package enum PatternLibrary {
  // Loading happens inside the monitor, so that a fork does not copy a library that is loaded in part.
  private static let loaded = Monitor<UnsafePointer<kept_pcre2>?>(nil)

  /// The functions of PCRE2, which stay valid.
  ///
  /// Throws `unavailable` if it cannot be loaded; a later attempt may succeed.
  static func functions() throws(StoreError) -> UnsafePointer<kept_pcre2> {
    try loaded.updateQuietly { loaded throws(StoreError) in
      if let loaded { return loaded }
      let functions = UnsafeMutablePointer<kept_pcre2>.allocate(capacity: 1)
      if let loaderMessage = kept_pcre2_load(functions) {
        let reason = String(cString: loaderMessage)
        functions.deallocate()
        throw StoreError(
          .unavailable,
          "patterns need PCRE2, which cannot be loaded (\(reason)); install it (Debian: libpcre2-8-0) and try again")
      }
      loaded = UnsafePointer(functions)
      return UnsafePointer(functions)
    }
  }

  /// Initializes what two threads of a forked child must not initialize at the same time, without loading PCRE2.
  package static func prepare() {
    _ = loaded
    var rules: [MemberRules.PatternProperty] = []
    rules.reserveCapacity(1)
  }
}
