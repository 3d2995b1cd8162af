/* SQLite: its backup API, VACUUM INTO, its functions of JSON. */
#include "copier.h"

#include "../fatal.h"
#include "../folders.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void check(sqlite3 *connection, bool fine, const char *what) {
  if (!fine) die("SQLite cannot %s: %s", what, sqlite3_errmsg(connection));
}

static sqlite3 *open_file(const char *path) {
  sqlite3 *connection;
  check(connection, sqlite3_open(path, &connection) == SQLITE_OK, "open");
  sqlite3_busy_timeout(connection, 60000);
  return connection;
}

/* A separate connection: the engine's own connections are private. */
static sqlite3 *connect_to(const life *life) {
  char *path = folder_path(life->folder, "values.sqlite");
  sqlite3 *connection = open_file(path);
  free(path);
  return connection;
}

static sqlite3_stmt *prepared(sqlite3 *connection, const char *sql) {
  sqlite3_stmt *statement;
  check(connection, sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) == SQLITE_OK, sql);
  return statement;
}

/* In one step: with several steps it would restart after each foreign commit. */
static void copy_pages(sqlite3 *from, sqlite3 *to) {
  sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
  check(to, backup && sqlite3_backup_step(backup, -1) == SQLITE_DONE, "copy its pages");
  sqlite3_backup_finish(backup);
}

static void take_snapshot(life *life, const char *path) {
  sqlite3 *from = connect_to(life), *snapshot = open_file(":memory:");
  (void)path;
  copy_pages(from, snapshot);
  sqlite3_close(snapshot);
  sqlite3_close(from);
}

static void export_all(life *life, const char *path) {
  sqlite3 *connection = connect_to(life);
  sqlite3_stmt *select = prepared(connection, "SELECT json_group_object(key, value) FROM setting");
  check(connection, sqlite3_step(select) == SQLITE_ROW, "export");
  size_t length = (size_t)sqlite3_column_bytes(select, 0);
  FILE *file = fopen(path, "w");
  if (!file || fwrite(sqlite3_column_text(select, 0), 1, length, file) != length || fclose(file) != 0) {
    die("cannot write %s", path);
  }
  sync_file(path);
  sqlite3_finalize(select);
  sqlite3_close(connection);
}

static char *text_of(const char *path, size_t *length) {
  FILE *file = fopen(path, "r");
  if (!file || fseek(file, 0, SEEK_END) != 0) die("cannot read %s", path);
  *length = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*length);
  if (!text || fread(text, 1, *length, file) != *length) die("cannot read %s", path);
  fclose(file);
  return text;
}

static void import_all(life *life, const char *path) {
  size_t length;
  char *text = text_of(path, &length);
  sqlite3 *connection = connect_to(life);
  sqlite3_stmt *insert = prepared(connection, "INSERT OR REPLACE INTO setting SELECT key, value FROM json_each(?1)");
  sqlite3_bind_text(insert, 1, text, (int)length, free);
  check(connection, sqlite3_step(insert) == SQLITE_DONE, "import");
  sqlite3_finalize(insert);
  sqlite3_close(connection);
}

/* VACUUM INTO leaves the copy unsynced. */
static void back_up(life *life, const char *path) {
  sqlite3 *connection = connect_to(life);
  sqlite3_stmt *vacuum = prepared(connection, "VACUUM INTO ?1");
  sqlite3_bind_text(vacuum, 1, path, -1, SQLITE_STATIC);
  check(connection, sqlite3_step(vacuum) == SQLITE_DONE, "back up");
  sqlite3_finalize(vacuum);
  sqlite3_close(connection);
  sync_file(path);
}

static void migrate(life *life, const char *path) {
  back_up(life, path);
  sqlite.set_together(life->session, &life->walk);
}

static void restore(life *life, const char *path) {
  sqlite3 *from = open_file(path), *to = connect_to(life);
  copy_pages(from, to);
  sqlite3_close(to);
  sqlite3_close(from);
}

const copier sqlite_copier = { &sqlite,
  {
    [SNAPSHOT] = take_snapshot,
    [EXPORT] = export_all,
    [IMPORT] = import_all,
    [BACKUP] = back_up,
    [MIGRATION] = migrate,
    [RESTORE] = restore,
  } };
