// How files are opened and made: the only calls that do it. Swift that opens a file of a store, or one that a caller
// names, goes through Sources/KeptCore/Files, which knows whom Kept trusts; scripts/check-format finds what does not.
#ifndef KEPT_FILES_H
#define KEPT_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
// glibc shows these only with _GNU_SOURCE, and Swift does not set that.
#define KEPT_HOLD 010000000   /* O_PATH */
extern char *secure_getenv(const char *name);
extern int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
  __attribute__((weak));
#else
#define KEPT_HOLD 0
#endif

/// Moves a new descriptor away from those of standard input, output and errors, where a program may have closed them:
/// what it prints would go into the file. Returns -1 with errno set where it cannot, and closes it.
static inline int kept_not_standard(int file) {
  if (file < 0 || file > 2) return file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, 3), error = errno;
  close(file);
  errno = error;
  return moved;
}

/// Opens a file in a folder, or makes one; never through a symbolic link, without waiting for the other end of a FIFO,
/// and closed on exec. Returns -1 on failure.
static inline int kept_open_at(int folder, const char *name, int flags, mode_t mode) {
  return kept_not_standard(openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode));
}

/// The same for a file that a caller names: links that lead to it are followed.
static inline int kept_open_named(const char *path) {
  return kept_not_standard(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// Holds a file without opening it: that reads nothing, waits for nothing, and closing it drops no lock. `flags` may
/// have O_NOFOLLOW and O_DIRECTORY.
static inline int kept_hold_at(int folder, const char *name, int flags) {
  return kept_not_standard(openat(folder, name, KEPT_HOLD | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags));
}

/// Reads where a symbolic link leads to. Returns the number of bytes, or -1 with errno set.
static inline ssize_t kept_link_target(int folder, const char *name, void *target, size_t capacity) {
  return readlinkat(folder, name, (char *)target, capacity);
}

/// Makes a file of mode 0600, whatever the umask is. Returns -1 with errno set, EEXIST where something is there.
static inline int kept_make_at(int folder, const char *name) {
  struct stat status;
  int file = kept_open_at(folder, name, O_RDWR | O_CREAT | O_EXCL, 0600);
  // A file system without modes refuses, and then no mode is missing.
  if (file >= 0 && fstat(file, &status) == 0 && (status.st_mode & 0777) != 0600) (void)!fchmod(file, 0600);
  return file;
}

/// Gives a folder that was just made the mode 0700; the umask may have taken a part of it. Returns 0, or -1 with errno.
static inline int kept_unmask_folder(int folder, const char *path) {
  struct stat status;
  char held_path[32];
  int held = kept_hold_at(folder, path, O_NOFOLLOW | O_DIRECTORY), result = -1, error;
  if (held < 0) return -1;
  if (fstat(held, &status) != 0) goto done;
  if ((status.st_mode & 0700) == 0700) result = 0;
  if (result == 0 || status.st_uid != geteuid()) goto done;
  // By its descriptor: at the path something else may stand by now.
  snprintf(held_path, sizeof held_path, "/proc/self/fd/%d", held);
  result = chmod(held_path, 0700);
  if (result != 0 && errno == ENOENT) result = fchmodat(folder, path, 0700, 0);
done:
  error = errno;
  close(held);
  errno = error;
  return result;
}

/// Makes a folder of mode 0700, whatever the umask is. Returns 0, or -1 with errno set.
static inline int kept_make_folder_at(int folder, const char *path) {
  if (mkdirat(folder, path, 0700) != 0) return -1;
  if (kept_unmask_folder(folder, path) == 0) return 0;
  /* What cannot be used is not left there. */
  int error = errno;
  (void)unlinkat(folder, path, AT_REMOVEDIR);
  errno = error;
  return -1;
}

static inline int kept_make_folder(const char *path) { return kept_make_folder_at(AT_FDCWD, path); }

/// Gives a file of one folder a name in another, or in the same, if nothing has that yet. Where a file system cannot do
/// that in one step the file has both names for a moment. Returns 0, or -1 with errno set, EEXIST where something is
/// there.
static inline int kept_rename_new_at(int source, const char *draft, int folder, const char *name) {
#if defined(__linux__)
  const unsigned no_replace = 1;   /* RENAME_NOREPLACE */
  int result = renameat2 ? renameat2(source, draft, folder, name, no_replace)
                         : (int)syscall(SYS_renameat2, source, draft, folder, name, no_replace);
  if (result == 0 || (errno != EINVAL && errno != ENOSYS)) return result;
#endif
  if (linkat(source, draft, folder, name, 0) != 0) return -1;
  (void)unlinkat(source, draft, 0);
  return 0;
}

/// A variable of the environment; NULL also where a program has other rights than the user who has set it, as a
/// set-user-ID program has.
static inline const char *kept_variable(const char *name) {
#if defined(__linux__)
  return secure_getenv(name);
#else
  return issetugid() ? NULL : getenv(name);
#endif
}

/// The variables of the environment, each as NAME=text, with a null pointer behind the last; none where
/// kept_variable() has none.
static inline char *const *kept_environment(void) {
  extern char **environ;
  static char *const none[] = { NULL };
#if defined(__linux__)
  return getauxval(AT_SECURE) ? none : environ;
#else
  return issetugid() ? none : environ;
#endif
}

#endif
