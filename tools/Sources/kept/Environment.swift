// Variables of the environment.

import Glibc

enum Environment {
  /// A variable; nil if it is not set, empty, or not UTF-8.
  static func variable(_ name: String) -> String? {
    guard let text = getenv(name).flatMap({ String(validatingCString: $0) }), !text.isEmpty else { return nil }
    return text
  }
}
