// Properties of file systems, folders and files: the kind of a file system, the identity of a folder, the kind of a
// file, and times of change.
#ifndef KEPT_FILE_SYSTEM_H
#define KEPT_FILE_SYSTEM_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
// glibc declares this only with _GNU_SOURCE, and Swift does not define that.
extern int fallocate(int file, int mode, off_t start, off_t length);
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

/// Returns in `kind` the number by which statfs identifies the file system; on other systems 0 for a local one and the
/// number of NFS for all others. Returns 0, or -1 with errno set.
static inline int kept_file_system(const char *path, uint32_t *kind) {
  struct statfs status;
  if (statfs(path, &status) != 0) return -1;
#if defined(__linux__)
  *kind = (uint32_t)status.f_type;
#else
  *kind = status.f_flags & MNT_LOCAL ? 0 : 0x6969;
#endif
  return 0;
}

/// A time in nanoseconds since 1970, clamped to the range, because file systems store any number of seconds.
static inline int64_t kept_nanoseconds(int64_t seconds, int64_t nanoseconds) {
  int64_t result;
  if (!__builtin_mul_overflow(seconds, (int64_t)1000000000, &result) &&
    !__builtin_add_overflow(result, nanoseconds, &result))
    return result;
  return seconds < 0 ? INT64_MIN : INT64_MAX;
}

/// Identifies a folder, and distinguishes it from a later folder that reuses its inode number.
typedef struct kept_folder_identity {
  uint64_t device, inode;
  int64_t made; // in nanoseconds since 1970; 0 if unknown
} kept_folder_identity;

/// Returns 0, or -1 with errno set, ENOTDIR if it is not a folder. A folder has the same identity in every call: the
/// fallback is for systems on which statx never works, not for a folder that another process has just created.
static inline int kept_identify_folder(const char *path, kept_folder_identity *identity) {
  mode_t mode;
#if defined(__linux__)
  struct statx extended;
  unsigned wanted = STATX_TYPE | STATX_INO | STATX_BTIME;
  if (syscall(SYS_statx, -100 /* AT_FDCWD */, path, 0, wanted, &extended) == 0) {
    mode = extended.stx_mode;
    identity->device = (uint64_t)extended.stx_dev_major << 32 | extended.stx_dev_minor;
    identity->inode = extended.stx_ino;
    identity->made =
      extended.stx_mask & STATX_BTIME ? kept_nanoseconds(extended.stx_btime.tv_sec, extended.stx_btime.tv_nsec) : 0;
  } else if (errno != ENOSYS && errno != EPERM) {
    return -1;
  } else
#endif
  {
    // Some containers do not support statx, or forbid it.
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    mode = status.st_mode;
    identity->device = (uint64_t)status.st_dev;
    identity->inode = (uint64_t)status.st_ino;
#if defined(__APPLE__)
    identity->made = kept_nanoseconds(status.st_birthtimespec.tv_sec, status.st_birthtimespec.tv_nsec);
#else
    identity->made = 0;
#endif
  }
  if (S_ISDIR(mode)) return 0;
  errno = ENOTDIR;
  return -1;
}

/// Reads the status of a name in a folder, or of an open file by the name "", without its times, which are 0. Since
/// Linux 6.13, the first write after a look at the times changes them to the nanosecond, and the sync after it writes
/// the inode too: a durable commit would take twice as long. Returns 0, or -1 with errno set.
static inline int kept_status_without_times(int folder, const char *name, struct stat *status) {
#if defined(__linux__)
  struct statx extended;
  unsigned wanted = STATX_BASIC_STATS & ~(STATX_ATIME | STATX_MTIME | STATX_CTIME);
  if (syscall(SYS_statx, folder, name, 0x1100 /* AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW */, wanted, &extended) == 0) {
    *status = (struct stat){
      .st_dev = makedev(extended.stx_dev_major, extended.stx_dev_minor),
      .st_ino = extended.stx_ino,
      .st_mode = extended.stx_mode,
      .st_nlink = extended.stx_nlink,
      .st_uid = extended.stx_uid,
      .st_size = (off_t)extended.stx_size,
      .st_blocks = extended.stx_blocks,
    };
    return 0;
  }
  if (errno != ENOSYS && errno != EPERM) return -1;
#endif
  return name[0] ? fstatat(folder, name, status, AT_SYMLINK_NOFOLLOW) : fstat(folder, status);
}

/// Whether an open folder is one that was mounted, and that mount is read-only.
static inline bool kept_is_read_only_mount(int folder) {
#if defined(__linux__)
  const uint64_t mount_root = 0x2000; /* STATX_ATTR_MOUNT_ROOT */
  struct statx extended;
  struct statvfs mount;
  return syscall(SYS_statx, folder, "", 0x1000 /* AT_EMPTY_PATH */, 0, &extended) == 0 &&
    (extended.stx_attributes & mount_root) && fstatvfs(folder, &mount) == 0 && (mount.f_flag & ST_RDONLY);
#else
  (void)folder;
  return false;
#endif
}

/// When a file was last changed, in nanoseconds since 1970.
static inline int64_t kept_changed_nanoseconds(const struct stat *status) {
#if defined(__APPLE__)
  return kept_nanoseconds(status->st_mtimespec.tv_sec, status->st_mtimespec.tv_nsec);
#else
  return kept_nanoseconds(status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
#endif
}

/// When a file, its permissions or its names were last changed, in nanoseconds since 1970. This time cannot be set.
static inline int64_t kept_altered_nanoseconds(const struct stat *status) {
#if defined(__APPLE__)
  return kept_nanoseconds(status->st_ctimespec.tv_sec, status->st_ctimespec.tv_nsec);
#else
  return kept_nanoseconds(status->st_ctim.tv_sec, status->st_ctim.tv_nsec);
#endif
}

/// A description of the file kind; NULL for a regular file.
static inline const char *kept_no_file(const struct stat *status) {
  switch (status->st_mode & S_IFMT) {
    case S_IFREG: return NULL;
    case S_IFLNK: return "a symbolic link";
    case S_IFDIR: return "a directory";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    default: return "a device";
  }
}

/// The next name in an open folder; NULL at the end, or with errno set after a failure.
static inline const char *kept_next_name(DIR *folder) {
  errno = 0;
  const struct dirent *entry = readdir(folder);
  return entry ? entry->d_name : NULL;
}

#endif
