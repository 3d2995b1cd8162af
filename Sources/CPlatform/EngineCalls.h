// The system calls of the engine (Sources/KeptEngine). It reads, changes and locks files through them alone, so a
// simulation sees every change and decides its result. Two kinds of calls are elsewhere: KeptSystem opens files and
// lists folders, which changes no file, and the pulse is created and sized, which need not survive a loss of power.
#ifndef KEPT_ENGINE_CALLS_H
#define KEPT_ENGINE_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sys/mman.h>

#include "FileLocks.h"
#include "FileSystem.h"
#include "Files.h"
#include "SizeSignal.h"

#if defined(KEPT_SIMULATION)
/// The calls that a simulation sees.
enum { KEPT_CALL_WRITE = 1, KEPT_CALL_SYNC, KEPT_CALL_SYNC_FOLDER, KEPT_CALL_MAKE, KEPT_CALL_RENAME, KEPT_CALL_REMOVE };
/// Others change no file of the store.
enum { KEPT_CALL_READ = KEPT_CALL_REMOVE + 1, KEPT_CALL_STATUS, KEPT_CALL_OPEN, KEPT_CALL_MAP };
/// Called before each of them. 0 lets it happen, below 0 leaves it out as if it had happened, and above 0 is the errno
/// of its failure.
extern int kept_simulated(
  int call, int file, const void *bytes, size_t count, int64_t offset, const char *name, const char *other);
#define KEPT_SIMULATE(call, file, bytes, count, offset, name, other) \
  do { \
    int failure = kept_simulated(call, file, bytes, count, offset, name, other); \
    if (failure > 0) errno = failure; \
    if (failure != 0) return failure > 0 ? -1 : 0; \
  } while (0)
#else
#define KEPT_SIMULATE(call, file, bytes, count, offset, name, other)
#endif

/// Reads up to `count` bytes at an offset: fewer only at the end of the file. Returns -1 with errno set on failure.
static inline ssize_t kept_engine_read(int file, void *bytes, size_t count, int64_t offset) {
  KEPT_SIMULATE(KEPT_CALL_READ, file, NULL, 0, offset, NULL, NULL);
  size_t done = 0;
  while (done < count) {
    ssize_t got = pread(file, (char *)bytes + done, count - done, (off_t)offset + (off_t)done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

/// Writes all bytes at an offset. Returns 0, or -1 with errno set: then a part of them may have been written.
static inline int kept_engine_write(int file, const void *bytes, size_t count, int64_t offset) {
  KEPT_SIMULATE(KEPT_CALL_WRITE, file, bytes, count, offset, NULL, NULL);
  kept_size_signal held = kept_hold_size_signal();
  size_t done = 0;
  while (done < count) {
    ssize_t put = pwrite(file, (const char *)bytes + done, count - done, (off_t)offset + (off_t)done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      if (put == 0) errno = ENOSPC;
      break;
    }
    done += (size_t)put;
  }
  kept_release_size_signal(&held);
  return done == count ? 0 : -1;
}

/// Cuts a file off, to the length that it had before a write has failed. A simulation does not see it.
static inline void kept_engine_shorten(int file, int64_t length) {
  (void)!KEPT_UNINTERRUPTED(ftruncate(file, (off_t)length));
}

/// Writes the contents of a file to the disk. Returns 0, or -1 with errno set.
static inline int kept_engine_sync(int file) {
  KEPT_SIMULATE(KEPT_CALL_SYNC, file, NULL, 0, 0, NULL, NULL);
  return KEPT_UNINTERRUPTED(fdatasync(file));
}

/// Writes the names in a folder to the disk, through a descriptor that was opened to hold the folder.
static inline int kept_engine_sync_folder(int folder) {
  KEPT_SIMULATE(KEPT_CALL_SYNC_FOLDER, folder, NULL, 0, 0, NULL, NULL);
  int opened = kept_open_at(folder, ".", O_RDONLY, 0);
  if (opened < 0) return -1;
  int result = kept_sync(opened), error = errno;
  close(opened);
  errno = error;
  return result;
}

/// Creates a file of mode 0600. Returns -1 with errno set, EEXIST if the name exists.
static inline int kept_engine_make(int folder, const char *name) {
  int file = kept_make_at(folder, name);
  // Afterwards, when it is known which file it is.
  if (file >= 0) KEPT_SIMULATE(KEPT_CALL_MAKE, file, NULL, 0, 0, name, NULL);
  return file;
}

static inline void kept_engine_close(int file) { close(file); }

/// Renames a file of a store, and replaces another one that has the name. Returns 0, or -1 with errno set.
static inline int kept_engine_rename(int folder, const char *from, const char *to) {
  KEPT_SIMULATE(KEPT_CALL_RENAME, folder, NULL, 0, 0, from, to);
  return renameat(folder, from, folder, to);
}

/// Removes a name. Returns 0, or -1 with errno set.
static inline int kept_engine_remove(int folder, const char *name) {
  KEPT_SIMULATE(KEPT_CALL_REMOVE, folder, NULL, 0, 0, name, NULL);
  return unlinkat(folder, name, 0);
}

/// Moves a file of a store into another folder. Returns 0, or -1 with errno set.
static inline int kept_engine_move(int folder, const char *name, int other) {
  KEPT_SIMULATE(KEPT_CALL_REMOVE, folder, NULL, 0, 0, name, NULL);
  return renameat(folder, name, other, name);
}

/// Creates a folder of mode 0700. Returns 0, or -1 with errno set, EEXIST if the name exists.
static inline int kept_engine_make_folder(int folder, const char *name) {
  KEPT_SIMULATE(KEPT_CALL_OPEN, folder, NULL, 0, 0, NULL, NULL);
  return kept_make_folder_at(folder, name);
}

/// Reads the status of an open file. Returns 0, or -1 with errno set.
static inline int kept_engine_status(int file, struct stat *status, bool has_times) {
  KEPT_SIMULATE(KEPT_CALL_STATUS, file, NULL, 0, 0, NULL, NULL);
  return has_times ? fstat(file, status) : kept_status_without_times(file, "", status);
}

/// Opens a folder for a lock of its own. Returns -1 with errno set on failure.
static inline int kept_engine_open_folder(int folder) {
  KEPT_SIMULATE(KEPT_CALL_OPEN, folder, NULL, 0, 0, NULL, NULL);
  return kept_open_at(folder, ".", O_RDONLY | O_DIRECTORY, 0);
}

enum { KEPT_ENGINE_SHARED, KEPT_ENGINE_ALONE };

/// Takes the lock of a folder, or changes it, without waiting; a change may lose it. Returns whether it has it.
static inline bool kept_engine_lock_folder(int folder, int kind) {
  return KEPT_UNINTERRUPTED(flock(folder, (kind == KEPT_ENGINE_ALONE ? LOCK_EX : LOCK_SH) | LOCK_NB)) == 0;
}

static inline void kept_engine_unlock_folder(int folder) { (void)flock(folder, LOCK_UN); }

/// Takes the lock of a byte of an open file that no other open file has, without waiting. Returns whether it has it.
static inline bool kept_engine_lock_byte(int file, int64_t byte) { return kept_lock_byte(file, F_WRLCK, byte); }

static inline void kept_engine_unlock_byte(int file, int64_t byte) { (void)kept_lock_byte(file, F_UNLCK, byte); }

/// Whether another open file has the lock of a byte, or of any from it on.
static inline bool kept_engine_is_byte_locked(int file, int64_t byte) { return kept_is_byte_locked(file, byte); }
static inline bool kept_engine_is_any_byte_locked(int file, int64_t first) {
  return kept_are_bytes_locked(file, first, 0);
}

/// Maps the words of a pulse that other processes share; NULL with errno set on failure.
static inline void *kept_engine_map(int file, size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/// Allocates zeroed memory that is never unmapped, and takes no memory of the machine before it is written; NULL with
/// errno set on failure.
static inline void *kept_engine_memory(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/// Returns such memory to the machine: then it reads as zeros. Where the host has locked it, this is false, and it
/// stays as it is.
static inline bool kept_engine_empty(void *memory, size_t size) { return !madvise(memory, size, MADV_DONTNEED); }

#endif
