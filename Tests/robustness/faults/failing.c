/* Interposes the C library: a symbol of the program is found before one of a library. */
#include "failing.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_FILES = 1024 };

static char folder[4300];
static unsigned char is_ours[MOST_FILES];
static int64_t *room;

static __thread struct {
  int error;
  unsigned kinds;
  long first;
  bool for_ever;
  long met, failed;
} plan;

void failing_folder(const char *path) { strncpy(folder, path, sizeof folder - 1); }

void plan_failure(int error, unsigned kinds, long first, bool for_ever) {
  plan.error = error;
  plan.kinds = kinds;
  plan.first = first;
  plan.for_ever = for_ever;
  plan.met = plan.failed = 0;
}

long end_failure(void) {
  plan.error = 0;
  return plan.failed;
}

void limit_room(int64_t *word) { room = word; }

static bool below(const char *path) { return *folder && strncmp(path, folder, strlen(folder)) == 0; }
static bool ours(int file) { return file >= 0 && file < MOST_FILES && is_ours[file]; }

/** Whether this call must fail; errno is then set. */
static bool fails(unsigned kind) {
  if (!plan.error || !(plan.kinds & kind)) return false;
  plan.met++;
  if (plan.met < plan.first || (plan.met > plan.first && !plan.for_ever)) return false;
  plan.failed++;
  errno = plan.error;
  return true;
}

static bool has_limit(void) { return room && __atomic_load_n(room, __ATOMIC_SEQ_CST) >= 0; }

/** Whether a file has room to grow to this size. */
static bool has_room(int file, off_t end) {
  struct stat status;
  if (!has_limit() || fstat(file, &status) != 0 || end <= status.st_size) return true;
  int64_t needed = end - status.st_size;
  if (__atomic_sub_fetch(room, needed, __ATOMIC_SEQ_CST) >= 0) return true;
  __atomic_add_fetch(room, needed, __ATOMIC_SEQ_CST);
  errno = ENOSPC;
  return false;
}

static void give_back(int64_t bytes) {
  if (bytes > 0 && has_limit()) __atomic_add_fetch(room, bytes, __ATOMIC_SEQ_CST);
}

/* The next definition of a name, looked up once. */
#define REAL(name, ...) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
  return real(__VA_ARGS__)

/* Names */

/* Names relative to an open folder are resolved against the folder's path. */
static const char *path_at(int at, const char *path, char *place, size_t capacity) {
  char link[32];
  if (*path == '/' || at == AT_FDCWD) return path;
  snprintf(link, sizeof link, "/proc/self/fd/%d", at);
  ssize_t length = readlink(link, place, capacity - 1);
  if (length < 0) return path;
  snprintf(place + length, capacity - (size_t)length, "/%s", path);
  return place;
}

static int real_open(const char *path, int flags, mode_t mode) { REAL(open64, path, flags, mode); }

static int open_here(const char *path, int flags, mode_t mode) {
  if (!below(path)) return real_open(path, flags, mode);
  bool creates = (flags & O_CREAT) && access(path, F_OK) != 0;
  if (fails(creates ? CALL_CREATE : CALL_OPEN)) return -1;
  int file = real_open(path, flags, mode);
  if (file >= 0 && file < MOST_FILES) is_ours[file] = 1;
  return file;
}

static int real_openat(int at, const char *path, int flags, mode_t mode) { REAL(openat64, at, path, flags, mode); }

static int openat_here(int at, const char *path, int flags, mode_t mode) {
  char place[8192];
  const char *whole = path_at(at, path, place, sizeof place);
  if (!below(whole)) return real_openat(at, path, flags, mode);
  bool creates = (flags & O_CREAT) && access(whole, F_OK) != 0;
  if (fails(creates ? CALL_CREATE : CALL_OPEN)) return -1;
  int file = real_openat(at, path, flags, mode);
  if (file >= 0 && file < MOST_FILES) is_ours[file] = 1;
  return file;
}

static mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = mode_of(flags, rest); \
    va_end(rest); \
    return open_here(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  int name(int at, const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = mode_of(flags, rest); \
    va_end(rest); \
    return openat_here(at, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

int close(int file) {
  if (file >= 0 && file < MOST_FILES) is_ours[file] = 0;
  REAL(close, file);
}

int mkdir(const char *path, mode_t mode) {
  if (below(path) && access(path, F_OK) != 0 && fails(CALL_CREATE)) return -1;
  REAL(mkdir, path, mode);
}

int link(const char *from, const char *to) {
  if (below(to) && fails(CALL_CREATE)) return -1;
  REAL(link, from, to);
}

int rename(const char *from, const char *to) {
  if (below(to) && fails(CALL_CREATE)) return -1;
  REAL(rename, from, to);
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
  char place[8192];
  if (below(path_at(to_at, to, place, sizeof place)) && fails(CALL_CREATE)) return -1;
  REAL(renameat, from_at, from, to_at, to);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  char place[8192];
  if (below(path_at(to_at, to, place, sizeof place)) && fails(CALL_CREATE)) return -1;
  REAL(renameat2, from_at, from, to_at, to, flags);
}

/** Whether removing a file fails; otherwise its room is free. */
static bool keeps(const char *path) {
  struct stat status;
  if (!below(path) || lstat(path, &status) != 0) return false;
  if (fails(CALL_REMOVE)) return true;
  give_back(status.st_nlink == 1 ? status.st_size : 0);
  return false;
}

int unlink(const char *path) {
  if (keeps(path)) return -1;
  REAL(unlink, path);
}

int unlinkat(int at, const char *path, int flags) {
  char place[8192];
  if (keeps(path_at(at, path, place, sizeof place))) return -1;
  REAL(unlinkat, at, path, flags);
}

/* Contents */

#define WRITE_AT(name, offset_type) \
  ssize_t name(int file, const void *from, size_t length, offset_type offset) { \
    if (ours(file) && fails(CALL_WRITE)) return -1; \
    if (ours(file) && !has_room(file, offset + (offset_type)length)) return -1; \
    REAL(name, file, from, length, offset); \
  }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

ssize_t write(int file, const void *from, size_t length) {
  if (ours(file) && (fails(CALL_WRITE) || !has_room(file, lseek(file, 0, SEEK_CUR) + (off_t)length))) return -1;
  REAL(write, file, from, length);
}

#define TRUNCATE(name, offset_type) \
  int name(int file, offset_type length) { \
    struct stat status; \
    if (ours(file) && fstat(file, &status) == 0 && length != status.st_size) { \
      if (fails(CALL_WRITE)) return -1; \
      give_back(status.st_size - length); \
    } \
    REAL(name, file, length); \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

/* Returns the error, and leaves errno unchanged. */
#define ALLOCATE(name, offset_type) \
  int name(int file, offset_type offset, offset_type length) { \
    if (ours(file) && (fails(CALL_WRITE) || !has_room(file, offset + length))) return errno; \
    REAL(name, file, offset, length); \
  }
ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

int fsync(int file) {
  if (ours(file) && fails(CALL_SYNC)) return -1;
  REAL(fsync, file);
}

int fdatasync(int file) {
  if (ours(file) && fails(CALL_SYNC)) return -1;
  REAL(fdatasync, file);
}

#define READ_AT(name, offset_type) \
  ssize_t name(int file, void *to, size_t length, offset_type offset) { \
    if (ours(file) && fails(CALL_READ)) return -1; \
    REAL(name, file, to, length, offset); \
  }
READ_AT(pread, off_t)
READ_AT(pread64, off64_t)

ssize_t read(int file, void *to, size_t length) {
  if (ours(file) && fails(CALL_READ)) return -1;
  REAL(read, file, to, length);
}

#define MAP(name, offset_type) \
  void *name(void *address, size_t length, int protection, int flags, int file, offset_type offset) { \
    if (!(flags & MAP_ANONYMOUS) && ours(file) && fails(CALL_MAP)) return MAP_FAILED; \
    REAL(name, address, length, protection, flags, file, offset); \
  }
MAP(mmap, off_t)
MAP(mmap64, off64_t)
