/* A process with little address space (`ulimit -v`): a large operation either succeeds or fails with KEPT_FAILED and
 * changes nothing. The process does not end, and an intact value is never reported as damaged or absent. Each scene
 * runs with less and less room. */
#include "expectations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ELEMENTS = 600000, BIG = 12 << 20, BIGS = 6, MIB = 1 << 20, MOST_ROOM = 600 };

static struct shared {
  int64_t refusals, successes;
  kept_status status;
} *shared;

static const char *folder;
static char document_path[4400];
static char *elements, *document, *deep, *text;
static long room;

/* Texts */

static char *repeated(const char *begin, const char *part, int count, const char *end) {
  size_t length = strlen(part);
  char *all = malloc(strlen(begin) + length * (size_t)count + strlen(end) + 1), *place = stpcpy(all, begin);
  for (int i = 0; i < count; i++, place += length) memcpy(place, part, length);
  strcpy(place - 1, end);
  return all;
}

static void write_texts(void) {
  char part[130] = "";
  elements = repeated("[", "{},", ELEMENTS, "]");
  document = repeated("{\"kept\":1,\"values\":{\"value\":[", "{},", ELEMENTS, "]}}");
  /* Each bracket is an array of its own. */
  memset(part, '[', 60), memset(part + 60, ']', 60), part[120] = ',';
  deep = repeated("[", part, 20000, "]");
  text = malloc(BIG + 1);
  memset(text, 'x', BIG), text[BIG] = 0;
}

/* Scenes */

static kept_status set_elements(kept_store *store) { return kept_set_json(store, "value", elements, &why); }

static kept_status set_deep(kept_store *store) { return kept_set_json(store, "value", deep, &why); }

static kept_status set_text(kept_store *store) { return kept_set_string(store, "value", text, BIG, &why); }

static kept_status import_elements(kept_store *store) {
  return kept_import_file(store, document_path, NULL, NULL, &why);
}

static kept_status read_value(kept_store *store) {
  char *json = NULL;
  kept_status status = kept_get_json(store, "value", &json, &why);
  if (status == KEPT_OK && strlen(json) != strlen(elements)) fail("the value has %zu bytes", strlen(json));
  kept_free(json);
  return status;
}

static kept_status export_text(kept_store *store) {
  char *json = NULL;
  kept_status status = kept_export_json(store, NULL, &json, &why);
  if (status == KEPT_OK && strlen(json) < (size_t)BIGS * BIG) fail("a part of the export");
  kept_free(json);
  return status;
}

static kept_status export_file(kept_store *store) {
  kept_status status = kept_export_file(store, document_path, NULL, &why);
  if (status != KEPT_OK && access(document_path, F_OK) == 0) fail("a part of an export is left");
  return status;
}

static kept_status observe(kept_store *store) {
  kept_subscription *subscription = NULL;
  kept_status status = kept_observe(store, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL | KEPT_OBSERVE_POLLED,
    ignore_notice, NULL, NULL, &subscription, &why);
  kept_unobserve(subscription);
  return status;
}

static void put_old(kept_store *store) { expect_ok(kept_set_json(store, "value", "\"old\"", &why), "write"); }

static void put_elements(kept_store *store) { expect_ok(kept_set_json(store, "value", elements, &why), "write"); }

static void put_texts(kept_store *store) {
  char key[32];
  put_old(store);
  for (int i = 0; i < BIGS; i++) {
    snprintf(key, sizeof key, "text%d", i);
    expect_ok(kept_set_string(store, key, text, BIG, &why), "write");
  }
}

static const struct scene {
  const char *name;
  void (*prepare)(kept_store *store);
  kept_status (*play)(kept_store *store);
  bool writes;
  /* In MiB; a thread takes 8 of them for its stack. */
  long least_room;
} scenes[] = {
  { "set JSON", put_old, set_elements, true, 3 },
  { "set nested JSON", put_old, set_deep, true, 3 },
  { "set a text", put_old, set_text, true, 3 },
  { "import", put_old, import_elements, true, 3 },
  { "read JSON", put_elements, read_value, false, 3 },
  { "observe JSON", put_elements, observe, false, 3 },
  { "export", put_texts, export_text, false, 3 },
  { "export to a file", put_texts, export_file, false, 3 },
  { "observe texts", put_texts, observe, false, 3 },
};
static const struct scene *scene;

static void prepare(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  scene->prepare(store);
  kept_close(store);
}

/* If nothing was written, the value is the old one: 5 bytes, or those of the elements. */
static void expect_value(kept_store *store, kept_status status) {
  char *json = NULL;
  expect_ok(kept_get_json(store, "value", &json, &why), what);
  bool is_old = strcmp(json, scene->prepare == put_elements ? elements : "\"old\"") == 0;
  if (is_old != (status != KEPT_OK || !scene->writes)) {
    fail("after \"%s\" the value has %zu bytes", kept_status_text(status), strlen(json));
  }
  kept_free(json);
}

static void play(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  limit_address_space(room);
  kept_status status = scene->play(store);
  free_address_space();
  shared->status = status;
  if (status != KEPT_OK) expect_status(KEPT_FAILED, status, what);
  expect_value(store, status);
  expect_ok(kept_set_int64(store, "other", room, &why), what);
  kept_close(store);
}

static void look(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_value(store, shared->status);
  kept_close(store);
}

static void play_round(void) {
  snprintf(what, sizeof what, "%s, with %ld MiB of room", scene->name, room);
  if (scene->play == import_elements) put_file(document_path, document);
  else unlink(document_path);
  finish(start(play, NULL));
  finish(start(look, NULL));
  add(shared->status == KEPT_OK ? &shared->successes : &shared->refusals, 1);
}

/* A file that reports a size of 0, and continues beyond any limit. */

static const char endless[] = "/proc/self/pagemap";

static void read_endless(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  limit_address_space(room);
  kept_status status = kept_import_file(store, endless, NULL, NULL, &why);
  free_address_space();
  expect_status(KEPT_FAILED, status, what);
  limit_address_space(room);
  status = kept_declare_file(store, endless, &why);
  free_address_space();
  expect_status(status == KEPT_TOO_LARGE ? KEPT_TOO_LARGE : KEPT_FAILED, status, what);
  kept_close(store);
}

static void play_endless(void) {
  FILE *file = fopen(endless, "r");
  if (file == NULL || fgetc(file) == EOF) {
    printf("a file that grows: left out, as there is no %s\n", endless);
    if (file) fclose(file);
    return;
  }
  fclose(file);
  folder = fresh_folder();
  for (room = MOST_ROOM; room >= 3; room /= 2) {
    snprintf(what, sizeof what, "a file that grows, with %ld MiB of room", room);
    finish(start(read_endless, NULL));
  }
  printf("a file that grows: refused\n");
  fflush(stdout);
}

/** From room to room: with more than one round each of the last 40, else samples of them. */
static long step(long room) {
  if (rounds > 1) return room > 40 ? room / 10 : 1;
  return room > 40 ? room / 2 : room > 12 ? 9 : 4;
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  write_texts();
  const char *only = getenv("KEPT_SCENE");
  if (only == NULL || strcmp(only, "a file that grows") == 0) play_endless();
  for (size_t s = 0; s < COUNT(scenes); s++) {
    scene = &scenes[s];
    if (only && strcmp(only, scene->name) != 0) continue;
    int64_t refusals = load(&shared->refusals), successes = load(&shared->successes);
    folder = NULL;
    for (room = MOST_ROOM; room >= scene->least_room; room -= step(room)) {
      if (folder == NULL || scene->writes) {
        folder = fresh_folder();
        snprintf(document_path, sizeof document_path, "%s-document", folder);
        finish(start(prepare, NULL));
      }
      play_round();
    }
    refusals = load(&shared->refusals) - refusals, successes = load(&shared->successes) - successes;
    printf("%s: %" PRId64 " times done, %" PRId64 " refused\n", scene->name, successes, refusals);
    fflush(stdout);
    if (successes == 0 || refusals == 0) fail("%s: the limits were not those that make a difference", scene->name);
  }
  unlink(document_path);
  return end_torture("%" PRId64 " refusals", load(&shared->refusals));
}
