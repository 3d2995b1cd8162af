// Detects damaged, foreign and missing pages, and distinguishes them from pages that cannot be read now. Each page has
// a checksum (PageChecksums.h) and the salt of its database (DatabaseSalt.h). SQLite reads a page beyond the end of a
// truncated database as zeros, and with a log it never compares the file's size with the expected size: that is refused
// here. SQLite also reports some disk errors as corruption: here they stay disk errors.
#ifndef KEPT_WHOLE_PAGES_H
#define KEPT_WHOLE_PAGES_H

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "DatabaseSalt.h"

/// The results of reading and writing a file since they were last taken.
struct kept_reading {
  int failure;      // the errno of the last failed call, which is not damage; 0: none
  int found_damage; // whether a page was missing or incomplete, or had a wrong checksum or salt
};

/// Custom file controls: one takes a kept_reading, one takes an int that says whether wrong checksums are ignored, one
/// returns in an int whether pages have checksums, and one takes a kept_first_page.
enum { KEPT_TAKE_READING = 0x4B657074, KEPT_IGNORE_CHECKSUMS, KEPT_HAS_CHECKSUMS, KEPT_REPLACE_FIRST_PAGE };

/// The first page of a new database. It has the header and the schema of every database of Kept.
struct kept_first_page {
  unsigned char bytes[4096];
};

/// A file's own methods, wrapped by stricter ones; freed when the file is closed.
struct kept_strict_methods {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *plain;
  int must_be_whole;  // a missing or incomplete page is damage
  int is_new;         // created by SQLite, as a copy: pages may be written before the header is
  int has_header;     // whether the header was read or written
  uint32_t page_size; // of pages with checksums; 0: they have none, or there was no header yet
  int ignores_checksums;
  struct kept_first_page *first_page; // what the first page of a damaged database is replaced with; or NULL
  struct kept_salt salt;
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

/// The database of a log, or the database itself.
static inline sqlite3_file *kept_database_of(sqlite3_file *file) {
  sqlite3_file *database = kept_strict(file)->database;
  return database ? database : file;
}

/// Looks for the salt in the database file, unless it is known.
static inline int kept_learn_salt(sqlite3_file *database, uint32_t page_size) {
  struct kept_salt *salt = &kept_strict(database)->salt;
  if (salt->is_known) return SQLITE_OK;
  int status = kept_find_salt(salt, database, kept_plain_methods(database), page_size);
  if (status == SQLITE_OK || status == SQLITE_IOERR_NOMEM) return status;
  kept_note_failure(database);
  return SQLITE_IOERR_READ;
}

/// Verifies the checksum and the salt of a page. If the first page that is read is in the log, the salt comes from the
/// database file nevertheless: the log may be that of another database.
static inline int kept_verify_page(sqlite3_file *file, const void *page, uint32_t size, uint32_t number) {
  if (!kept_page_verifies(page, size, number)) return kept_note_damage(file);
  sqlite3_file *database = kept_database_of(file);
  struct kept_salt *salt = &kept_strict(database)->salt;
  int status = file == database ? SQLITE_OK : kept_learn_salt(database, size);
  if (status != SQLITE_OK) return status;
  if (!salt->is_known) kept_take_salt(salt, page, size);
  return kept_is_salt(kept_page_salt(page, size), salt) ? SQLITE_OK : kept_note_damage(file);
}

/// Puts the salt and the checksum into a page that is written.
static inline int kept_seal(sqlite3_file *file, void *page, uint32_t size, uint32_t number) {
  sqlite3_file *database = kept_database_of(file);
  struct kept_salt *salt = &kept_strict(database)->salt;
  int status = kept_learn_salt(database, size);
  if (status != SQLITE_OK) return status;
  if (!salt->is_known) kept_make_salt(salt);
  kept_seal_page(page, size, number, salt->number);
  return SQLITE_OK;
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
  int is_replaced = offset == 0 && strict->first_page;
  if (is_replaced) memcpy(bytes, strict->first_page->bytes, (size_t)(size < 4096 ? size : 4096));
  // Once set it stays, so that damage to the header does not end verification.
  if (!strict->page_size && offset == 0 && size >= KEPT_HEADER_BYTES) {
    strict->has_header = 1;
    strict->page_size = kept_checked_page_size((const unsigned char *)bytes);
    is_page = (uint32_t)size == strict->page_size;
  }
  if (!is_page || strict->ignores_checksums || is_replaced) return status;
  return kept_verify_page(file, bytes, (uint32_t)size, (uint32_t)(offset / size) + 1);
}

/// Changes the reserved bytes of a page in SQLite's memory, where they have no meaning.
static inline int kept_write_database(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  struct kept_strict_methods *strict = kept_strict(file);
  if (offset == 0 && size >= 512) {
    uint32_t page_size = kept_checked_page_size((const unsigned char *)bytes);
    // Its other pages may have been sealed already, over bytes that were not reserved.
    if (strict->is_new && page_size != (uint32_t)size) return SQLITE_IOERR_WRITE;
    strict->has_header = 1;
    strict->page_size = page_size;
  } else if (strict->is_new && !strict->page_size) {
    strict->page_size = kept_page_size((uint32_t)size);
  }
  int status = SQLITE_OK;
  if (strict->page_size && (uint32_t)size == strict->page_size && offset % size == 0)
    status = kept_seal(file, (void *)bytes, (uint32_t)size, (uint32_t)(offset / size) + 1);
  return status == SQLITE_OK ? kept_write_noting(file, bytes, size, offset) : status;
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
    case KEPT_REPLACE_FIRST_PAGE:
      strict->first_page = (struct kept_first_page *)malloc(sizeof *strict->first_page);
      if (!strict->first_page) return SQLITE_NOMEM;
      *strict->first_page = *(struct kept_first_page *)argument;
      return SQLITE_OK;
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
  free(strict->first_page);
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

/// Makes this connection read the first page of a new database in place of its own, which is damaged. The page does not
/// say how many there are. Call it once.
static inline int kept_sqlite_replace_first_page(sqlite3 *connection, sqlite3 *new) {
  sqlite3_file *file = kept_sqlite_database_file(new);
  struct kept_first_page page;
  int status = file ? file->pMethods->xRead(file, page.bytes, sizeof page.bytes, 0) : SQLITE_CANTOPEN;
  if (status != SQLITE_OK) return status;
  memset(page.bytes + 28, 0, 4);
  return sqlite3_file_control(connection, "main", KEPT_REPLACE_FIRST_PAGE, &page);
}

/// Switches between reading pages with wrong checksums and refusing them.
static inline int kept_sqlite_ignore_checksums(sqlite3 *connection, int ignores) {
  return sqlite3_file_control(connection, "main", KEPT_IGNORE_CHECKSUMS, &ignores);
}

#endif
