/* SQLite as a bare key-value table: write-ahead log, prepared statements, one connection for each thread. Long values
 * have a table of their own, with rowids: SQLite's manual advises WITHOUT ROWID only for rows below a twentieth of a
 * page. */
#include "fatal.h"
#include "engine.h"
#include "folders.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

typedef struct store {
  char *path;
  bool durable;
} store;

typedef struct table {
  const char *create, *select, *upsert;
} table;

#define UPSERT "(?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
static const table tables[] = {
  { "CREATE TABLE IF NOT EXISTS setting (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID",
    "SELECT value FROM setting WHERE key = ?1", "INSERT INTO setting VALUES " UPSERT },
  { "CREATE TABLE IF NOT EXISTS text (key TEXT PRIMARY KEY NOT NULL, value)", "SELECT value FROM text WHERE key = ?1",
    "INSERT INTO text VALUES " UPSERT },
};

static bool is_long(const walk *walk) { return walk->length > 4096 / 20; }

typedef struct session {
  sqlite3 *connection;
  sqlite3_stmt *select[2], *upsert[2]; /* of each table; prepared at first use */
} session;

static void check(sqlite3 *connection, bool fine, const char *what) {
  if (!fine) die("SQLite cannot %s: %s", what, sqlite3_errmsg(connection));
}

static void run(sqlite3 *connection, const char *sql) {
  check(connection, sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK, sql);
}

static sqlite3_stmt *prepared(session *session, sqlite3_stmt **statement, const char *sql) {
  if (!*statement) {
    int status = sqlite3_prepare_v3(session->connection, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    check(session->connection, status == SQLITE_OK, sql);
  }
  return *statement;
}

static void *open_store(const char *folder, bool durable) {
  store *opened = malloc(sizeof *opened);
  if (!opened) die("no memory");
  *opened = (store){ folder_path(folder, "values.sqlite"), durable };
  return opened;
}

static void close_store(void *store_) {
  store *store = store_;
  free(store->path);
  free(store);
}

static void *join(void *store_) {
  store *store = store_;
  session *joined = calloc(1, sizeof *joined);
  if (!joined) die("no memory");
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int status = sqlite3_open_v2(store->path, &joined->connection, flags, NULL);
  check(joined->connection, status == SQLITE_OK, "open");
  sqlite3_busy_timeout(joined->connection, 60000);
  run(joined->connection, "PRAGMA journal_mode = WAL");
  run(joined->connection, tables[false].create);
  run(joined->connection, store->durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  return joined;
}

static void leave(void *session_) {
  session *session = session_;
  for (int table = 0; table < 2; table++) {
    sqlite3_finalize(session->select[table]);
    sqlite3_finalize(session->upsert[table]);
  }
  check(session->connection, sqlite3_close(session->connection) == SQLITE_OK, "close");
  free(session);
}

static void create(const char *folder) {
  void *store = open_store(folder, false);
  leave(join(store));
  close_store(store);
}

/* The row of a key; reset the statement after reading it. */
static sqlite3_stmt *select_row(session *session, walk *walk) {
  bool table = is_long(walk);
  sqlite3_stmt *select = prepared(session, &session->select[table], tables[table].select);
  const key *key = walk_next(walk);
  sqlite3_bind_text(select, 1, key->text, (int)key->length, SQLITE_STATIC);
  check(session->connection, sqlite3_step(select) == SQLITE_ROW, "get");
  return select;
}

static void take_text(sqlite3_stmt *select, walk *walk) {
  const unsigned char *text = sqlite3_column_text(select, 0);
  size_t length = (size_t)sqlite3_column_bytes(select, 0);
  if (length != walk->length) die("SQLite has a text of %zu bytes", length);
  memcpy(walk->text, text, length + 1);
  walk->sum += length + (unsigned char)walk->text[0];
}

static void get(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) {
    sqlite3_stmt *select = select_row(session, walk);
    if (walk->length) take_text(select, walk);
    else walk->sum += (uint64_t)sqlite3_column_int64(select, 0);
    sqlite3_reset(select);
  }
}

static void upsert(session *session, walk *walk) {
  bool table = is_long(walk);
  sqlite3_stmt *upsert = prepared(session, &session->upsert[table], tables[table].upsert);
  const key *key = walk_next(walk);
  sqlite3_bind_text(upsert, 1, key->text, (int)key->length, SQLITE_STATIC);
  if (walk->length) sqlite3_bind_text(upsert, 2, walk_text(walk), (int)walk->length, SQLITE_STATIC);
  else sqlite3_bind_int64(upsert, 2, ++walk->stamp);
  check(session->connection, sqlite3_step(upsert) == SQLITE_DONE, "set");
  sqlite3_reset(upsert);
}

static void set(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) upsert(session, walk);
}

static void set_together(void *session_, walk *walk) {
  session *session = session_;
  if (is_long(walk)) run(session->connection, tables[true].create);
  run(session->connection, "BEGIN IMMEDIATE");
  set(session, walk);
  run(session->connection, "COMMIT");
}

const engine sqlite = {
  .name = "SQLite",
  .library = sqlite3_libversion,
  .create = create,
  .open = open_store,
  .join = join,
  .leave = leave,
  .close = close_store,
  .get = get,
  .set = set,
  .set_together = set_together,
};
