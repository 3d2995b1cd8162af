// The salt of a database: a random number in each of its pages, and in the pages of its log (PageChecksums.h). A page
// with another salt is one of another database, whose log is next to this one.
#ifndef KEPT_DATABASE_SALT_H
#define KEPT_DATABASE_SALT_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>

#include "PageChecksums.h"

struct kept_salt {
  int is_known;
  uint32_t number;
};

/// How many pages are searched for the salt: a damaged first page must not hide it.
enum { KEPT_SALT_PAGES = 16 };

static inline void kept_take_salt(struct kept_salt *salt, const void *page, uint32_t size) {
  salt->number = kept_page_salt(page, size);
  salt->is_known = 1;
}

/// Whether a page with this number belongs to the database with this salt.
static inline int kept_is_salt(uint32_t number, const struct kept_salt *salt) { return number == salt->number; }

/// Takes the salt of the first page that verifies in the database file; if none does it stays unknown. Returns the
/// status of a page that cannot be read now: it may have the salt.
static inline int kept_find_salt(
  struct kept_salt *salt, sqlite3_file *database, const sqlite3_io_methods *methods, uint32_t page_size) {
  unsigned char *page = (unsigned char *)malloc(page_size);
  if (!page) return SQLITE_IOERR_NOMEM;
  int status = SQLITE_OK;
  for (uint32_t number = 1; number <= KEPT_SALT_PAGES && status == SQLITE_OK && !salt->is_known; number++) {
    status = methods->xRead(database, page, (int)page_size, (sqlite3_int64)(number - 1) * page_size);
    if (status == SQLITE_OK && kept_page_verifies(page, page_size, number)) kept_take_salt(salt, page, page_size);
  }
  free(page);
  return status == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : status;
}

/// Gives a new database its salt.
static inline void kept_make_salt(struct kept_salt *salt) {
  sqlite3_randomness(sizeof salt->number, &salt->number);
  salt->is_known = 1;
}

#endif
