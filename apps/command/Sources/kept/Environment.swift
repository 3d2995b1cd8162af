// Variables of the environment.

import Glibc
import Kept

enum Environment {
  /// A variable; nil if it is not set, empty, or not UTF-8.
  static func variable(_ name: String) -> String? {
    guard let text = getenv(name).flatMap({ String(validatingCString: $0) }), !text.isEmpty else { return nil }
    return text
  }

  /// A variable for a message; bytes that are not UTF-8 are replaced.
  static func shown(_ name: String) -> String? {
    guard let text = getenv(name), text[0] != 0 else { return nil }
    return String(cString: text)
  }
}
