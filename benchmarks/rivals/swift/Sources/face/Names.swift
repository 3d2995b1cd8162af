// The keys of every candidate, and a sink that keeps the results from being optimised away.

enum Names {
  static let volume = "audio.volume"
  static let device = "audio.device"
  static let absent = "audio.absent"
  static let deviceText = "twenty bytes of text"
  /// The other keys of each store.
  static let others = (0..<1000).map { "section.\($0)" }
}

@inline(never) @_optimize(none) func blackHole(_ value: Int) {}
