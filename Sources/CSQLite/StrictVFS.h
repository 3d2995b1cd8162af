// SQLite's VFS with another way to open files: databases and logs get the strict methods (WholePages.h).
#ifndef KEPT_STRICT_VFS_H
#define KEPT_STRICT_VFS_H

#include "WholePages.h"

/// The page size of the database of a log whose pages have checksums; 0 if they have none.
static inline int kept_log_page_size(sqlite3_file *log, uint32_t *page_size) {
  sqlite3_file *database = kept_strict(log)->database;
  *page_size = 0;
  if (!database || !database->pMethods) return SQLITE_OK;
  // The file was empty when it was opened, and another connection has made the database since.
  unsigned char header[KEPT_HEADER_BYTES];
  int knows = kept_strict(database)->has_header;
  int status = knows ? SQLITE_OK : kept_read_database(database, header, sizeof header, 0);
  *page_size = kept_strict(database)->page_size;
  return status == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : status;
}

/// Whether this is the page of a frame.
static inline int kept_is_frame_page(uint32_t page_size, int size, sqlite3_int64 offset) {
  sqlite3_int64 start = offset - KEPT_LOG_HEADER_BYTES - KEPT_FRAME_HEADER_BYTES;
  return page_size && (uint32_t)size == page_size && start >= 0 && start % (size + KEPT_FRAME_HEADER_BYTES) == 0;
}

static inline int kept_read_log(sqlite3_file *log, void *bytes, int size, sqlite3_int64 offset) {
  uint32_t page_size;
  int status = kept_log_page_size(log, &page_size);
  if (status == SQLITE_OK) status = kept_read_bytes(log, bytes, size, offset);
  if (status != SQLITE_OK || !page_size) return status;
  // The log of a database with pages of another size is not the log of this one.
  if (!kept_is_frame_page(page_size, size, offset))
    return kept_page_size((uint32_t)size) ? kept_note_damage(log) : status;
  if (kept_strict(kept_strict(log)->database)->ignores_checksums) return status;
  unsigned char number[4];
  status = kept_read_bytes(log, number, 4, offset - KEPT_FRAME_HEADER_BYTES);
  return status == SQLITE_OK ? kept_verify_page(log, bytes, page_size, kept_big_endian(number)) : status;
}

/// Whether the checksums of the log have the byte order of another machine, as a log may that was copied from one. Once
/// they have not, they never will.
static inline int kept_learn_order(sqlite3_file *log, int *is_big_endian) {
  const int is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  unsigned char magic[4];
  *is_big_endian = is_big;
  if (kept_strict(log)->is_native) return SQLITE_OK;
  int status = kept_read_bytes(log, magic, 4, 0);
  if (status != SQLITE_OK) return status;
  *is_big_endian = magic[3] & 1;
  kept_strict(log)->is_native = *is_big_endian == is_big;
  return SQLITE_OK;
}

/// Puts into a frame the checksum that follows from the one before it in the file.
static inline int kept_chain_frame(sqlite3_file *log, unsigned char *frame, uint32_t page_size, sqlite3_int64 start) {
  unsigned char previous[8];
  int is_big_endian;
  sqlite3_int64 before = start == KEPT_LOG_HEADER_BYTES ? 24 : start - page_size - 8;
  int status = kept_learn_order(log, &is_big_endian);
  if (status == SQLITE_OK) status = kept_read_bytes(log, previous, 8, before);
  if (status != SQLITE_OK) return status;
  uint32_t sum[2] = { kept_big_endian(previous), kept_big_endian(previous + 4) };
  kept_sum_log(sum, frame, 8, is_big_endian);
  kept_sum_log(sum, frame + KEPT_FRAME_HEADER_BYTES, page_size, is_big_endian);
  kept_put_big_endian(frame + 16, sum[0]);
  kept_put_big_endian(frame + 20, sum[1]);
  return SQLITE_OK;
}

/// Writes the page of a frame whose header was just written: sealed, and the header again with its checksum.
static inline int kept_write_frame(sqlite3_file *log, const void *page, uint32_t page_size, sqlite3_int64 start) {
  unsigned char *frame = kept_strict(log)->frame;
  memcpy(frame + KEPT_FRAME_HEADER_BYTES, page, page_size);
  int status = kept_seal(log, frame + KEPT_FRAME_HEADER_BYTES, page_size, kept_big_endian(frame));
  if (status == SQLITE_OK) status = kept_chain_frame(log, frame, page_size, start);
  if (status != SQLITE_OK) return status;
  return kept_write_noting(log, frame, KEPT_FRAME_HEADER_BYTES + (int)page_size, start);
}

/// Keeps the header of a frame for its page, which SQLite writes next.
static inline int kept_keep_frame_header(sqlite3_file *log, const void *header, uint32_t page_size) {
  struct kept_strict_methods *strict = kept_strict(log);
  if (strict->frame_bytes < KEPT_FRAME_HEADER_BYTES + page_size) {
    unsigned char *frame = (unsigned char *)realloc(strict->frame, KEPT_FRAME_HEADER_BYTES + page_size);
    if (!frame) return SQLITE_IOERR_NOMEM;
    strict->frame = frame;
    strict->frame_bytes = KEPT_FRAME_HEADER_BYTES + page_size;
  }
  memcpy(strict->frame, header, KEPT_FRAME_HEADER_BYTES);
  return SQLITE_OK;
}

static inline int kept_write_log(sqlite3_file *log, const void *bytes, int size, sqlite3_int64 offset) {
  struct kept_strict_methods *strict = kept_strict(log);
  uint32_t page_size;
  sqlite3_int64 start = offset - KEPT_FRAME_HEADER_BYTES;
  int status = kept_log_page_size(log, &page_size);
  if (status != SQLITE_OK) return status;
  if (page_size && size == KEPT_FRAME_HEADER_BYTES) {
    status = kept_keep_frame_header(log, bytes, page_size);
    strict->frame_start = offset;
  } else if (kept_is_frame_page(page_size, size, offset)) {
    if (strict->frame_start == start) return kept_write_frame(log, bytes, page_size, start);
    // A page that its transaction has written before; SQLite computes the checksums of these frames from the file.
    unsigned char number[4];
    status = kept_read_bytes(log, number, 4, start);
    if (status == SQLITE_OK) status = kept_seal(log, (void *)bytes, page_size, kept_big_endian(number));
  }
  return status == SQLITE_OK ? kept_write_noting(log, bytes, size, offset) : status;
}

/// The VFS; every call but xOpen and xSleep goes to the one below with that one's own address.
struct kept_vfs {
  sqlite3_vfs vfs;
  sqlite3_vfs *below;
  int (*open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
};

static inline sqlite3_vfs *kept_below(sqlite3_vfs *vfs) { return ((struct kept_vfs *)vfs)->below; }

static inline int kept_open_strictly(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  int status = ((struct kept_vfs *)vfs)->open(kept_below(vfs), name, file, flags, out);
  if (status != SQLITE_OK || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) return status;
  struct kept_strict_methods *strict = kept_make_strict(file);
  if (!strict) {
    file->pMethods->xClose(file);
    file->pMethods = 0;
    return SQLITE_NOMEM;
  }
  if (flags & SQLITE_OPEN_WAL) {
    strict->methods.xRead = kept_read_log;
    strict->methods.xWrite = kept_write_log;
    strict->database = sqlite3_database_file_object(name);
  } else if (flags & SQLITE_OPEN_CREATE) {
    strict->is_new = 1;
  } else {
    strict->must_be_whole = 1;
  }
  return SQLITE_OK;
}

static inline int kept_vfs_delete(sqlite3_vfs *vfs, const char *name, int syncs) {
  return kept_below(vfs)->xDelete(kept_below(vfs), name, syncs);
}

static inline int kept_vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  return kept_below(vfs)->xAccess(kept_below(vfs), name, flags, out);
}

static inline int kept_vfs_randomness(sqlite3_vfs *vfs, int count, char *out) {
  return kept_below(vfs)->xRandomness(kept_below(vfs), count, out);
}

static inline int kept_vfs_time(sqlite3_vfs *vfs, double *out) {
  return kept_below(vfs)->xCurrentTime(kept_below(vfs), out);
}

static inline int kept_vfs_time64(sqlite3_vfs *vfs, sqlite3_int64 *out) {
  return kept_below(vfs)->xCurrentTimeInt64(kept_below(vfs), out);
}

static inline int kept_vfs_last_error(sqlite3_vfs *vfs, int count, char *out) {
  return kept_below(vfs)->xGetLastError(kept_below(vfs), count, out);
}

/// Makes a VFS above another one; the caller adds the name, and the methods that are not forwarded.
static inline struct kept_vfs kept_vfs_above(sqlite3_vfs *below) {
  struct kept_vfs made = { *below, below, below->xOpen };
  sqlite3_vfs *vfs = &made.vfs;
  vfs->pNext = 0;
  vfs->xOpen = kept_open_strictly;
  vfs->xDelete = kept_vfs_delete;
  vfs->xAccess = kept_vfs_access;
  vfs->xRandomness = kept_vfs_randomness;
  vfs->xCurrentTime = kept_vfs_time;
  if (vfs->iVersion >= 2 && vfs->xCurrentTimeInt64) vfs->xCurrentTimeInt64 = kept_vfs_time64;
  if (vfs->xGetLastError) vfs->xGetLastError = kept_vfs_last_error;
  // Kept loads no extensions and replaces no system calls.
  vfs->xDlOpen = 0;
  if (vfs->iVersion > 2) vfs->iVersion = 2;
  return made;
}

#endif
