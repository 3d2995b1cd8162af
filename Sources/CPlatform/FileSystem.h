// What kind of file system a path is on, and when a file was changed.
#ifndef KEPT_FILE_SYSTEM_H
#define KEPT_FILE_SYSTEM_H

#include <stdint.h>
#include <sys/stat.h>

#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

/// Gives the number by which statfs names the file system; elsewhere 0 for a local one and NFS's for all others.
/// Returns 0, or -1 with errno set.
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

/// When a file was last changed, in nanoseconds since 1970.
static inline int64_t kept_changed_nanoseconds(const struct stat *status) {
#if defined(__APPLE__)
  return (int64_t)status->st_mtimespec.tv_sec * 1000000000 + status->st_mtimespec.tv_nsec;
#else
  return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
#endif
}

#endif
