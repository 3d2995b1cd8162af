/* kill -9 at every call of the system that a commit makes: before its first, its second, and so on. Each commit is
 * repeated until one is not killed. Afterwards it is there as a whole or not at all, for a process that has the store
 * open and for one that opens it next; acknowledged writes stay; nothing is damaged; and no body is left behind. */
#include "expectations.h"
#include "failing.h"

#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All of the first points are tried, and some of those that follow. A ring has 1 MiB at first; a frame may have a
 * quarter of it, and 2 MiB at most. */
enum { EVERY_POINT = 24, MOST_POINTS = 40, INLINE = 15000, LARGE = 140000, SOME = 20, MANY = 150 };

static struct shared {
  int64_t acknowledged, calls, joined, go_on, seen;
} *shared;

static const char *folder;
static kept_store *store;

/* The commits: each sets every key of its own to the same number */

static size_t fill(char *text, int64_t number, size_t length) {
  memset(text, 'a' + (int)(number % 26), length);
  text[snprintf(text, 24, "%" PRId64 ".", number)] = '.';
  return length;
}

static kept_status set_texts(int count, size_t length, int64_t number, uint32_t durability) {
  static char text[LARGE];
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  kept_store *transaction = NULL;
  options.durability = durability;
  kept_status status = kept_begin(store, &options, &transaction, &why);
  for (int i = 0; i < count && status == KEPT_OK; i++) {
    char key[32];
    snprintf(key, sizeof key, "text%d", i);
    status = kept_set_string(transaction, key, text, fill(text, number, length), &why);
  }
  if (status == KEPT_OK) return kept_commit(transaction, NULL, &why);
  kept_rollback(transaction);
  return status;
}

static kept_status set_plain(int64_t number) { return set_texts(2, 100, number, KEPT_SHARED); }
static kept_status set_durable(int64_t number) { return set_texts(2, 100, number, KEPT_DURABLE); }
/* Values of more than 128 KiB are bodies in the database. */
static kept_status set_staged(int64_t number) { return set_texts(2, LARGE, number, KEPT_SHARED); }
static kept_status set_staged_durable(int64_t number) { return set_texts(2, LARGE, number, KEPT_DURABLE); }
/* Another ring begins. */
static kept_status set_some(int64_t number) { return set_texts(SOME, INLINE, number, KEPT_SHARED); }
/* All of the commit is in the database before its frame. */
static kept_status set_many(int64_t number) { return set_texts(MANY, INLINE, number, KEPT_SHARED); }

static kept_status set_and_close(int64_t number) {
  kept_status status = set_texts(2, 100, number, KEPT_SHARED);
  kept_close(store);
  return status;
}

static const struct commit {
  const char *name;
  kept_status (*play)(int64_t number);
  int count;
  size_t length;
  const char *schema; /* of the first key */
} commits[] = {
  { "a plain commit", set_plain, 2, 100, NULL },
  { "a durable commit", set_durable, 2, 100, NULL },
  { "a commit of staged values", set_staged, 2, LARGE, NULL },
  { "a durable commit of staged values", set_staged_durable, 2, LARGE, NULL },
  { "a commit of a secret", set_plain, 2, 100, "{\"type\":\"string\",\"secret\":true}" },
  { "a commit that begins another ring", set_some, SOME, INLINE, NULL },
  { "a commit of many keys", set_many, MANY, INLINE, NULL },
  { "a commit, and closing", set_and_close, 2, 100, NULL },
};

/* The processes */

static const struct commit *commit;
static long point;

static void begin(void *unused) {
  store = open_store(folder, KEPT_SHARED, 5000);
  if (commit->schema) expect_ok(kept_declare_json(store, "text0", commit->schema, &why), "declare");
  /* One after the other, so that the ring keeps its first size. */
  for (int i = 0; i < commit->count; i++) {
    static char text[LARGE];
    char key[32];
    snprintf(key, sizeof key, "text%d", i);
    size_t length = fill(text, 1, commit->length);
    expect_ok(kept_set_string(store, key, text, length, &why), "write");
  }
  kept_close(store);
}

static void be_killed(void *unused) {
  char text[4];
  store = open_store(folder, KEPT_SHARED, 5000);
  kept_get_string(store, "text0", text, sizeof text, NULL, NULL);
  unsigned kinds = CALL_OPEN | CALL_CREATE | CALL_REMOVE | CALL_WRITE | CALL_SYNC;
  plan_failure(KILLED, kinds, point, false);
  kept_status status = commit->play(2);
  store_word(&shared->calls, calls_met());
  expect_ok(status, commit->name);
  store_word(&shared->acknowledged, 2);
  raise(SIGKILL);
}

static int64_t number_of(kept_store *reader, int key) {
  static char text[LARGE + 1], wanted[LARGE];
  char name[32];
  size_t length = 0;
  snprintf(name, sizeof name, "text%d", key);
  expect_ok(kept_get_string(reader, name, text, sizeof text, &length, &why), name);
  int64_t number = strtoll(text, NULL, 10);
  fill(wanted, number, commit->length);
  if (length != commit->length || memcmp(text, wanted, length) != 0) fail("%s is torn", name);
  return number;
}

/* The number that all keys have, in one snapshot. */
static int64_t look(kept_store *reader, const char *who) {
  kept_store *snapshot = NULL;
  expect_ok(kept_snapshot(reader, "", &snapshot, &why), "read all keys");
  int64_t number = number_of(snapshot, 0);
  for (int i = 1; i < commit->count; i++) {
    if (number_of(snapshot, i) != number) fail("%s: %s sees a part of it (point %ld)", commit->name, who, point);
  }
  kept_snapshot_end(snapshot);
  if (number < load(&shared->acknowledged) || number < load(&shared->seen) || number > 2) {
    fail("%s: %s sees %" PRId64 " (point %ld)", commit->name, who, number, point);
  }
  store_word(&shared->seen, number);
  return number;
}

/* Has the store open before the kill, and while others come. */
static void look_on(void *unused) {
  kept_store *reader = open_store(folder, KEPT_SHARED, 30000);
  number_of(reader, 0);
  store_word(&shared->joined, 1);
  await_word(&shared->go_on, 1, "no process was killed");
  look(reader, "a process that has the store open");
  expect_ok(kept_set_int64(reader, "other", 1, &why), "write after the kill");
  look(reader, "a process that has written since");
  kept_close(reader);
}

static void look_next(void *unused) {
  kept_store *reader = open_store(folder, KEPT_SHARED, 5000);
  look(reader, "the next process");
  expect_ok(kept_set_int64(reader, "other", 2, &why), "write after the kill");
  kept_close(reader);
}

static void expect_tidiness(void) {
  sqlite3 *database = NULL;
  sqlite3_stmt *count = NULL;
  /* A process that finds everything settled removes the rest. */
  finish(start(look_next, NULL));
  const char *path = file_of(folder, "quarantine");
  if (access(path, F_OK) == 0) fail("%s: the store was salvaged (point %ld)", commit->name, point);
  path = file_of(folder, "values.sqlite");
  if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
    sqlite3_prepare_v2(database, "SELECT count(*) FROM body", -1, &count, NULL) != SQLITE_OK ||
    sqlite3_step(count) != SQLITE_ROW) {
    fail("the database cannot be read: %s", sqlite3_errmsg(database));
  }
  if (sqlite3_column_int(count, 0) != 0) fail("%s: bodies are left (point %ld)", commit->name, point);
  sqlite3_finalize(count);
  sqlite3_close(database);
}

/** Returns whether the victim was killed at the point, and not at its end. */
static bool play_point(bool has_company) {
  folder = fresh_folder();
  failing_folder(folder);
  *shared = (struct shared){ 0 };
  finish(start(begin, NULL));
  store_word(&shared->seen, 1);
  pid_t company = has_company ? start(look_on, NULL) : 0;
  if (company) await_word(&shared->joined, 1, "the store could not be opened");
  expect_signal(start(be_killed, NULL), SIGKILL);
  store_word(&shared->go_on, 1);
  if (company) finish(company);
  finish(start(look_next, NULL));
  expect_tidiness();
  return load(&shared->acknowledged) == 0;
}

int main(int argc, char **argv) {
  long kills = 0;
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  for (size_t i = 0; i < COUNT(commits); i++) {
    commit = &commits[i];
    /* How many calls it makes. */
    point = 1 << 20;
    play_point(false);
    long calls = load(&shared->calls), step = rounds > 1 ? 1 : 1 + calls / (MOST_POINTS - EVERY_POINT);
    if (calls == 0) fail("%s makes no call", commit->name);
    for (point = 1; point <= calls + 1; point += point < EVERY_POINT ? stride() % 4 + 1 : step, kills++) {
      play_point(kills % 2 == 0);
    }
  }
  return end_torture("%ld kills at the calls of %zu kinds of commits", kills, COUNT(commits));
}
