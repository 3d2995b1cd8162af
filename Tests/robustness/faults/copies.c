/* A disk that is full while a store is copied, restored or migrated, with every number of free pages, and a disk that
 * fails at every call: the call reports the error, leaves no file at the path or next to it, and leaves the store
 * unchanged. */
#include "expectations.h"
#include "failing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS = 200, PAGE = 4096, MOST_PAGES = 100, MOST_CALLS = 1000 };

static struct shared {
  int64_t refusals, successes, calls_end;
} *shared;

static char folder[4300], copies[4320], backup[4320];
static int64_t *room;

static void set_keys(kept_store *settings, const char *prefix) {
  for (int i = 0; i < KEYS; i++) {
    char key[32];
    snprintf(key, sizeof key, "%s%03d", prefix, i);
    expect_ok(kept_set_string(settings, key, "a text that takes some place", 28, &why), "fill");
  }
}

static void prepare(void *unused) {
  mkdir(copies, 0700);
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  set_keys(store, "old");
  expect_ok(kept_backup(store, backup, 0, NULL, &why), "back up");
  set_keys(store, "new");
  kept_close(store);
}

static kept_status step(void *unused, kept_store *settings, kept_error *error) {
  set_keys(settings, "step");
  return KEPT_OK;
}

/* An operation, its target, and the number of keys in the store afterwards. */
typedef struct deed {
  const char *name;
  kept_status (*act)(kept_store *store);
  int keys_after;
} deed;

static kept_status copy_to_file(kept_store *store) {
  return kept_backup(store, file_of(copies, "copy"), 0, NULL, &why);
}

static kept_status copy_to_folder(kept_store *store) {
  return kept_backup(store, file_of(copies, "copy/"), 0, NULL, &why);
}

static kept_status restore(kept_store *store) { return kept_restore(store, backup, NULL, NULL, &why); }

static kept_status migrate(kept_store *store) {
  const kept_migration steps[] = { { 1, 0, "more keys", step, NULL } };
  return kept_migrate(store, steps, 1, 0, NULL, NULL, &why);
}

static const deed deeds[] = {
  { "copy to a file", copy_to_file, 2 * KEYS },
  { "copy to a folder", copy_to_folder, 2 * KEYS },
  { "restore", restore, KEYS },
  { "migrate", migrate, 3 * KEYS },
};
static const deed *now;

static void remove_copy(void) { remove_tree(file_of(copies, "copy")); }

/* The store is in the old state or in the new one; a refused call has left nothing behind. Then the initial state is
 * restored. */
static void look(kept_store *store, kept_status status, int wanted, bool is_unsynced) {
  static const char *const asides[] = { "quarantine", "backups", NULL };
  if (status != KEPT_OK) {
    expect_status(wanted, status, now->name);
    add(&shared->refusals, 1);
    /* A commit that could not be synced is reported as an error, and is visible. */
    bool is_done = is_unsynced && now->keys_after != 2 * KEYS && count_of(store, "") == now->keys_after;
    if (!is_done && count_of(store, "") != 2 * KEYS)
      fail("it could not %s, but there are %d keys", now->name, count_of(store, ""));
    if (names_in(copies, "") != 0) fail("it could not %s, and left something", now->name);
    for (const char *const *name = asides; *name; name++) {
      bool is_kept = is_done && (now->act == restore) == (name == asides);
      int files = names_in(file_of(folder, *name), "");
      if (files != is_kept) fail("it could not %s, and has %d files in %s", now->name, files, *name);
    }
    return;
  }
  add(&shared->successes, 1);
  if (count_of(store, "") != now->keys_after) fail("it did %s, and there are %d keys", now->name, count_of(store, ""));
}

static void try_with_pages(void *pages) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  count_of(store, "");
  store_word(room, *(const long *)pages * PAGE);
  kept_status status = now->act(store);
  store_word(room, -1);
  look(store, status, KEPT_NO_SPACE, false);
  kept_close(store);
}

static long failing_call;

/* One call of this thread fails, whichever it is. */
static void try_with_a_failure(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  count_of(store, "");
  plan_failure(EIO, CALL_CREATE | CALL_WRITE | CALL_SYNC, failing_call, false);
  kept_status status = now->act(store);
  long failed = end_failure();
  if (failed == 0) store_word(&shared->calls_end, 1);
  if (status != KEPT_OK && status != KEPT_UNAVAILABLE && status != KEPT_FAILED) {
    fail("call %ld failed, and an attempt to %s returned \"%s\": %s", failing_call, now->name, kept_status_text(status),
      why.message);
  }
  look(store, status, status, true);
  kept_close(store);
}

/* Resets the store to its initial state. */
static void anew(void) {
  snprintf(folder, sizeof folder, "%s", fresh_folder());
  snprintf(copies, sizeof copies, "%s-copies", folder);
  snprintf(backup, sizeof backup, "%s-backup", folder);
  failing_folder(folder);
  finish(start(prepare, NULL));
}

static void play_pages(void) {
  int64_t done = 0;
  anew();
  for (long pages = 0; pages < MOST_PAGES && done == 0; pages++) {
    int64_t before = load(&shared->successes);
    finish(start(try_with_pages, &pages));
    done = load(&shared->successes) - before;
  }
  if (done == 0) fail("%d pages are not enough to %s", MOST_PAGES, now->name);
  remove_copy();
}

static void play_calls(void) {
  store_word(&shared->calls_end, 0);
  for (failing_call = 1; failing_call < MOST_CALLS && !load(&shared->calls_end); failing_call++) {
    anew();
    finish(start(try_with_a_failure, NULL));
    remove_copy();
  }
  if (!load(&shared->calls_end)) fail("to %s takes more than %d calls", now->name, MOST_CALLS);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  room = share(sizeof *room);
  store_word(room, -1);
  limit_room(room);
  for (size_t i = 0; i < COUNT(deeds); i++) {
    now = &deeds[i];
    int64_t before = load(&shared->refusals);
    play_pages();
    if (load(&shared->refusals) == before) fail("the disk was never full for an attempt to %s", now->name);
    printf("%s: refused %" PRId64 " times on a full disk, ", now->name, load(&shared->refusals) - before);
    before = load(&shared->refusals);
    play_calls();
    printf("%" PRId64 " times where one call failed\n", load(&shared->refusals) - before);
  }
  return end_torture("%" PRId64 " refusals", load(&shared->refusals));
}
