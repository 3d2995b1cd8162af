// What Kept asks of the operating system, in one place: the headers, and the few calls that Swift cannot spell alike on
// every system. Header-only: nothing here is linked.
#ifndef KEPT_CPLATFORM_H
#define KEPT_CPLATFORM_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// Why the last system call of this thread failed.
static inline int kept_errno(void) { return errno; }

/// Opens a file; the descriptor is closed on exec. Returns -1 on failure.
static inline int kept_open_file(const char *path, int flags, mode_t mode) {
  return open(path, flags | O_CLOEXEC, mode);
}

/// Whether a path leads to a folder, through symbolic links too.
static inline int kept_is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/// Tells one thread from another, for as long as both live.
static inline uintptr_t kept_thread_current(void) { return (uintptr_t)pthread_self(); }

/// Starts a detached thread that receives no signals: those are the host's. Returns 0 or an errno.
static inline int kept_thread_start(void *(*run)(void *context), void *context) {
  sigset_t everything, hosts;
  sigfillset(&everything);
  pthread_sigmask(SIG_BLOCK, &everything, &hosts);
  pthread_t thread;
  int status = pthread_create(&thread, NULL, run, context);
  if (status == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &hosts, NULL);
  return status;
}

#endif
