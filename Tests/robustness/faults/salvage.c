/* A salvage in a system that fails: every call and every allocation of SQLite's, one after the other, once or from
 * there on, and every number of remaining descriptors. Values may be lost only to damage. Any other failure makes the
 * open fail with its status, nothing is replaced, and the next open recovers everything that an undisturbed salvage
 * recovers. A store that is intact, and only marked as damaged, is never salvaged. */
#include "check.h"
#include "failing.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS = 120, PAGE = 4096, JOURNAL_HEADER = 4096, LARGEST = 2 << 20, EVERY_POINT = 40, MOST_LEFT = 40 };

static struct shared {
  int64_t keys, failures, was_refused;
} *shared;

struct file {
  char bytes[LARGEST];
  size_t size;
};
static struct file whole, damaged, log_file, journal;

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
static char what[200];
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

static char *path_of(char *path, const char *name) {
  snprintf(path, 4400, "%s/%s", folder, name);
  return path;
}

static bool read_file(struct file *file, const char *name) {
  char path[4400];
  FILE *stream = fopen(path_of(path, name), "rb");
  file->size = 0;
  if (stream == NULL) return false;
  file->size = fread(file->bytes, 1, LARGEST, stream);
  fclose(stream);
  return true;
}

static void write_file(const struct file *file, const char *name) {
  char path[4400];
  FILE *stream = fopen(path_of(path, name), "wb");
  if (stream == NULL || fwrite(file->bytes, 1, file->size, stream) != file->size || fclose(stream) != 0)
    fail("could not write %s", path);
}

static ino_t inode_of_database(void) {
  struct stat status;
  char path[4400];
  return stat(path_of(path, "values.sqlite"), &status) == 0 ? status.st_ino : 0;
}

static void lay_out(void) {
  static const struct file empty;
  folder = fresh_folder();
  if (mkdir(folder, 0700) != 0) fail("no folder %s", folder);
  write_file(scene->database, "values.sqlite");
  if (log_file.size > 0) write_file(&log_file, "values.sqlite-wal");
  write_file(&journal, "journal");
  write_file(&empty, "damaged");
  inode = inode_of_database();
}

static bool is_there(const char *name) {
  char path[4400];
  return access(path_of(path, name), F_OK) == 0;
}

static int places_in_quarantine(void) {
  char path[4400];
  int count = 0;
  DIR *names = opendir(path_of(path, "quarantine"));
  for (struct dirent *entry; names && (entry = readdir(names)) != NULL;) count += entry->d_name[0] != '.';
  if (names) closedir(names);
  return count;
}

/* Building */

/* Overwrites the frames that are settled, from which a salvage would take every value. */
static void forget_frames(void) {
  char path[4400];
  static const char zeros[LARGEST];
  FILE *stream = fopen(path_of(path, "journal"), "r+b");
  if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) fail("could not open %s", path);
  size_t ring = (size_t)ftell(stream) - JOURNAL_HEADER;
  if (ring > LARGEST || fseek(stream, JOURNAL_HEADER, SEEK_SET) != 0 || fwrite(zeros, 1, ring, stream) != ring ||
    fclose(stream) != 0)
    fail("could not overwrite %s", path);
}

static void build(void *unused) {
  char key[16], text[64];
  kept_error error;
  (void)unused;
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  for (int i = 0; i < KEYS; i++) {
    if (i == KEYS * 3 / 4) {
      kept_close(store);
      forget_frames();
      store = open_store(folder, KEPT_SHARED, 5000);
    }
    snprintf(key, sizeof key, "key%03d", i);
    snprintf(text, sizeof text, "the value of number %03d, of some length", i);
    expect_ok(kept_set_string(store, key, text, strlen(text), &error), "write", &error);
  }
  /* It is not closed: the last quarter stays in the journal, or in the log. */
}

/* Damages one page of the database with values that the log does not replace. */
static void damage(void) {
  damaged = whole;
  size_t page = 0;
  for (size_t at = PAGE; at + PAGE <= whole.size && page == 0; at += PAGE)
    if (whole.bytes[at] == 0x0A && memmem(whole.bytes + at, PAGE, "number 020", 10)) page = at;
  if (page == 0) fail("no page has number 20");
  memset(damaged.bytes + page, 0xAA, PAGE);
}

/* Opening */

static int count_key(void *count, const char *key) {
  (void)key;
  ++*(int64_t *)count;
  return 0;
}

static kept_status open_it(kept_store **store, kept_error *error) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.busy_timeout_ms = 200;
  return kept_open(folder, &options, store, error);
}

/* Everything readable is recovered, and damage is reported exactly if there was some. */
static void expect_all(kept_store *store, kept_status status, const kept_error *error) {
  int64_t keys = 0;
  kept_error another;
  if (status != (scene->is_damaged ? KEPT_SALVAGED : KEPT_OK))
    fail("%s: \"%s\": %s", what, kept_status_text(status), error->message);
  expect_ok(kept_list(store, "", count_key, &keys, &another), what, &another);
  if (undisturbed == 0) store_word(&shared->keys, keys);
  else if (keys != undisturbed) fail("%s: %" PRId64 " keys, and %" PRId64 " can be read", what, keys, undisturbed);
}

static void open_undisturbed(void *unused) {
  (void)unused;
  kept_error error = { 0 };
  kept_store *store = NULL;
  kept_status status = open_it(&store, &error);
  expect_all(store, status, &error);
  kept_close(store);
  if (is_there("damaged") || is_there("salvaged.sqlite")) fail("%s: the salvage was not finished", what);
  if (!scene->is_damaged && is_there("quarantine")) fail("%s: a store that is whole is in quarantine", what);
  /* If files cannot be removed, an unused entry may remain. */
  if (places_in_quarantine() > 1 && may_remove) fail("%s: what failed has left something in quarantine", what);
}

static void check_opened(kept_store *store, kept_status status, kept_status wanted, const kept_error *error) {
  if (status == KEPT_OK || status == KEPT_SALVAGED) {
    expect_all(store, status, error);
    kept_close(store);
    return;
  }
  store_word(&shared->was_refused, 1);
  /* If a failure was over when SQLite reported it, the reason may be no more precise than "unavailable". */
  expect_status(status == KEPT_UNAVAILABLE ? status : wanted, status, error, what);
  if (!scene->is_damaged && (is_there("quarantine") || inode_of_database() != inode)) {
    fail("%s: the store was replaced", what);
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
  kept_error error = { 0 };
  kept_store *store = NULL;
  (void)unused;
  failing_folder(folder);
  plan_failure(failure->error, failure->kinds, point, for_ever);
  kept_status status = open_it(&store, &error);
  store_word(&shared->failures, end_failure());
  check_opened(store, status, status_of(failure->error), &error);
}

static void open_with_failing_allocation(void *unused) {
  kept_error error = { 0 };
  kept_store *store = NULL;
  (void)unused;
  stand_before_allocations();
  (failing_allocation = point, fails_for_ever = for_ever);
  kept_status status = open_it(&store, &error);
  failing_allocation = 0;
  store_word(&shared->failures, failed_allocations);
  check_opened(store, status, KEPT_FAILED, &error);
}

static void open_with_few_descriptors(void *unused) {
  kept_error error = { 0 };
  kept_store *store = NULL;
  struct rlimit limit, before;
  (void)unused;
  int next = dup(0);
  close(next);
  getrlimit(RLIMIT_NOFILE, &before);
  limit = before;
  limit.rlim_cur = (rlim_t)(next + point - 1);
  setrlimit(RLIMIT_NOFILE, &limit);
  kept_status status = open_it(&store, &error);
  setrlimit(RLIMIT_NOFILE, &before);
  store_word(&shared->failures, status != KEPT_OK && status != KEPT_SALVAGED);
  check_opened(store, status, KEPT_UNAVAILABLE, &error);
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
  if (!read_file(&whole, "values.sqlite") || !read_file(&log_file, "values.sqlite-wal") ||
    !read_file(&journal, "journal"))
    fail("no store was built");
  damage();
  for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
    scene = &scenes[s];
    undisturbed = 0;
    snprintf(what, sizeof what, "%s", scene->name);
    lay_out();
    finish(start(open_undisturbed, NULL));
    undisturbed = load(&shared->keys);
    if (undisturbed < KEYS / 2 || (undisturbed == KEYS) == scene->is_damaged) fail("%" PRId64 " keys", undisturbed);
    for (size_t f = 0; f < sizeof failures / sizeof *failures; f++) {
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
