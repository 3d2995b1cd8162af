/* Library 0.1 beside this one. 0.1 knows only format 1; every process that has a store open by it holds a shared lock
 * on the whole file `pulse`. A store of format 1 is not converted while such a process lives: opening it is "busy", in
 * time, for all who try. When the process has ended, or was killed, one of many converts the store with what was
 * written last. A process of 0.1 that comes later disturbs no other, and finds a format that it refuses. */
#include "torture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPENERS = 6, TIMEOUT_MS = 300, LATEST_MS = 60000 };

static struct shared {
  int64_t step, refused, acknowledged;
} *shared;

static char folder[4300];

/* What 0.1 does */

static const char format_1[] =
  "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;"
  "CREATE TABLE entry (\n  key TEXT NOT NULL PRIMARY KEY,\n  kind TEXT NOT NULL,\n  value ANY NOT NULL,\n"
  "  revision INTEGER NOT NULL DEFAULT 0\n) STRICT, WITHOUT ROWID;"
  "CREATE TABLE declaration (\n  key TEXT NOT NULL PRIMARY KEY,\n  schema TEXT NOT NULL\n) STRICT, WITHOUT ROWID;"
  "CREATE TABLE change (\n  revision INTEGER NOT NULL PRIMARY KEY,\n  keys BLOB NOT NULL,\n  tag TEXT\n) STRICT;"
  "CREATE TABLE store (\n  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),\n  floor INTEGER NOT NULL,\n"
  "  uuid BLOB NOT NULL,\n  quarantine TEXT\n) STRICT;"
  "CREATE VIEW revision (number) AS\n"
  "  SELECT max(floor, coalesce((SELECT max(revision) FROM change), 0)) FROM store;"
  "CREATE TRIGGER inserted_by_others AFTER INSERT ON entry BEGIN\n"
  "  INSERT INTO change (revision, keys) SELECT number + 1, CAST(NEW.key AS BLOB) FROM revision;\n"
  "  UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;\nEND;"
  "CREATE TRIGGER updated_by_others AFTER UPDATE OF kind, value ON entry BEGIN\n"
  "  INSERT INTO change (revision, keys) SELECT number + 1, CAST(NEW.key AS BLOB) FROM revision;\n"
  "  UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;\nEND;"
  "CREATE TRIGGER renamed_by_others AFTER UPDATE OF key ON entry BEGIN\n"
  "  INSERT INTO change (revision, keys) SELECT number + 1, CAST(OLD.key || char(0) || NEW.key AS BLOB) FROM "
  "revision;\n"
  "  UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;\nEND;"
  "CREATE TRIGGER deleted_by_others AFTER DELETE ON entry BEGIN\n"
  "  INSERT INTO change (revision, keys) SELECT number + 1, CAST(OLD.key AS BLOB) FROM revision;\nEND;"
  "INSERT INTO store VALUES (1, 0, randomblob(16), NULL);"
  "INSERT INTO entry VALUES ('first', 'int', 1, 0), ('second', 'int', 1, 0);"
  "PRAGMA application_id = 0x4B657074; PRAGMA user_version = 1;";

static void run(sqlite3 *database, const char *sql) {
  char *error = NULL;
  if (sqlite3_exec(database, sql, NULL, NULL, &error) != SQLITE_OK) fail("0.1 could not %.40s...: %s", sql, error);
}

static sqlite3 *open_database(void) {
  char path[4400];
  sqlite3 *database = NULL;
  snprintf(path, sizeof path, "%s/values.sqlite", folder);
  umask(077);
  if (sqlite3_open(path, &database) != SQLITE_OK) fail("0.1 could not open %s", path);
  sqlite3_busy_timeout(database, 5000);
  return database;
}

/** The lock belongs to the description, and ends with the process. @return the descriptor */
static int mark_as_open(void) {
  char path[4400];
  struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
  snprintf(path, sizeof path, "%s/pulse", folder);
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || fcntl(file, F_OFD_SETLK, &lock) != 0) fail("0.1 is locked out of %s", path);
  return file;
}

static int version_of(sqlite3 *database) {
  sqlite3_stmt *version = NULL;
  sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &version, NULL);
  if (sqlite3_step(version) != SQLITE_ROW) fail("0.1 could not read the version: %s", sqlite3_errmsg(database));
  int number = sqlite3_column_int(version, 0);
  sqlite3_finalize(version);
  return number;
}

static void make_format_1(void *unused) {
  (void)unused;
  mkdir(folder, 0700);
  sqlite3 *database = open_database();
  run(database, format_1);
  sqlite3_close(database);
}

/* Writes until it is killed. */
static void be_0_1(void *unused) {
  (void)unused;
  mark_as_open();
  sqlite3 *database = open_database();
  for (int64_t number = 2;; number++) {
    char sql[200];
    snprintf(sql, sizeof sql, "UPDATE entry SET value = %" PRId64 " WHERE key IN ('first', 'second')", number);
    run(database, sql);
    store_word(&shared->acknowledged, number);
    let_pass(500);
  }
}

/* Comes when the store has the new format: sees the version, and ends. */
static void come_late(void *unused) {
  (void)unused;
  mark_as_open();
  sqlite3 *database = open_database();
  if (version_of(database) == 1) fail("0.1 takes the store for its own");
  store_word(&shared->step, 3);
  await_word(&shared->step, 4, "the others did not write beside 0.1");
  sqlite3_close(database);
}

/* What this library does */

static void be_refused_then_open(void *unused) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_error error;
  kept_store *store = NULL;
  int64_t since = now_ns(), first = 0, second = 0;
  (void)unused;
  options.busy_timeout_ms = TIMEOUT_MS;
  kept_status status = kept_open(folder, &options, &store, &error);
  if (status != KEPT_BUSY) fail("a store that 0.1 has open answered \"%s\"", kept_status_text(status));
  if (now_ns() - since > LATEST_MS * INT64_C(1000000)) fail("an opener learned late that the store is busy");
  add(&shared->refused, 1);
  await_word(&shared->step, 2, "0.1 did not end");
  store = open_store(folder, KEPT_SHARED, LATEST_MS);
  expect_ok(kept_get_int64(store, "first", &first, &error), "read", &error);
  expect_ok(kept_get_int64(store, "second", &second, &error), "read", &error);
  if (first != second || first < load(&shared->acknowledged) || first > load(&shared->acknowledged) + 1) {
    fail("found %" PRId64 " and %" PRId64 ", and 0.1 has written %" PRId64, first, second, load(&shared->acknowledged));
  }
  expect_ok(kept_set_int64(store, "new", 1, &error), "write", &error);
  kept_close(store);
}

static void write_beside(void *unused) {
  kept_error error;
  int64_t new = 0;
  (void)unused;
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_get_int64(store, "new", &new, &error), "read", &error);
  expect_ok(kept_set_int64(store, "new", new + 1, &error), "write beside 0.1", &error);
  expect_ok(kept_flush(store, &error), "flush beside 0.1", &error);
  kept_close(store);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  for (round_now = 0; round_now < rounds; round_now++) {
    pid_t openers[OPENERS];
    *shared = (struct shared){ 0 };
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    finish(start(make_format_1, NULL));
    pid_t old = start(be_0_1, NULL);
    await_word(&shared->acknowledged, 10, "0.1 wrote nothing");
    for (int i = 0; i < OPENERS; i++) openers[i] = start(be_refused_then_open, NULL);
    await_word(&shared->refused, OPENERS, "not every opener was refused");
    await_word(&shared->acknowledged, load(&shared->acknowledged) + 10, "0.1 could not go on");
    kill_now(old);
    store_word(&shared->step, 2);
    for (int i = 0; i < OPENERS; i++) finish(openers[i]);
    old = start(come_late, NULL);
    await_word(&shared->step, 3, "0.1 did not come");
    finish(start(write_beside, NULL));
    finish(start(write_beside, NULL));
    store_word(&shared->step, 4);
    finish(old);
    finish(start(write_beside, NULL));
  }
  return end_torture("%d openers waited for 0.1 to end in each round", OPENERS);
}
