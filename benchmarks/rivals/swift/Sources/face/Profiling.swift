// Marks what callgrind counts: the function `profiled` of guard/profiled.c does, if it is preloaded.

import Foundation

private typealias Loop = @convention(c) () -> Void
private typealias Profiled = @convention(c) (Loop) -> Void

/// A C function has no context.
nonisolated(unsafe) private var profiledLoop: () -> Void = {}

/// Runs a loop, which callgrind counts without the code before and after it.
func profile(_ loop: @escaping () -> Void) {
  guard let profiled = dlsym(nil, "profiled") else { return loop() }
  profiledLoop = loop
  unsafeBitCast(profiled, to: Profiled.self)({ profiledLoop() })
}
