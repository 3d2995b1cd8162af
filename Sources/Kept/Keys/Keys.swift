// The namespace where a program lists its keys, so that `.volume` finds them.

import KeptSchema
import KeptValues

/// The namespace of a program's keys: list each once, as a constant in an extension.
///
/// ```swift
/// extension Keys {
///   static let volume = Key("audio.volume", default: 50)    // Key<Int>
///   static let theme  = Key("theme", default: Theme.system)
///   static let frame  = Key<Frame?>("window.frame")         // nil until it is set
/// }
/// ```
///
/// Then `settings[.volume]` is an `Int`, and `settings[.volume] = "loud"` does not compile. In Python: `kept.Key`.
// A class that every Key<Value> inherits from, so that `.volume` is found before the type of its value is known.
// @unchecked because only a final class may be Sendable; it has no state, and nothing outside this module inherits from
// it.
public class Keys: @unchecked Sendable {
  init() {}

  /// The key with its declaration, implemented by each Key.
  func declared() throws(StoreError) -> (key: KeyName, declaration: Declaration) {
    throw StoreError(.invalid, "is not a valid key")
  }
}
