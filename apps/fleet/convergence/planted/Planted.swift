// The faults that apps/fleet/convergence/plant plants. It copies this file into a copy of the sources, which call it,
// and builds kept-fleet of that. KEPT_PLANTED in the environment names the fault that a process has.

internal import Glibc

enum Planted {
  private static let chosen = getenv("KEPT_PLANTED").flatMap { String(validatingCString: $0) }

  static func has(_ fault: String) -> Bool { chosen == fault }

  /// Whether a fault that would be seen at once strikes now.
  static func strikes(_ fault: String) -> Bool { has(fault) && Int.random(in: 0..<10) == 0 }
}
