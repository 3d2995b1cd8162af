/* A salvage in a system that fails: every call and every allocation of SQLite's, one after the other, once or from
 * there on, and every number of remaining descriptors. Values may be lost only to damage. Any other failure makes the
 * open fail with its status, nothing is replaced, and the next open recovers everything that an undisturbed salvage
 * recovers. A store that is intact, and only marked as damaged, is never salvaged. */
#include "expectations.h"
#include "failing.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS = 120, PAGE = 4096, JOURNAL_HEADER = 4096, EVERY_POINT = 40, MOST_LEFT = 40 };

static struct shared {
  int64_t keys, failures, was_refused;
} *shared;

static struct file {
  char *bytes;
  size_t size;
} whole, damaged, log_file, journal;

/* The contents of the folder before each open. */
static const struct scene {
  const char *name;
  const struct file *database;
  bool is_damaged;
} scenes[] = {
  { "a damaged page", &damaged, true },
  { "an old mark", &whole, false },
};
static const struct scene *scene;

static const char *folder;
static int64_t undisturbed;
static ino_t inode;
static bool may_remove = true;

/* SQLite's allocations */

static sqlite3_mem_methods usual;
static __thread long allocations, failing_allocation, failed_allocations;
static __thread bool fails_for_ever;

static bool allocation_fails(void) {
  if (failing_allocation == 0) return false;
  allocations++;
  if (allocations < failing_allocation || (allocations > failing_allocation && !fails_for_ever)) return false;
  failed_allocations++;
  return true;
}

static void *allocate(int size) { return allocation_fails() ? NULL : usual.xMalloc(size); }
static void *reallocate(void *memory, int size) { return allocation_fails() ? NULL : usual.xRealloc(memory, size); }

static void stand_before_allocations(void) {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK) fail("SQLite has no allocator");
  sqlite3_mem_methods ours = usual;
  ours.xMalloc = allocate;
  ours.xRealloc = reallocate;
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK) fail("SQLite takes no allocator");
}

/* Files */

static const char *path_of(const char *name) { return file_of(folder, name); }

static ino_t inode_of_database(void) {
  struct stat status;
  return stat(path_of("values.sqlite"), &status) == 0 ? status.st_ino : 0;
}

static void lay_out(void) {
  folder = fresh_folder();
  if (mkdir(folder, 0700) != 0) fail("no folder %s", folder);
  write_file(path_of("values.sqlite"), scene->database->bytes, scene->database->size);
  if (log_file.size > 0) write_file(path_of("values.sqlite-wal"), log_file.bytes, log_file.size);
  write_file(path_of("journal"), journal.bytes, journal.size);
  write_file(path_of("damaged"), "", 0);
  inode = inode_of_database();
}

/* Building */

/* Overwrites the frames that are settled, from which a salvage would take every value. */
static void forget_frames(void) {
  size_t length = 0;
  char *bytes = read_file(path_of("journal"), &length);
  if (bytes == NULL || length < JOURNAL_HEADER) fail("there is no journal");
  memset(bytes + JOURNAL_HEADER, 0, length - JOURNAL_HEADER);
  write_file(path_of("journal"), bytes, length);
  free(bytes);
}

static void build(void *unused) {
  char key[16], text[64];
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  for (int i = 0; i < KEYS; i++) {
    if (i == KEYS * 3 / 4) {
      kept_close(store);
      forget_frames();
      store = open_store(folder, KEPT_SHARED, 5000);
    }
    snprintf(key, sizeof key, "key%03d", i);
    snprintf(text, sizeof text, "the value of number %03d, of some length", i);
    expect_ok(kept_set_string(store, key, text, strlen(text), &why), "write");
  }
  /* It is not closed: the last quarter stays in the journal, or in the log. */
}

/* Damages one page of the database with values that the log does not replace. */
static void damage(void) {
  damaged = (struct file){ malloc(whole.size), whole.size };
  memcpy(damaged.bytes, whole.bytes, whole.size);
  size_t page = 0;
  for (size_t at = PAGE; at + PAGE <= whole.size && page == 0; at += PAGE)
    if (whole.bytes[at] == 0x0A && memmem(whole.bytes + at, PAGE, "number 020", 10)) page = at;
  if (page == 0) fail("no page has number 20");
  memset(damaged.bytes + page, 0xAA, PAGE);
}

/* Opening */

static kept_status open_it(kept_store **store) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.busy_timeout_ms = 200;
  return kept_open(folder, &options, store, &why);
}

/* Everything readable is recovered, and damage is reported exactly if there was some. */
static void expect_all(kept_store *store, kept_status status) {
  int64_t keys = count_of(store, "");
  if (status != (scene->is_damaged ? KEPT_SALVAGED : KEPT_OK))
    fail("\"%s\": %s", kept_status_text(status), why.message);
  if (undisturbed == 0) store_word(&shared->keys, keys);
  else if (keys != undisturbed) fail("%" PRId64 " keys, and %" PRId64 " can be read", keys, undisturbed);
}

static void open_undisturbed(void *unused) {
  kept_store *store = NULL;
  kept_status status = open_it(&store);
  expect_all(store, status);
  kept_close(store);
  if (is_there(path_of("damaged")) || is_there(path_of("salvaged.sqlite"))) fail("the salvage was not finished");
  if (!scene->is_damaged && is_there(path_of("quarantine"))) fail("a store that is whole is in quarantine");
  /* If files cannot be removed, an unused entry may remain. */
  if (names_in(path_of("quarantine"), "") > 1 && may_remove) fail("what failed has left something in quarantine");
}

static void check_opened(kept_store *store, kept_status status, kept_status wanted) {
  if (status == KEPT_OK || status == KEPT_SALVAGED) {
    expect_all(store, status);
    kept_close(store);
    return;
  }
  store_word(&shared->was_refused, 1);
  /* If a failure was over when SQLite reported it, the reason may be no more precise than "unavailable". */
  expect_status(status == KEPT_UNAVAILABLE ? status : wanted, status, what);
  if (!scene->is_damaged && (is_there(path_of("quarantine")) || inode_of_database() != inode)) {
    fail("the store was replaced");
  }
}

/* Failing calls */

static const struct failure {
  const char *name;
  int error;
  unsigned kinds;
} failures[] = {
  { "ENOSPC", ENOSPC, CALL_CREATE | CALL_WRITE },
  { "EIO", EIO, CALL_OPEN | CALL_CREATE | CALL_REMOVE | CALL_WRITE | CALL_SYNC | CALL_READ | CALL_MAP },
  { "EIO at reading", EIO, CALL_READ },
  { "ENXIO at reading", ENXIO, CALL_READ },
  { "EMFILE", EMFILE, CALL_OPEN | CALL_CREATE },
  { "EACCES", EACCES, CALL_OPEN | CALL_CREATE | CALL_REMOVE },
  { "ENOMEM", ENOMEM, CALL_MAP },
};
static const struct failure *failure;
static long point;
static bool for_ever;

static void open_with_failing_call(void *unused) {
  kept_store *store = NULL;
  failing_folder(folder);
  plan_failure(failure->error, failure->kinds, point, for_ever);
  kept_status status = open_it(&store);
  store_word(&shared->failures, end_failure());
  check_opened(store, status, status_of(failure->error));
}

static void open_with_failing_allocation(void *unused) {
  kept_store *store = NULL;
  stand_before_allocations();
  (failing_allocation = point, fails_for_ever = for_ever);
  kept_status status = open_it(&store);
  failing_allocation = 0;
  store_word(&shared->failures, failed_allocations);
  check_opened(store, status, KEPT_FAILED);
}

static void open_with_few_descriptors(void *unused) {
  kept_store *store = NULL;
  struct rlimit limit, before;
  int next = dup(0);
  close(next);
  getrlimit(RLIMIT_NOFILE, &before);
  limit = before;
  limit.rlim_cur = (rlim_t)(next + point - 1);
  setrlimit(RLIMIT_NOFILE, &limit);
  kept_status status = open_it(&store);
  setrlimit(RLIMIT_NOFILE, &before);
  store_word(&shared->failures, status != KEPT_OK && status != KEPT_SALVAGED);
  check_opened(store, status, KEPT_UNAVAILABLE);
}

/* Rounds */

static bool play_round(void (*open_badly)(void *)) {
  store_word(&shared->failures, 0);
  lay_out();
  finish(start(open_badly, NULL));
  finish(start(open_undisturbed, NULL));
  return load(&shared->failures) > 0;
}

static long next(long number) {
  return number < EVERY_POINT ? number + stride() : number + number / (rounds > 1 ? 16 : 4) * stride();
}

static unsigned play(const char *name, void (*open_badly)(void *)) {
  unsigned points = 0;
  store_word(&shared->was_refused, 0);
  for (int times = 0; times < 2; times++) {
    for_ever = times > 0;
    for (point = 1;; point = next(point), points++) {
      snprintf(what, sizeof what, "%s, %s at point %ld%s", scene->name, name, point, for_ever ? " and after it" : "");
      if (!play_round(open_badly)) break;
    }
  }
  if (load(&shared->was_refused) == 0) fail("%s, %s: nothing ever failed", scene->name, name);
  return points;
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  const char *only = getenv("KEPT_SCENE");
  unsigned points = 0;
  folder = fresh_folder();
  finish(start(build, NULL));
  whole.bytes = read_file(path_of("values.sqlite"), &whole.size);
  log_file.bytes = read_file(path_of("values.sqlite-wal"), &log_file.size);
  journal.bytes = read_file(path_of("journal"), &journal.size);
  if (!whole.bytes || !log_file.bytes || !journal.bytes) fail("no store was built");
  damage();
  for (size_t s = 0; s < COUNT(scenes); s++) {
    scene = &scenes[s];
    undisturbed = 0;
    snprintf(what, sizeof what, "%s", scene->name);
    lay_out();
    finish(start(open_undisturbed, NULL));
    undisturbed = load(&shared->keys);
    if (undisturbed < KEYS / 2 || (undisturbed == KEYS) == scene->is_damaged) fail("%" PRId64 " keys", undisturbed);
    for (size_t f = 0; f < COUNT(failures); f++) {
      failure = &failures[f];
      if (only && strcmp(only, failure->name) != 0) continue;
      may_remove = !(failure->kinds & CALL_REMOVE);
      points += play(failure->name, open_with_failing_call);
      may_remove = true;
    }
    if (!only || strcmp(only, "memory") == 0) points += play("no memory", open_with_failing_allocation);
    if (!only || strcmp(only, "descriptors") == 0) points += play("no descriptors", open_with_few_descriptors);
    printf("%s: %" PRId64 " keys\n", scene->name, undisturbed);
    fflush(stdout);
  }
  return end_torture("%u failures, and nothing was taken for damage", points);
}
