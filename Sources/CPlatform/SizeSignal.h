// The limit on the size of files (ulimit -f): the system ends a process that writes past it, unless SIGXFSZ is blocked
// or ignored. A library must not end its host, and must not change the host's signal handling. So the signal is blocked
// in the thread while it writes, consumed if it was raised, and the write fails with EFBIG.
#ifndef KEPT_SIZE_SIGNAL_H
#define KEPT_SIZE_SIGNAL_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/// The state to restore.
typedef struct kept_size_signal {
  sigset_t before;
  bool isHeld;
} kept_size_signal;

/// Whether the process has a limit on the size of files.
static inline bool kept_has_size_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// Blocks the signal in this thread; without a limit this has no effect.
static inline kept_size_signal kept_hold_size_signal(void) {
  kept_size_signal held;
  held.isHeld = false;
#if defined(__linux__)
  if (!kept_has_size_limit()) return held;
  sigset_t signals;
  // A signal that is already pending belongs to the host.
  if (sigpending(&signals) != 0 || sigismember(&signals, SIGXFSZ)) return held;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  held.isHeld = pthread_sigmask(SIG_BLOCK, &signals, &held.before) == 0;
#endif
  return held;
}

/// Consumes a raised signal, and restores the host's signal mask; errno is preserved.
static inline void kept_release_size_signal(const kept_size_signal *held) {
  if (!held->isHeld) return;
#if defined(__linux__)
  int error = errno;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  struct timespec none = { 0, 0 };
  while (sigtimedwait(&signals, NULL, &none) < 0 && errno == EINTR) {}
  pthread_sigmask(SIG_SETMASK, &held->before, NULL);
  errno = error;
#endif
}

/// Writes to a file like write(); beyond the limit it fails with EFBIG.
static inline ssize_t kept_write(int file, const void *bytes, size_t count) {
  kept_size_signal held = kept_hold_size_signal();
  ssize_t written = write(file, bytes, count);
  kept_release_size_signal(&held);
  return written;
}

#endif
