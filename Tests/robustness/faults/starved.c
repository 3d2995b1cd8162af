/* No memory, at every allocation: each operation is repeated, and its first allocation fails, its second, its third
 * ..., once or from there on, until none is left (starving.h defines which allocations count). The operation fails with
 * a message or works without the memory. Afterwards this process and another one see the complete old state, or the
 * complete new state if it succeeded, and the store continues to work without being reopened.
 *
 *   starved      the first allocations, and a random selection of the others
 *   starved 2    all of them */
#include "expectations.h"
#include "starving.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG = 140000, EVERY_POINT = 60, MOST_POINTS = 20000, LARGEST = 1 << 20 };

static struct shared {
  int64_t failures, refusals;
  kept_status status;
  char old[LARGEST], new[LARGEST], found[LARGEST];
} *shared;

static const char *folder;
static char other_path[4400];
static kept_store *store;
static char long_text[LONG + 1];

#define TREE \
  "{\"list\":[1,2.5,null,true,\"a longer text than fifteen bytes\"],\"when\":{\"$date\":\"2026-11-20T23:44:01Z\"}}"
#define NEW_TREE \
  "[{\"a name that is not short\":[[],{},[[0]]]},{\"$binary\":{\"base64\":\"AAEC\",\"subType\":\"00\"}},\"\\u00e9\"]"
#define SCHEMA "{\"type\":\"string\",\"pattern\":\"^([a-z]+-)*[a-z]+$\",\"default\":\"a-b\",\"maxLength\":200}"
#define EXPORT \
  "{\"kept\":1,\"prefix\":\"\",\"values\":{\"first\":7,\"imported\":" NEW_TREE ",\"named\":\"im-ported\",\"second\":7}}"
#define PLAIN \
  "{\"imported.list\":[1,2,{\"a\":1.5}],\"imported.text\":\"" \
  "x-y\"}"

static bool is_ok(kept_status status) { return status >= 0; }

/* What a store holds */

static void make(void *unused) {
  kept_store *made = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_declare_json(made, "named", SCHEMA, &why), "declare");
  expect_ok(kept_set_string(made, "named", "some-text", 9, &why), "write");
  expect_ok(kept_set_json(made, "tree", TREE, &why), "write");
  expect_ok(kept_set_string(made, "long", long_text, LONG, &why), "write");
  expect_ok(set_both(made, 1, KEPT_SHARED), "write");
  kept_close(made);
}

/* All values and declarations, without the revision. */
static void describe(kept_store *from, char *text) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.flags = KEPT_TRANSFER_DECLARATIONS | KEPT_TRANSFER_SECRETS | KEPT_TRANSFER_PLAIN;
  char *json = NULL;
  expect_ok(kept_export_json(from, &options, &json, &why), "look at the store");
  if (strlen(json) >= LARGEST) fail("the store is larger than it should be");
  strcpy(text, json);
  kept_free(json);
  char *revision = strstr(text, "\"revision\":");
  if (revision == NULL) fail("an export without a revision");
  for (revision += 11; *revision >= '0' && *revision <= '9'; revision++) *revision = '#';
  /* The same number of digits for all. */
  while (revision[-2] == '#') memmove(revision - 1, revision, strlen(revision) + 1), revision--;
}

static void describe_there(void *unused) {
  kept_store *there = NULL;
  kept_status status = kept_open(folder, NULL, &there, &why);
  if (!is_ok(status)) fail("another process cannot open the store: %s", why.message);
  describe(there, shared->found);
  kept_close(there);
}

/* Scenes. What a scene prepares exists before memory is short. */

static void nothing(void) {}
static void open_it(void) { store = open_store(folder, KEPT_SHARED, 5000); }

static void read_it(void) {
  int64_t number;
  open_it();
  expect_ok(kept_get_int64(store, "first", &number, &why), "read");
}

static void put_export(void) {
  put_file(other_path, EXPORT);
  open_it();
}

static void put_nothing(void) {
  unlink(other_path);
  open_it();
}

static kept_status play_open(void) { return kept_open(folder, NULL, &store, &why); }

static kept_status play_get(void) {
  static char text[LONG + 1];
  int64_t number = 0;
  size_t length = 0;
  char *json = NULL;
  kept_status status = kept_get_int64(store, "first", &number, &why);
  if (status == KEPT_OK && number != 1) fail("it reads %" PRId64 " where 1 is", number);
  if (status == KEPT_OK) status = kept_get_string(store, "long", text, sizeof text, &length, &why);
  if (status == KEPT_OK && length != LONG) fail("it reads a text of %zu bytes", length);
  if (status == KEPT_OK) status = kept_get_string(store, "named", text, sizeof text, &length, &why);
  if (status == KEPT_OK && strcmp(text, "some-text") != 0) fail("it reads %s", text);
  if (status == KEPT_OK) status = kept_get_json(store, "tree", &json, &why);
  if (status == KEPT_OK && strcmp(json, TREE) != 0) fail("it reads %s", json);
  kept_free(json);
  return status;
}

static kept_status play_set(void) { return kept_set_int64(store, "first", 1000000, &why); }
static kept_status play_set_text(void) { return kept_set_string(store, "tree", long_text, LONG, &why); }
static kept_status play_set_json(void) { return kept_set_json(store, "tree", NEW_TREE, &why); }

static kept_status play_set_named(void) { return kept_set_string(store, "named", "other-text", 10, &why); }

static kept_status play_remove(void) { return kept_remove_all(store, "", NULL, &why); }
static kept_status play_commit(void) { return set_both(store, 2, KEPT_SHARED); }
static kept_status play_durable(void) { return set_both(store, 2, KEPT_DURABLE); }
static kept_status play_flush(void) { return kept_flush(store, &why); }

static kept_status play_declare(void) {
  static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"list\":{\"items\":{\"pattern\":\"^[a-z ]+$\"}}}}";
  return kept_declare_json(store, "tree", schema, &why);
}

static kept_status play_explain(void) {
  char *json = NULL, *declarations = NULL;
  kept_status status = kept_explain_json(store, "named", &json, &why);
  if (status == KEPT_OK && strstr(json, "some-text") == NULL) fail("the explanation is %s", json);
  if (status == KEPT_OK) status = kept_declarations_json(store, "", &declarations, &why);
  if (status == KEPT_OK && strstr(declarations, "maxLength") == NULL) fail("the declarations are %s", declarations);
  kept_free(json);
  kept_free(declarations);
  return status;
}

static kept_status play_snapshot(void) {
  kept_store *snapshot = NULL;
  int count = 0;
  kept_status status = kept_snapshot(store, "", &snapshot, &why);
  if (status == KEPT_OK) status = kept_list(snapshot, "", count_key, &count, &why);
  if (status == KEPT_OK && count != 5) fail("a snapshot of %d keys", count);
  kept_snapshot_end(snapshot);
  return status;
}

static kept_status import(const char *text, uint32_t flags) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.flags = flags;
  char *report = NULL;
  kept_status status = kept_import(store, text, strlen(text), &options, &report, &why);
  if (status == KEPT_OK && report && strstr(report, "\"notCarried\":[]") == NULL) fail("left out: %s", report);
  kept_free(report);
  return status;
}

static kept_status play_import(void) { return kept_import_file(store, other_path, NULL, NULL, &why); }
static kept_status play_import_json(void) { return import(PLAIN, KEPT_TRANSFER_FLAT); }
static kept_status play_import_nested(void) { return import(PLAIN, KEPT_TRANSFER_NESTED); }

static kept_status play_export(void) {
  char *json = NULL;
  kept_status status = kept_export_json(store, NULL, &json, &why);
  if (status == KEPT_OK && (strstr(json, TREE) == NULL || strstr(json, long_text) == NULL)) fail("exported: %s", json);
  kept_free(json);
  return status;
}

static kept_status play_export_file(void) {
  struct stat file;
  kept_status status = kept_export_file(store, other_path, NULL, &why);
  if (is_ok(status) != (stat(other_path, &file) == 0)) fail("a file that is %s", is_ok(status) ? "missing" : "left");
  if (status == KEPT_OK && file.st_size < LONG) fail("a file of %" PRId64 " bytes", (int64_t)file.st_size);
  return status;
}

static kept_status play_backup(void) {
  kept_status status = kept_backup(store, other_path, 0, NULL, &why);
  if (is_ok(status) != (access(other_path, F_OK) == 0)) fail("a backup that is %s", is_ok(status) ? "missing" : "left");
  return status;
}

/* A change must not look like a removal. */
static void receive(void *context, const kept_notice *notice) {
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    const char *key = kept_notice_key(notice, i), *json = kept_notice_new_json(notice, i);
    if (key == NULL) fail("a notice without a key");
    if (json == NULL && kept_notice_new(notice, i) == NULL) fail("a notice without the value of %s", key);
    if (json && strcmp(key, "tree") == 0 && strcmp(json, TREE) != 0) fail("a notice with %s", json);
  }
}

static kept_status play_observe(void) {
  kept_subscription *subscription = NULL;
  uint32_t flags = KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL | KEPT_OBSERVE_POLLED;
  kept_status status = kept_observe(store, "", flags, receive, NULL, NULL, &subscription, &why);
  if (status != KEPT_OK) return status;
  status = set_both(store, 2, KEPT_SHARED);
  if (status == KEPT_OK) (void)kept_subscription_dispatch(subscription, 0, NULL, &why);
  kept_unobserve(subscription);
  return status;
}

static kept_status step(void *unused, kept_store *transaction, kept_error *error) {
  return kept_set_int64(transaction, "migrated", 1, error);
}

static kept_status play_migrate(void) {
  kept_migration steps[] = { { 1, 0, "adds a key", step, NULL } };
  char *backup = NULL;
  kept_status status = kept_migrate(store, steps, 1, 0, NULL, &backup, &why);
  kept_free(backup);
  return status;
}

enum {
  /* A durable commit that could not be synced may be visible. */
  MAY_BE_DONE = 1,
  /* It is a single write into the journal, or a sync of it. */
  NEEDS_NONE = 2,
};

static const struct scene {
  const char *name;
  void (*prepare)(void);
  kept_status (*play)(void);
  unsigned flags;
} scenes[] = {
  { "opening", nothing, play_open, 0 },
  { "first read", open_it, play_get, 0 },
  { "first set", open_it, play_set, 0 },
  { "set", read_it, play_set, NEEDS_NONE },
  { "set a text", read_it, play_set_text, 0 },
  { "set JSON", read_it, play_set_json, 0 },
  { "set what has a pattern", open_it, play_set_named, 0 },
  { "remove all", read_it, play_remove, 0 },
  { "commit", read_it, play_commit, 0 },
  { "durable commit", read_it, play_durable, MAY_BE_DONE },
  { "flush", read_it, play_flush, NEEDS_NONE },
  { "declare", open_it, play_declare, 0 },
  { "explain", open_it, play_explain, 0 },
  { "snapshot", open_it, play_snapshot, 0 },
  { "import", put_export, play_import, 0 },
  { "import JSON", open_it, play_import_json, 0 },
  { "import nested JSON", open_it, play_import_nested, 0 },
  { "export", open_it, play_export, 0 },
  { "export to a file", put_nothing, play_export_file, 0 },
  { "back up", put_nothing, play_backup, 0 },
  { "observe", open_it, play_observe, 0 },
  { "migrate", open_it, play_migrate, MAY_BE_DONE },
};

/* One round */

static struct round {
  const struct scene *scene;
  long point;
  bool for_ever;
} current;

static void expect_state(const char *found, const char *wanted, const char *where) {
  if (strcmp(found, wanted) != 0) fail("%s finds %.2000s, and not %.2000s", where, found, wanted);
}

static void play(void *unused) {
  static char found[LARGEST];
  current.scene->prepare();
  plan_shortage(current.point, current.for_ever);
  kept_status status = current.scene->play();
  long failed = end_shortage();
  store_word(&shared->failures, failed);
  shared->status = status;
  if (!is_ok(status)) {
    if (failed == 0) fail("failed by itself: %s", why.message);
    expect_status(KEPT_FAILED, status, what);
  }
  if (store == NULL) {
    status = play_open();
    if (!is_ok(status)) fail("with memory again it cannot be opened: %s", why.message);
  }
  describe(store, found);
  bool is_done = is_ok(shared->status) || ((current.scene->flags & MAY_BE_DONE) && strcmp(found, shared->new) == 0);
  if (current.point > 0) expect_state(found, is_done ? shared->new : shared->old, "this process");
  finish(start(describe_there, NULL));
  expect_state(shared->found, found, "another process");
  expect_ok(kept_set_int64(store, "after", 1, &why), what);
  expect_ok(set_both(store, 4, KEPT_DURABLE), what);
  expect_ok(kept_flush(store, &why), what);
  if (get_both(store) != 4) fail("a later write is missing");
  kept_close(store);
}

/* Creates a new store, and runs the scene in its own process. @return whether anything failed */
static bool play_round(void) {
  snprintf(what, sizeof what, "%s, without memory at point %ld%s", current.scene->name, current.point,
    current.for_ever ? " and after it" : "");
  folder = fresh_folder();
  snprintf(other_path, sizeof other_path, "%s-other", folder);
  finish(start(make, NULL));
  store_word(&shared->failures, 0);
  finish(start(play, NULL));
  if (shared->status < 0) shared->refusals++;
  unlink(other_path);
  return load(&shared->failures) > 0;
}

/* Learns the state that the scene leaves when memory is available: point 0 never fails. */
static void learn_states(void) {
  current.point = 0;
  current.for_ever = false;
  play_round();
  strcpy(shared->new, shared->found);
  const struct scene *scene = current.scene;
  struct scene prepared = { scene->name, scene->prepare, scene->prepare == nothing ? play_open : play_flush, 0 };
  current.scene = &prepared;
  play_round();
  strcpy(shared->old, shared->found);
  current.scene = scene;
}

static long next(long point, bool for_ever) {
  static uint64_t state;
  if (state == 0) state = seed;
  if (point < (rounds > 1 ? EVERY_POINT : 20) || (rounds > 1 && !for_ever)) return point + stride();
  /* Once the first point has failed, the others usually fail the same way. */
  return point + 1 + (long)random_below(&state, (uint64_t)(for_ever ? point : 160));
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  /* The library would load it later, and its allocations fail only if it is known by then. */
  if (dlopen("libpcre2-8.so.0", RTLD_NOW) == NULL) return 2;
  begin_starving();
  shared = share(sizeof *shared);
  memset(long_text, 'x', LONG);
  /* Runs only the scene of this name, for debugging. */
  const char *only = getenv("KEPT_SCENE");
  unsigned points = 0;
  for (size_t s = 0; s < COUNT(scenes); s++) {
    if (only && strcmp(only, scenes[s].name) != 0) continue;
    unsigned before = points;
    int64_t refused = shared->refusals;
    current.scene = &scenes[s];
    learn_states();
    for (int for_ever = 0; for_ever < 2; for_ever++) {
      for (long point = 1;; point = next(point, for_ever), points++) {
        current = (struct round){ &scenes[s], point, for_ever };
        if (!play_round()) break;
        if (point > MOST_POINTS) fail("there is no end");
      }
    }
    printf("%s: %u points, %" PRId64 " refusals\n", scenes[s].name, points - before, shared->refusals - refused);
    fflush(stdout);
    if (points == before && !(scenes[s].flags & NEEDS_NONE)) fail("%s: nothing was ever allocated", scenes[s].name);
  }
  return end_torture("%u shortages, each reported or worked around", points);
}
