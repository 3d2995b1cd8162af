/* A process with little address space, and operations on many small values (address_space.c has the large ones): each
 * is done, or refused as KEPT_FAILED with nothing changed, and the process does not end. Each scene is played with less
 * room and more, in even steps. */
#include "expectations.h"
#include "processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 14 };

static struct shared {
  int64_t refusals, successes;
} *shared;

static const struct scene {
  const char *name;
  /* The stored and the written values: their number, and their size in bytes. */
  int stored, stored_bytes, count, bytes;
  kept_status (*play)(kept_store *store);
  const char *(*text)(void);
  /* In MiB. A thread takes 8 of them for its stack, and some for itself. */
  double least_room, most_room;
} *scene;

static const char *folder;
static char backup[4400];
static char *value, *text;
static double room;

/* Texts */

static const char *written(const char *begin, const char *format, const char *end) {
  size_t each = (size_t)scene->bytes + 40, length = strlen(begin) + strlen(end) + each * (size_t)scene->count + 1;
  /* Memory freed here would be room there. */
  char *place = text = share(length);
  place = stpcpy(place, begin);
  for (int i = 0; i < scene->count; i++) place += sprintf(place, format, i, scene->bytes, value);
  strcpy(*end ? place - 1 : place, end);
  return text;
}

static const char *as_json(void) { return written("{", "\"new%06d\":\"%.*s\",", "}"); }
static const char *as_export(void) { return written("{\"kept\":1,\"values\":{", "\"new%06d\":\"%.*s\",", "}}"); }
static const char *as_arrays(void) { return written("{", "\"new%06d\":[1,\"%.*s\",{\"a\":1.5}],", "}"); }

/* Scenes */

static kept_status import(kept_store *store) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  static const struct {
    const char *(*text)(void);
    uint32_t flags;
  } formats[] = {
    { as_json, KEPT_TRANSFER_FLAT },
    { as_arrays, KEPT_TRANSFER_FLAT },
    { as_export, 0 },
  };
  for (size_t i = 0; i < COUNT(formats); i++) {
    if (formats[i].text == scene->text) options.flags = formats[i].flags;
  }
  char *report = NULL;
  kept_status status = kept_import(store, text, strlen(text), &options, &report, &why);
  kept_free(report);
  return status;
}

static kept_status edit(kept_store *store) {
  kept_store *transaction = NULL;
  char key[32];
  kept_status status = kept_begin(store, NULL, &transaction, &why);
  for (int i = 0; status == KEPT_OK && i < scene->count; i++) {
    snprintf(key, sizeof key, "new%06d", i);
    status = kept_set_string(transaction, key, value, (size_t)scene->bytes, &why);
  }
  if (status == KEPT_OK) return kept_commit(transaction, NULL, &why);
  if (transaction) kept_rollback(transaction);
  return status;
}

static kept_status restore(kept_store *store) { return kept_restore(store, backup, NULL, NULL, &why); }

/* Its values are read when they are needed. */
static kept_status read_snapshot(kept_store *store) {
  kept_store *taken = NULL;
  char *json = NULL;
  kept_status status = kept_snapshot(store, "", &taken, &why);
  if (status != KEPT_OK) return status;
  status = kept_list_json(taken, "", &json, &why);
  kept_free(json);
  kept_close(taken);
  return status;
}

static kept_status export_text(kept_store *store) {
  char *json = NULL;
  kept_status status = kept_export_json(store, NULL, &json, &why);
  kept_free(json);
  return status;
}

static void show(void *context, const kept_notice *notice) {
  for (size_t i = 0; i < kept_notice_count(notice); i++) kept_notice_new_json(notice, i);
}

static kept_status observe(kept_store *store) {
  kept_subscription *subscription = NULL;
  kept_status status =
    kept_observe(store, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, show, NULL, NULL, &subscription, &why);
  kept_unobserve(subscription);
  return status;
}

static const struct scene scenes[] = {
  { "import JSON", 0, 0, 150, 200000, import, as_json, 2, 100 },
  { "import short JSON", 0, 0, 8000, 2000, import, as_json, 2, 60 },
  { "import an export", 0, 0, 150, 200000, import, as_export, 2, 100 },
  { "import into many", 10000, 20, 20000, 1, import, as_arrays, 2, 80 },
  { "transaction", 0, 0, 150, 200000, edit, NULL, 2, 100 },
  { "transaction of short values", 0, 0, 10000, 40, edit, NULL, 2, 30 },
  { "restore", 20000, 200, 0, 0, restore, NULL, 2, 80 },
  { "snapshot", 20000, 200, 0, 0, read_snapshot, NULL, 2, 60 },
  { "export", 20000, 200, 0, 0, export_text, NULL, 2, 60 },
  { "observe", 150, 200000, 0, 0, observe, NULL, 8, 100 },
  { "observe short values", 8000, 2000, 0, 0, observe, NULL, 8, 100 },
};

/* Values */

static void prepare(void *unused) {
  kept_store *transaction, *store = open_store(folder, KEPT_SHARED, 5000);
  char key[32];
  expect_ok(kept_set_int64(store, "other", 1, &why), "write");
  expect_ok(kept_begin(store, NULL, &transaction, &why), "begin");
  for (int i = 0; i < scene->stored; i++) {
    snprintf(key, sizeof key, "stored%06d", i);
    expect_ok(kept_set_string(transaction, key, value, (size_t)scene->stored_bytes, &why), "write");
  }
  expect_ok(kept_commit(transaction, NULL, &why), "commit");
  if (scene->play == restore) expect_ok(kept_backup(store, backup, 0, NULL, &why), "back up");
  kept_close(store);
}

static int count_one(void *context, const char *key) {
  ++*(int *)context;
  return 0;
}

static void expect_values(kept_store *store, kept_status status, int64_t number) {
  int64_t other = 0;
  int stored = 0, written = 0, wanted = status == KEPT_OK ? scene->count : 0;
  expect_ok(kept_list(store, "stored", count_one, &stored, &why), what);
  expect_ok(kept_list(store, "new", count_one, &written, &why), what);
  expect_ok(kept_get_int64(store, "other", &other, &why), what);
  if (stored != scene->stored || written != wanted) fail("%d and %d values are there", stored, written);
  if (status == KEPT_OK && scene->play == restore) number = 1;
  if (other != number) fail("%s: \"other\" is %" PRId64 ", not %" PRId64, what, other, number);
}

/** In a process of its own: its maintenance thread would take memory while the scene is played. */
static void write_other(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_set_int64(store, "other", 2, &why), what);
  kept_close(store);
}

static void play(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  limit_address_space(room);
  kept_status status = scene->play(store);
  free_address_space();
  if (status != KEPT_OK) expect_status(KEPT_FAILED, status, what);
  expect_values(store, status, 2);
  expect_ok(kept_remove_all(store, "new", NULL, &why), what);
  add(status == KEPT_OK ? &shared->successes : &shared->refusals, 1);
  kept_close(store);
}

/* How many processes have ended otherwise. */
static int play_scene(void) {
  int deaths = 0;
  for (int step = 0; step <= STEPS; step += rounds > 1 ? 1 : STEPS / 2) {
    room = scene->least_room + (scene->most_room - scene->least_room) * step / STEPS;
    snprintf(what, sizeof what, "%s, with %.2f MiB of room", scene->name, room);
    finish(start(write_other, NULL));
    int end = end_of(start(play, NULL));
    if (end < 0) printf("%s: the process died of signal %d\n", what, -end), deaths++;
    else if (end != 0) exit(1);
  }
  return deaths;
}

int main(int argc, char **argv) {
  int deaths = 0;
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  value = malloc(200001);
  memset(value, 'x', 200000), value[200000] = 0;
  const char *only = getenv("KEPT_SCENE");
  for (size_t s = 0; s < COUNT(scenes); s++) {
    scene = &scenes[s];
    if (only && strcmp(only, scene->name) != 0) continue;
    int64_t refusals = load(&shared->refusals), successes = load(&shared->successes);
    folder = fresh_folder();
    snprintf(backup, sizeof backup, "%s-backup", folder);
    unlink(backup);
    finish(start(prepare, NULL));
    if (scene->text) scene->text();
    int died = play_scene();
    unlink(backup);
    refusals = load(&shared->refusals) - refusals, successes = load(&shared->successes) - successes;
    printf("%s: %" PRId64 " times done, %" PRId64 " refused, %d died\n", scene->name, successes, refusals, died);
    fflush(stdout);
    deaths += died;
    if (died == 0 && (successes == 0 || refusals == 0)) fail("%s: the limits made no difference", scene->name);
  }
  if (deaths) fail("%d processes died", deaths);
  return end_torture("%" PRId64 " refusals", load(&shared->refusals));
}
