// The version, which CMake takes from the header and checks against this one.

enum Build {
  static let version = "0.1.0"
}
