// Detects damaged and missing pages, and distinguishes them from pages that cannot be read now. Each page has a
// checksum (PageChecksums.h). SQLite reads a page beyond the end of a truncated database as zeros, and with a log it
// never compares the file's size with the expected size: that is refused here. SQLite also reports some disk errors as
// corruption: here they stay disk errors.
#ifndef KEPT_WHOLE_PAGES_H
#define KEPT_WHOLE_PAGES_H

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "PageChecksums.h"

/// The results of reading and writing a file since they were last taken.
struct kept_reading {
  int failure;      // the errno of the last failed call, which is not damage; 0: none
  int found_damage; // whether a page was missing, incomplete, or had a wrong checksum
};

/// Custom file controls: one takes a kept_reading, one takes an int that says whether wrong checksums are ignored, and
/// one returns in an int whether pages have checksums.
enum { KEPT_TAKE_READING = 0x4B657074, KEPT_IGNORE_CHECKSUMS, KEPT_HAS_CHECKSUMS };

/// A file's own methods, wrapped by stricter ones; freed when the file is closed.
struct kept_strict_methods {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *plain;
  int must_be_whole;  // a missing or incomplete page is damage
  int is_new;         // created by SQLite, as a copy: pages may be written before the header is
  uint32_t page_size; // of pages with checksums; 0: they have none, or the header was not read yet
  int ignores_checksums;
  sqlite3_file *database;    // of a log
  sqlite3_int64 frame_start; // where the last frame header was written to a log
  unsigned char *frame;      // that header, and room for its page
  uint32_t frame_bytes;
  int is_native; // whether the log is known to have this machine's byte order
  struct kept_reading reading;
};

static inline struct kept_strict_methods *kept_strict(sqlite3_file *file) {
  return (struct kept_strict_methods *)file->pMethods;
}

static inline const sqlite3_io_methods *kept_plain_methods(sqlite3_file *file) { return kept_strict(file)->plain; }

static inline void kept_note_failure(sqlite3_file *file) {
  int error = 0;
  kept_plain_methods(file)->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  kept_strict(file)->reading.failure = error ? error : EIO;
}

static inline int kept_note_damage(sqlite3_file *file) {
  kept_strict(file)->reading.found_damage = 1;
  return SQLITE_CORRUPT;
}

/// An incomplete page is damage. A read of less than the smallest page is a read of the header, possibly of an empty
/// file. A disk error means that nothing is lost yet; SQLite would report some of these errors as corruption.
static inline int kept_read_bytes(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
  struct kept_strict_methods *strict = kept_strict(file);
  int status = strict->plain->xRead(file, bytes, size, offset);
  if (status == SQLITE_OK) return status;
  if (status == SQLITE_IOERR_SHORT_READ) return strict->must_be_whole && size >= 512 ? kept_note_damage(file) : status;
  kept_note_failure(file);
  return SQLITE_IOERR_READ;
}

/// SQLite makes further calls to undo a failed write, after which it no longer has the reason.
static inline int kept_write_noting(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  int status = kept_plain_methods(file)->xWrite(file, bytes, size, offset);
  if (status != SQLITE_OK && status != SQLITE_FULL) kept_note_failure(file);
  return status;
}

static inline int kept_verify_page(sqlite3_file *file, const void *page, uint32_t size, uint32_t number) {
  return kept_page_verifies(page, size, number) ? SQLITE_OK : kept_note_damage(file);
}

/// Some versions of SQLite read a part of an overflow page past the cache: the whole page is verified.
static inline int kept_read_part(sqlite3_file *file, void *part, int size, sqlite3_int64 offset) {
  struct kept_strict_methods *strict = kept_strict(file);
  uint32_t page_size = strict->page_size, start = (uint32_t)(offset % page_size);
  if (start + (uint32_t)size > page_size) return kept_note_damage(file);
  unsigned char *page = (unsigned char *)malloc(page_size);
  if (!page) return SQLITE_IOERR_NOMEM;
  int status = strict->methods.xRead(file, page, (int)page_size, offset - start);
  memcpy(part, page + start, (size_t)size);
  free(page);
  return status;
}

/// SQLite may read the first page with another size until it has seen the header.
static inline int kept_read_database(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
  struct kept_strict_methods *strict = kept_strict(file);
  int is_page = (uint32_t)size == strict->page_size && offset % size == 0;
  if (strict->page_size && !is_page && offset >= strict->page_size && !strict->ignores_checksums)
    return kept_read_part(file, bytes, size, offset);
  int status = kept_read_bytes(file, bytes, size, offset);
  if (status != SQLITE_OK) return status;
  // Once set it stays, so that damage to the header does not end verification.
  if (!strict->page_size && offset == 0 && size >= KEPT_HEADER_BYTES) {
    strict->page_size = kept_checked_page_size((const unsigned char *)bytes);
    is_page = (uint32_t)size == strict->page_size;
  }
  if (!is_page || strict->ignores_checksums) return status;
  return kept_verify_page(file, bytes, (uint32_t)size, (uint32_t)(offset / size) + 1);
}

/// Changes the reserved bytes of a page in SQLite's memory, where they have no meaning.
static inline int kept_write_database(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  struct kept_strict_methods *strict = kept_strict(file);
  if (offset == 0 && size >= 512) {
    uint32_t page_size = kept_checked_page_size((const unsigned char *)bytes);
    // Its other pages may have been sealed already, over bytes that were not reserved.
    if (strict->is_new && page_size != (uint32_t)size) return SQLITE_IOERR_WRITE;
    strict->page_size = page_size;
  } else if (strict->is_new && !strict->page_size) {
    strict->page_size = kept_page_size((uint32_t)size);
  }
  if (strict->page_size && (uint32_t)size == strict->page_size && offset % size == 0)
    kept_seal_page((void *)bytes, (uint32_t)size, (uint32_t)(offset / size) + 1);
  return kept_write_noting(file, bytes, size, offset);
}

static inline int kept_control_strict(sqlite3_file *file, int what, void *argument) {
  struct kept_strict_methods *strict = kept_strict(file);
  struct kept_reading none = { 0, 0 };
  switch (what) {
    case KEPT_TAKE_READING:
      *(struct kept_reading *)argument = strict->reading;
      strict->reading = none;
      return SQLITE_OK;
    case KEPT_IGNORE_CHECKSUMS: strict->ignores_checksums = *(int *)argument; return SQLITE_OK;
    case KEPT_HAS_CHECKSUMS: *(int *)argument = strict->page_size != 0; return SQLITE_OK;
    default: return strict->plain->xFileControl(file, what, argument);
  }
}

/// Makes SQLite read a page instead of mapping it.
static inline int kept_fetch_nothing(sqlite3_file *file, sqlite3_int64 offset, int size, void **page) {
  (void)file, (void)offset, (void)size;
  *page = 0;
  return SQLITE_OK;
}

static inline int kept_close_strict(sqlite3_file *file) {
  struct kept_strict_methods *strict = kept_strict(file);
  file->pMethods = strict->plain;
  int status = file->pMethods->xClose(file);
  free(strict->frame);
  free(strict);
  return status;
}

/// Installs the strict methods above in this file.
static inline struct kept_strict_methods *kept_make_strict(sqlite3_file *file) {
  struct kept_strict_methods *strict = (struct kept_strict_methods *)malloc(sizeof *strict);
  if (!strict) return 0;
  memset(strict, 0, sizeof *strict);
  strict->plain = file->pMethods;
  strict->methods = *file->pMethods;
  strict->methods.xRead = kept_read_database;
  strict->methods.xWrite = kept_write_database;
  strict->methods.xFileControl = kept_control_strict;
  strict->methods.xClose = kept_close_strict;
  if (strict->methods.iVersion >= 3) strict->methods.xFetch = kept_fetch_nothing;
  file->pMethods = &strict->methods;
  return strict;
}

static inline sqlite3_file *kept_sqlite_file(sqlite3 *connection, int which) {
  sqlite3_file *file = 0;
  int status = sqlite3_file_control(connection, "main", which, &file);
  return status == SQLITE_OK && file && file->pMethods ? file : 0;
}

static inline sqlite3_file *kept_sqlite_database_file(sqlite3 *connection) {
  return kept_sqlite_file(connection, SQLITE_FCNTL_FILE_POINTER);
}

/// Whether the database file begins with SQLite's header; an empty file does not.
static inline int kept_sqlite_has_header(sqlite3 *connection) {
  sqlite3_file *file = kept_sqlite_database_file(connection);
  char header[16];
  return file && file->pMethods->xRead(file, header, 16, 0) == SQLITE_OK && memcmp(header, "SQLite format 3", 16) == 0;
}

/// Takes the results of reading and writing the database and its log since they were last taken.
static inline struct kept_reading kept_sqlite_take_reading(sqlite3 *connection) {
  struct kept_reading both = { 0, 0 }, one = { 0, 0 };
  int files[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };
  for (int i = 0; i < 2; i++) {
    sqlite3_file *file = kept_sqlite_file(connection, files[i]);
    if (!file || file->pMethods->xFileControl(file, KEPT_TAKE_READING, &one) != SQLITE_OK) continue;
    if (one.failure) both.failure = one.failure;
    both.found_damage |= one.found_damage;
  }
  return both;
}

/// Makes this connection report damaged and missing pages as corrupt; for a database in memory.
static inline int kept_sqlite_read_whole_pages(sqlite3 *connection) {
  sqlite3_file *file = kept_sqlite_database_file(connection);
  struct kept_strict_methods *strict = file ? kept_make_strict(file) : 0;
  unsigned char header[KEPT_HEADER_BYTES];
  if (!strict) return file ? SQLITE_NOMEM : SQLITE_CANTOPEN;
  strict->must_be_whole = 1;
  // SQLite has read the header already.
  int status = file->pMethods->xRead(file, header, sizeof header, 0);
  return status == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : status;
}

/// Makes a new, empty database reserve the bytes for checksums, and every copy that SQLite makes of this one.
static inline int kept_sqlite_reserve(sqlite3 *connection) {
  int bytes = KEPT_RESERVED_BYTES;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

/// Whether the pages of the database have checksums, by the header of its file.
static inline int kept_sqlite_has_checksums(sqlite3 *connection) {
  int has = 0;
  return sqlite3_file_control(connection, "main", KEPT_HAS_CHECKSUMS, &has) == SQLITE_OK && has;
}

/// Switches between reading pages with wrong checksums and refusing them.
static inline int kept_sqlite_ignore_checksums(sqlite3 *connection, int ignores) {
  return sqlite3_file_control(connection, "main", KEPT_IGNORE_CHECKSUMS, &ignores);
}

// "WAL-Index File Format" in SQLite's documentation: blocks of 32 KiB, each with the page numbers of 4096 frames; in
// the first block, the header takes the place of 34 of them. Frames are numbered from 1.
enum { KEPT_INDEX_BLOCK = 32768, KEPT_BLOCK_FRAMES = 4096, KEPT_INDEX_HEADER_WORDS = 34 };

/// A block of the wal-index that this connection, inside a transaction, has already mapped; NULL if there is none.
static inline int kept_index_block(sqlite3_file *database, uint32_t block, const volatile uint32_t **start) {
  void volatile *mapped = 0;
  int status = database->pMethods->xShmMap(database, (int)block, KEPT_INDEX_BLOCK, 0, &mapped);
  *start = (const volatile uint32_t *)mapped;
  // In a read-only folder SQLite may keep the wal-index in private memory.
  return (status & 0xFF) == SQLITE_READONLY ? SQLITE_OK : status;
}

static inline int kept_sqlite_uses_log(sqlite3 *connection) {
  return kept_sqlite_file(connection, SQLITE_FCNTL_JOURNAL_POINTER) != 0;
}

/// Whether the log has all pages from `first` to `last`. It reads only 4 bytes for each frame.
static inline int kept_log_has_pages(
  sqlite3_file *database, uint32_t frames, uint32_t page_size, uint32_t first, uint32_t last, int *has) {
  // SQLite locks the byte at 1 GiB, and never writes the page that contains it.
  uint32_t locked = 0x40000000 / page_size + 1, missing = last - first + 1 - (first <= locked && locked <= last);
  *has = 0;
  if (missing > frames) return SQLITE_OK;
  unsigned char *found = (unsigned char *)malloc((size_t)missing + 1);
  if (!found) return SQLITE_NOMEM;
  memset(found, 0, (size_t)missing + 1);
  int status = SQLITE_OK;
  const volatile uint32_t *block = 0;
  for (uint32_t frame = 0; frame < frames && missing > 0; frame++) {
    uint32_t word = frame + KEPT_INDEX_HEADER_WORDS;
    if (!block || word % KEPT_BLOCK_FRAMES == 0) {
      status = kept_index_block(database, word / KEPT_BLOCK_FRAMES, &block);
      if (status == SQLITE_OK && !block) status = SQLITE_IOERR_SHMMAP;
      if (status != SQLITE_OK) break;
    }
    uint32_t page = block[word % KEPT_BLOCK_FRAMES];
    if (page < first || page > last || page == locked || found[page - first]) continue;
    found[page - first] = 1;
    missing--;
  }
  free(found);
  *has = missing == 0;
  return status;
}

/// How far a log reaches.
struct kept_log_end {
  unsigned char salts[8]; // random, and different ones each time the log begins again
  uint32_t frames;        // all of them verified when the log was recovered, or were written since
};

/// How far the log of a connection reaches that has read in it; zeros if there is none.
static inline struct kept_log_end kept_sqlite_log_end(sqlite3 *connection) {
  sqlite3_file *database = kept_sqlite_database_file(connection);
  const volatile uint32_t *header = 0;
  struct kept_log_end end = { { 0 }, 0 };
  if (!database || !kept_sqlite_uses_log(connection)) return end;
  if (kept_index_block(database, 0, &header) != SQLITE_OK || !header) return end;
  // It is there twice; while they differ, another process is writing it.
  uint32_t words[24];
  for (int i = 0; i < 24; i++) words[i] = header[i];
  if (memcmp(words, words + 12, 48) != 0) return end;
  end.frames = words[4];
  memcpy(end.salts, words + 8, 8);
  return end;
}

/// Whether the header of the log is damaged, so that SQLite takes the log for empty.
static inline int kept_sqlite_log_is_damaged(sqlite3 *connection) {
  sqlite3_file *log = kept_sqlite_file(connection, SQLITE_FCNTL_JOURNAL_POINTER);
  unsigned char header[KEPT_LOG_HEADER_BYTES], zeros[KEPT_LOG_HEADER_BYTES] = { 0 };
  if (!log || log->pMethods->xRead(log, header, sizeof header, 0) != SQLITE_OK) return 0;
  return memcmp(header, zeros, sizeof header) != 0 && !kept_log_header_verifies(header);
}

enum kept_pages { KEPT_PAGES_MISSING, KEPT_PAGES_WHOLE, KEPT_PAGES_UNCOUNTED };

/// Without a log, the file must have the number of pages in its header. With more pages, the next new page would
/// overwrite one in use.
static inline int kept_file_has_pages(sqlite3_file *database, sqlite3_int64 size, enum kept_pages *answer) {
  // "The Database Header" in SQLite's documentation.
  unsigned char header[100];
  int status = database->pMethods->xRead(database, header, sizeof header, 0);
  if (status != SQLITE_OK) return status == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : status;
  uint32_t page_size = kept_page_size((uint32_t)(header[16] << 8 | header[17])), pages = kept_big_endian(header + 28);
  if (page_size == 0) return SQLITE_OK;
  // Some programs do not maintain the number: then the file length determines it.
  int counts = pages > 0 && memcmp(header + 24, header + 92, 4) == 0;
  int is_whole = counts ? size == (sqlite3_int64)pages * page_size : size % page_size == 0;
  if (is_whole) *answer = KEPT_PAGES_WHOLE;
  return SQLITE_OK;
}

/// Whether the database file has `pages` complete pages, or the log has those that are missing. Call it inside a
/// transaction, with the number of pages of that transaction; first with -1, because the number is needed only if there
/// is a log. Returns an SQLite result code if this cannot be determined.
static inline int kept_sqlite_has_pages(sqlite3 *connection, sqlite3_int64 pages, enum kept_pages *answer) {
  sqlite3_file *database = kept_sqlite_database_file(connection);
  sqlite3_int64 size = 0;
  *answer = KEPT_PAGES_MISSING;
  if (!database) return SQLITE_CANTOPEN;
  int status = database->pMethods->xFileSize(database, &size);
  if (status != SQLITE_OK) return status;
  if (!kept_sqlite_uses_log(connection)) return kept_file_has_pages(database, size, answer);
  const volatile uint32_t *header = 0;
  status = kept_index_block(database, 0, &header);
  if (status != SQLITE_OK) return status;
  if (!header) {
    *answer = KEPT_PAGES_WHOLE;
    return SQLITE_OK;
  }
  uint32_t frames = header[4], page_size = kept_page_size(((const volatile uint16_t *)header)[7]);
  if (frames == 0) return kept_file_has_pages(database, size, answer);
  if (pages < 0) {
    *answer = KEPT_PAGES_UNCOUNTED;
    return SQLITE_OK;
  }
  if (page_size == 0 || pages > UINT32_MAX - 1) return SQLITE_OK;
  sqlite3_int64 whole = size / page_size;
  int has = 1;
  if (whole < pages)
    status = kept_log_has_pages(database, frames, page_size, (uint32_t)whole + 1, (uint32_t)pages, &has);
  if (has) *answer = KEPT_PAGES_WHOLE;
  return status;
}

#endif
