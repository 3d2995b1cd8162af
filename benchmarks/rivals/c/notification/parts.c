/* The parts of Kept, and nothing else: a commit of SQLite, a futex, and a read of the new commits. */
#include "channel.h"

#include "../fatal.h"
#include "../folders.h"

#include <sqlite3.h>
#include <stdlib.h>

typedef struct parts {
  sqlite3 *database;
  sqlite3_stmt *set, *changes;
  event *event;
  int64_t revision;
} parts;

static void check(int code, sqlite3 *database) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) die("SQLite: %s", sqlite3_errmsg(database));
}

static void *open_parts(const char *folder) {
  parts *parts = calloc(1, sizeof *parts);
  char *path = folder_path(folder, "parts.sqlite");
  if (!parts || sqlite3_open(path, &parts->database) != SQLITE_OK) die("cannot open %s", path);
  free(path);
  sqlite3_busy_timeout(parts->database, 10000);
  check(sqlite3_exec(parts->database,
          "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
          "CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, value, revision INTEGER) WITHOUT ROWID;"
          "CREATE INDEX IF NOT EXISTS by_revision ON entry (revision)",
          NULL, NULL, NULL),
    parts->database);
  check(sqlite3_prepare_v2(parts->database,
          "INSERT INTO entry VALUES ('clock', ?1, ?2) "
          "ON CONFLICT (key) DO UPDATE SET value = ?1, revision = ?2",
          -1, &parts->set, NULL),
    parts->database);
  check(sqlite3_prepare_v2(
          parts->database, "SELECT key, value, revision FROM entry WHERE revision > ?1", -1, &parts->changes, NULL),
    parts->database);
  parts->event = event_map(folder);
  return parts;
}

static void receive_changes(parts *parts, samples *samples) {
  sqlite3_bind_int64(parts->changes, 1, parts->revision);
  while (sqlite3_step(parts->changes) == SQLITE_ROW) {
    parts->revision = sqlite3_column_int64(parts->changes, 2);
    record_delivery(samples, (uint64_t)sqlite3_column_int64(parts->changes, 1));
  }
  check(sqlite3_reset(parts->changes), parts->database);
}

static void receive(const char *folder, samples *samples) {
  parts *parts = open_parts(folder);
  uint32_t seen = atomic_load(&parts->event->word);
  atomic_store(&samples->is_ready, 1);
  for (;;) {
    seen = event_await(parts->event, seen);
    receive_changes(parts, samples);
  }
}

static void write_value(void *writer, uint64_t value) {
  parts *parts = writer;
  sqlite3_bind_int64(parts->set, 1, (int64_t)value);
  sqlite3_bind_int64(parts->set, 2, ++parts->revision);
  check(sqlite3_step(parts->set), parts->database);
  check(sqlite3_reset(parts->set), parts->database);
  event_signal(parts->event);
}

const channel parts_channel = { "its parts", "base", receive, open_parts, write_value };
