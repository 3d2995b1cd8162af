// The version, which the header has, and the day on which it was made.

import CKeptVersion

enum Build {
  static let version = "\(KEPT_VERSION_MAJOR).\(KEPT_VERSION_MINOR).\(KEPT_VERSION_PATCH)"
  /// The date in CHANGELOG.md; before a release, the day of the last change of the manual.
  static let date = "2026-11-26"
}
