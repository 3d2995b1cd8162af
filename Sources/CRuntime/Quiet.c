// What Swift's runtime would do in the host of libkept.so when it is loaded: read the environment and install handlers
// of fatal signals for backtraces, and copy the arguments for CommandLine. Both are the host's business, and take a
// twentieth of the time of loading. The runtime does neither if these symbols are defined before its archive is read.
//
// They are hidden, so that a program with a shared runtime keeps the runtime's own.
#include <stdbool.h>

#define HIDDEN __attribute__((visibility("hidden")))

/// The runtime's settings: all zeros switch backtraces off. Larger than the runtime's structure.
HIDDEN char _swift_backtraceSettings[256] __attribute__((aligned(16)));

HIDDEN bool _swift_backtrace_isThunkFunction(const char *name) { return false; }

HIDDEN char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
  static char *none[1];
  *count = 0;
  return none;
}
