// The only calls that open and create files. Swift code that opens a file of a store, or one that a caller names, goes
// through Sources/KeptSystem/Files, which checks which files Kept trusts; scripts/check-format finds other calls.
#ifndef KEPT_FILES_H
#define KEPT_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
// glibc declares these only with _GNU_SOURCE, and Swift does not define that.
#define KEPT_HOLD 010000000 /* O_PATH */
extern char *secure_getenv(const char *name);
extern int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
  __attribute__((weak));
#else
#define KEPT_HOLD 0
#endif

/// Makes a system call again for as long as signals interrupt it: they do on file systems in user space and on a
/// network.
#define KEPT_UNINTERRUPTED(call) \
  __extension__({ \
    __typeof__(call) result; \
    do result = (call); \
    while (result < 0 && errno == EINTR); \
    result; \
  })

/// Writes a file, or the names in a folder, to the disk. Returns 0, or -1 with errno set.
static inline int kept_sync(int file) { return KEPT_UNINTERRUPTED(fsync(file)); }

/// Moves a new descriptor away from the numbers of standard input, output and error, which a program may have closed:
/// its output would go into the file. On failure closes it and returns -1 with errno set.
static inline int kept_not_standard(int file) {
  if (file < 0 || file > 2) return file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, 3), error = errno;
  close(file);
  errno = error;
  return moved;
}

/// Opens or creates a file in a folder: never through a symbolic link, without waiting for the other end of a FIFO, and
/// with close-on-exec. Returns -1 on failure.
static inline int kept_open_at(int folder, const char *name, int flags, mode_t mode) {
  flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  return kept_not_standard(KEPT_UNINTERRUPTED(openat(folder, name, flags, mode)));
}

/// Opens a file that a caller names, following symbolic links.
static inline int kept_open_named(const char *path) {
  return kept_not_standard(KEPT_UNINTERRUPTED(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)));
}

/// Opens a file with O_PATH: that reads nothing and does not wait, and closing the descriptor releases no lock. `flags`
/// may contain O_NOFOLLOW and O_DIRECTORY.
static inline int kept_hold_at(int folder, const char *name, int flags) {
  flags |= KEPT_HOLD | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  return kept_not_standard(KEPT_UNINTERRUPTED(openat(folder, name, flags)));
}

/// Opens what a path leads to that has no symbolic links: ELOOP if it has one, ENOSYS before Linux 5.6.
static inline int kept_open_plain_path(const char *path, uint64_t flags) {
#if defined(__linux__)
  struct {
    uint64_t flags, mode, resolve;
  } how = { flags | O_CLOEXEC, 0, 0x04 /* RESOLVE_NO_SYMLINKS */ };
  return kept_not_standard((int)KEPT_UNINTERRUPTED(syscall(437 /* openat2 */, AT_FDCWD, path, &how, sizeof how)));
#else
  (void)path, (void)flags;
  errno = ENOSYS;
  return -1;
#endif
}

static inline int kept_hold_without_links(const char *path) {
  return kept_open_plain_path(path, KEPT_HOLD | O_DIRECTORY);
}

static inline int kept_open_without_links(const char *path) {
  return kept_open_plain_path(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

/// Reads the target of a symbolic link. Returns the number of bytes, or -1 with errno set.
static inline ssize_t kept_link_target(int folder, const char *name, void *target, size_t capacity) {
  return readlinkat(folder, name, (char *)target, capacity);
}

/// Creates a file of mode 0600, whatever the umask is. Returns -1 with errno set, EEXIST if the name exists.
static inline int kept_make_at(int folder, const char *name) {
  struct stat status;
  int file = kept_open_at(folder, name, O_RDWR | O_CREAT | O_EXCL, 0600);
  // A file system without modes refuses, and then no permission is missing.
  if (file >= 0 && fstat(file, &status) == 0 && (status.st_mode & 0777) != 0600) (void)!fchmod(file, 0600);
  return file;
}

/// Sets the mode of a new folder to 0700, because the umask may have removed a part of it. Returns 0, or -1 with errno
/// set.
static inline int kept_unmask_folder(int folder, const char *path) {
  struct stat status;
  char held_path[32];
  int held = kept_hold_at(folder, path, O_NOFOLLOW | O_DIRECTORY), result = -1, error;
  if (held < 0) return -1;
  if (fstat(held, &status) != 0) goto done;
  if ((status.st_mode & 0700) == 0700) result = 0;
  if (result == 0 || status.st_uid != geteuid()) goto done;
  // By its descriptor: the path may lead to something else by now.
  snprintf(held_path, sizeof held_path, "/proc/self/fd/%d", held);
  result = chmod(held_path, 0700);
  if (result != 0 && errno == ENOENT) result = fchmodat(folder, path, 0700, 0);
done:
  error = errno;
  close(held);
  errno = error;
  return result;
}

/// Creates a folder of mode 0700, whatever the umask is. Returns 0, or -1 with errno set.
static inline int kept_make_folder_at(int folder, const char *path) {
  if (mkdirat(folder, path, 0700) != 0) return -1;
  if (kept_unmask_folder(folder, path) == 0) return 0;
  /* Do not leave behind what cannot be used. */
  int error = errno;
  (void)unlinkat(folder, path, AT_REMOVEDIR);
  errno = error;
  return -1;
}

static inline int kept_make_folder(const char *path) { return kept_make_folder_at(AT_FDCWD, path); }

/// Moves a file to a name in another folder, or in the same, if that name does not exist. On file systems that cannot
/// do that in one step the file briefly has both names. Returns 0, or -1 with errno set, EEXIST if the name exists.
static inline int kept_rename_new_at(int source, const char *draft, int folder, const char *name) {
#if defined(__linux__)
  const unsigned no_replace = 1; /* RENAME_NOREPLACE */
  int result = renameat2 ? renameat2(source, draft, folder, name, no_replace)
                         : (int)syscall(SYS_renameat2, source, draft, folder, name, no_replace);
  if (result == 0 || (errno != EINVAL && errno != ENOSYS)) return result;
#endif
  if (linkat(source, draft, folder, name, 0) != 0) return -1;
  (void)unlinkat(source, draft, 0);
  return 0;
}

/// Whether every user of the system is mapped to the user namespace of this process. True without /proc.
static inline bool kept_maps_every_user(void) {
  unsigned long inside, outside, count, users = 0;
  FILE *map = fopen("/proc/self/uid_map", "re");
  if (map == NULL) return true;
  while (fscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3) users += count;
  fclose(map);
  return users >= UINT32_MAX; // -1 means no user
}

/// An environment variable; NULL also if the program has other rights than the user who set it, as a set-user-ID
/// program has.
static inline const char *kept_variable(const char *name) {
#if defined(__linux__)
  return secure_getenv(name);
#else
  return issetugid() ? NULL : getenv(name);
#endif
}

/// The absolute path that a variable has; NULL if it has another text.
static inline const char *kept_path_variable(const char *name) {
  const char *path = kept_variable(name);
  return path != NULL && *path == '/' ? path : NULL;
}

/// A path and a suffix, as text to free with free(); NULL if the path is not absolute, or if memory is short.
static inline char *kept_absolute(const char *path, const char *suffix) {
  char *text = *path == '/' ? (char *)malloc(strlen(path) + strlen(suffix) + 1) : NULL;
  if (text != NULL) strcpy(stpcpy(text, path), suffix);
  return text;
}

/// The folder of the user's configuration, an absolute path to free with free(). Relative paths in variables are
/// ignored, as the XDG specification requires. Without HOME, the user database has the home folder: that of the
/// effective user, so that a set-user-ID program writes nothing into a folder of its caller. NULL if none names one.
static inline char *kept_configuration_folder(void) {
  const char *folder = kept_path_variable("XDG_CONFIG_HOME"), *home = kept_path_variable("HOME");
  if (folder != NULL) return kept_absolute(folder, "");
  if (home != NULL) return kept_absolute(home, "/.config");
  int error = ERANGE;
  char *found = NULL;
  for (size_t capacity = 1024; error == ERANGE && capacity <= 1 << 20; capacity *= 4) {
    struct passwd entry, *user = NULL;
    char *buffer = (char *)malloc(capacity);
    if (buffer == NULL) return NULL;
    error = getpwuid_r(geteuid(), &entry, buffer, capacity, &user);
    if (error == 0 && user != NULL) found = kept_absolute(user->pw_dir, "/.config");
    free(buffer);
  }
  return found;
}

/// The environment variables, each as NAME=text, followed by a null pointer; empty if kept_variable() returns none.
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
