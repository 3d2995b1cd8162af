// The version, which CMake takes from the header and checks against this one, and the day on which it was made.

enum Build {
  static let version = "0.1.0"
  /// The date in CHANGELOG.md; before a release, the day of the last change of the manual.
  static let date = "2026-11-26"
}
