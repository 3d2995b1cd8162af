// Locks that belong to an open file and not to the process: closing another descriptor of the same file keeps them.
#ifndef KEPT_FILE_LOCKS_H
#define KEPT_FILE_LOCKS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "Files.h"

#if defined(__linux__)
// F_OFD_GETLK and F_OFD_SETLK, which glibc declares only with _GNU_SOURCE, and Swift does not define that. With F_SETLK
// the locks would belong to the process: closing any descriptor of the file would release them.
#define KEPT_GET_LOCK 36
#define KEPT_SET_LOCK 37
#elif defined(F_OFD_SETLK)
#define KEPT_GET_LOCK F_OFD_GETLK
#define KEPT_SET_LOCK F_OFD_SETLK
#else
#define KEPT_GET_LOCK F_GETLK
#define KEPT_SET_LOCK F_SETLK
#endif

/// Takes or changes the lock of a byte of an open file without waiting: F_RDLCK, F_WRLCK or F_UNLCK. Returns false if
/// another lock conflicts.
static inline bool kept_lock_byte(int file, short kind, int64_t byte) {
  struct flock lock = { 0 };
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return KEPT_UNINTERRUPTED(fcntl(file, KEPT_SET_LOCK, &lock)) == 0;
}

/// Whether another open file has a lock on one of the bytes, or on any from the first one on if `count` is 0; also true
/// if that cannot be told.
static inline bool kept_are_bytes_locked(int file, int64_t first, int64_t count) {
  struct flock lock = { 0 };
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  return KEPT_UNINTERRUPTED(fcntl(file, KEPT_GET_LOCK, &lock)) != 0 || lock.l_type != F_UNLCK;
}

static inline bool kept_is_byte_locked(int file, int64_t byte) { return kept_are_bytes_locked(file, byte, 1); }

/// Takes or changes the lock of a whole file, as kept_lock_byte does.
static inline bool kept_lock_file(int file, short kind) {
  struct flock lock = { 0 };
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  return KEPT_UNINTERRUPTED(fcntl(file, KEPT_SET_LOCK, &lock)) == 0;
}

#endif
