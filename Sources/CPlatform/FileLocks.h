// Locks that belong to an open file and not to the process: closing another descriptor of the same file keeps them.
#ifndef KEPT_FILE_LOCKS_H
#define KEPT_FILE_LOCKS_H

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#if defined(__linux__)
// F_OFD_SETLK, which glibc declares only with _GNU_SOURCE, and Swift does not define that. With F_SETLK the locks would
// belong to the process: closing any descriptor of the file would release them.
#define KEPT_SET_LOCK 37
#elif defined(F_OFD_SETLK)
#define KEPT_SET_LOCK F_OFD_SETLK
#else
#define KEPT_SET_LOCK F_SETLK
#endif

/// Takes or changes the lock of an open file without waiting: F_RDLCK, F_WRLCK or F_UNLCK. Returns false if another
/// lock conflicts.
static inline bool kept_lock_file(int file, short kind) {
  struct flock lock = { 0 };
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  return fcntl(file, KEPT_SET_LOCK, &lock) == 0;
}

#endif
