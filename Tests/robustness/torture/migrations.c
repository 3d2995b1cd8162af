/* Migrating and restoring under kill -9, and in several processes at once: a store is always completely old or
 * completely new, and has the matching schema version. Each step takes effect once. The lock of a killed process is
 * released, and its unfinished work does not block the next process. */
#include "torture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KEYS = 400, MIGRATORS = 8 };

static struct shared {
  int64_t ready, go, at_it, migrated, carried_on, was_old, notices, changes, received_last;
} *shared;

static const char *folder;
static char backup[4400];
static unsigned kills, meetings, carried_on;
/* The states left by kills: [of a restorer?][the old state?] */
static unsigned outcomes[2][2];

static const char *key_of(char *key, const char *prefix, int number) {
  snprintf(key, 32, "%s%03d", prefix, number);
  return key;
}

/* Old: keys a000... hold their numbers, version 1. New: b000... hold 1000 more, version 2. */

static kept_status fill(void *unused, kept_store *settings, kept_error *error) {
  char key[32];
  for (int i = 0; i < KEYS; i++) expect_ok(kept_set_int64(settings, key_of(key, "a", i), i, error), "fill");
  return KEPT_OK;
}

static kept_status count_up(void *unused, kept_store *settings, kept_error *error) {
  char old[32], new[32];
  int64_t number = 0;
  kept_status status = KEPT_OK;
  add(&shared->at_it, 1);
  for (int i = 0; i < KEYS && status == KEPT_OK; i++) {
    key_of(old, "a", i), key_of(new, "b", i);
    status = kept_rename(settings, old, new, error);
    if (status == KEPT_OK) status = kept_get_int64(settings, new, &number, error);
    if (status == KEPT_OK) status = kept_set_int64(settings, new, number + 1000, error);
  }
  return status;
}

static const kept_migration steps[] = { { 1, 0, "fill", fill, NULL }, { 2, 0, "count up", count_up, NULL } };

static void make_old(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  expect_ok(kept_set_bool(store, "first", true, &why), "make it no new store");
  expect_ok(kept_migrate(store, steps, 1, KEPT_MIGRATE_NO_BACKUP, NULL, NULL, &why), "fill");
  expect_ok(kept_backup(store, backup, KEPT_BACKUP_REPLACE, NULL, &why), "back up");
  kept_close(store);
}

/* Fails unless the store is completely in one of the two states; returns which. */
static uint32_t whole_version(kept_store *store) {
  char key[32];
  uint32_t version = 0;
  expect_ok(kept_schema_version(store, &version, &why), "read the version");
  if (version != 1 && version != 2) fail("the schema version is %u", version);
  for (int i = 0; i < KEYS; i++) {
    int64_t number = -1;
    expect_ok(kept_get_int64(store, key_of(key, version == 1 ? "a" : "b", i), &number, &why), key);
    if (number != i + (version == 1 ? 0 : 1000)) fail("version %u with %s = %" PRId64, version, key, number);
  }
  if (count_of(store, "") != KEYS + 1) fail("version %u with %d keys", version, count_of(store, ""));
  return version;
}

static void migrate_and_restore(void *restores) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  do {
    expect_ok(kept_migrate(store, steps, 2, 0, NULL, NULL, &why), "migrate");
    add(&shared->migrated, 1);
    if (*(const bool *)restores) expect_ok(kept_restore(store, backup, NULL, NULL, &why), "restore");
  } while (*(const bool *)restores);
  for (;;) pause();
}

static void expect_tidy(const char *name) {
  if (names_in(file_of(folder, name), ".new-") > 0) fail("drafts of the killed are left in %s", name);
}

/* Checks the store after a kill. The next process need not wait, and finishes the work. */
static void look(void *unused) {
  uint32_t result = 99;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  if (whole_version(store) == 1) store_word(&shared->was_old, 1);
  expect_ok(kept_migrate(store, steps, 2, KEPT_MIGRATE_CARRY_ON, &result, NULL, &why), "migrate after it");
  if (result == KEPT_MIGRATED_ELSEWHERE) fail("a killed process still blocks the migration");
  if (whole_version(store) != 2) fail("the migration was not finished");
  expect_ok(kept_restore(store, backup, NULL, NULL, &why), "restore after it");
  if (whole_version(store) != 1) fail("the backup was not restored");
  if (result == KEPT_MIGRATED) expect_tidy("backups");
  expect_tidy("quarantine");
  kept_close(store);
}

static void kill_one(bool restores, uint64_t *random) {
  memset(shared, 0, sizeof *shared);
  pid_t victim = start(migrate_and_restore, &restores);
  if (restores) await_word(&shared->migrated, 1, "nothing was migrated");
  else await_word(&shared->at_it, 1, "no step was run");
  let_pass(random_below(random, restores ? 60000 : 20000));
  kill_now(victim);
  kills++;
  finish(start(look, NULL));
  outcomes[restores][load(&shared->was_old)]++;
}

/* Several processes at once */

/* While another process migrates, a reader sees the old state or the new one. */
static void read_either(kept_store *store) {
  bool is_old = false, is_new = false;
  kept_status status;
  do {
    kept_store *reading = NULL;
    expect_ok(kept_begin(store, NULL, &reading, &why), "begin");
    status = kept_contains(reading, "a000", &is_old, &why);
    if (status == KEPT_OK) status = kept_contains(reading, "b399", &is_new, &why);
    if (status == KEPT_OK) status = kept_commit(reading, NULL, &why);
    else kept_rollback(reading);
  } while (status == KEPT_CONFLICT);
  expect_ok(status, "read during the migration");
  if (is_old == is_new) fail("a reader saw half a migration");
}

static void migrate_with_others(void *flags) {
  uint32_t result = 99;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  add(&shared->ready, 1);
  await_word(&shared->go, 1, "the other processes did not start");
  expect_ok(kept_migrate(store, steps, 2, *(uint32_t *)flags, &result, NULL, &why), "migrate with others");
  if (result == KEPT_MIGRATED) add(&shared->migrated, 1);
  else if (result == KEPT_MIGRATED_ELSEWHERE) add(&shared->carried_on, 1);
  if (result == KEPT_MIGRATED_ELSEWHERE) read_either(store);
  else if (whole_version(store) != 2) fail("it was said to be migrated, and is not");
  kept_close(store);
}

static void meet(int count, uint32_t flags) {
  pid_t migrators[MIGRATORS];
  memset(shared, 0, sizeof *shared);
  for (int i = 0; i < count; i++) migrators[i] = start(migrate_with_others, &flags);
  await_word(&shared->ready, count, "not all have come");
  store_word(&shared->go, 1);
  for (int i = 0; i < count; i++) finish(migrators[i]);
  if (load(&shared->migrated) != 1) fail("%" PRId64 " have run the steps", load(&shared->migrated));
  carried_on += (unsigned)load(&shared->carried_on);
  meetings++;
  finish(start(look, NULL));
}

/* Observers in other processes */

static void record(void *unused, const kept_notice *notice) {
  if (kept_notice_count(notice) == 1) {
    store_word(&shared->received_last, 1);
    return;
  }
  if (kept_notice_origin(notice) != KEPT_ORIGIN_OTHER || kept_notice_may_have_missed(notice)) fail("a wrong notice");
  if (kept_notice_revision(notice) != kept_notice_first_revision(notice)) fail("it was not one commit");
  store_word(&shared->changes, (int64_t)kept_notice_count(notice));
  add(&shared->notices, 1);
}

static void listen(void *unused) {
  kept_subscription *subscription = NULL;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  expect_ok(kept_observe(store, "", KEPT_OBSERVE_PREFIX, record, NULL, NULL, &subscription, &why), "observe");
  add(&shared->ready, 1);
  await_word(&shared->received_last, 1, "the last change was not delivered");
  kept_close(store);
}

static void migrate_for_the_listener(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  for (int64_t notice = 1; notice <= 2; notice++) {
    if (notice == 1) expect_ok(kept_migrate(store, steps, 2, 0, NULL, NULL, &why), "migrate");
    else expect_ok(kept_restore(store, backup, NULL, NULL, &why), "restore");
    await_word(&shared->notices, notice, "a change of all keys was not delivered");
    if (load(&shared->changes) != 2 * KEYS) fail("it was delivered with %" PRId64 " keys", load(&shared->changes));
  }
  expect_ok(kept_set_bool(store, "first", false, &why), "write the last");
  kept_close(store);
}

static void observe(void) {
  memset(shared, 0, sizeof *shared);
  pid_t listener = start(listen, NULL);
  await_word(&shared->ready, 1, "the observer did not start");
  finish(start(migrate_for_the_listener, NULL));
  finish(listener);
  if (load(&shared->notices) != 2) fail("%" PRId64 " notices", load(&shared->notices));
}

static void play_round(uint64_t *random) {
  switch (round_now % 10) {
    case 0:
      folder = fresh_folder();
      finish(start(make_old, NULL));
      observe();
      break;
    case 1: meet(2, 0); break;
    case 2: meet(MIGRATORS, 0); break;
    case 3: meet(MIGRATORS, KEPT_MIGRATE_CARRY_ON); break;
    case 4:
    case 5:
    case 6: kill_one(true, random); break;
    default: kill_one(false, random);
  }
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  snprintf(backup, sizeof backup, "%s.backup", fresh_folder());
  play_rounds(play_round);
  return end_torture("%u rounds, %u kills (of migrations: %u left the old state, %u the new one; of migrations and "
                     "restores in turn: %u the old, %u the new), %u meetings (%u carried on)",
    rounds, kills, outcomes[0][1], outcomes[0][0], outcomes[1][1], outcomes[1][0], meetings, carried_on);
}
