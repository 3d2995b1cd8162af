/* Kept with values passed as JSON. */
#include "fatal.h"
#include "variants.h"

#include <stdio.h>

/* A typical object of a program: the state of a window. */
static const char shape[] = "{\"columns\":[\"name\",\"size\"],\"dark\":true,\"width\":%d,\"zoom\":1.25}";

static void get(void *session, walk *walk) {
  kept_error error;
  for (size_t step = 0; step < walk->steps; step++) {
    char *json;
    expect_done(kept_get_json(session, walk_next(walk)->text, &json, &error), &error, "get JSON");
    walk->sum += (unsigned char)json[0];
    kept_free(json);
  }
}

/* Each is new, and has the same length. */
static void set_one(kept_store *store, const char *key, walk *walk) {
  kept_error error;
  char json[sizeof shape + 16];
  snprintf(json, sizeof json, shape, (int)(1000000 + ++walk->stamp % 1000000));
  expect_done(kept_set_json(store, key, json, &error), &error, "set JSON");
}

static void set(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) set_one(session, walk_next(walk)->text, walk);
}

static void set_together(void *session, walk *walk) {
  kept_error error;
  kept_store *transaction;
  expect_done(kept_begin(session, NULL, &transaction, &error), &error, "begin");
  for (size_t step = 0; step < walk->steps; step++) set_one(transaction, walk_next(walk)->text, walk);
  expect_done(kept_commit(transaction, NULL, &error), &error, "commit");
}

static void create(const char *folder) { kept_close(open_kept(folder, NULL)); }

const engine kept_json = {
  .name = "Kept, JSON",
  .library = kept_version,
  .create = create,
  .open = usual_open,
  .join = usual_join,
  .leave = usual_leave,
  .close = usual_close,
  .get = get,
  .set = set,
  .set_together = set_together,
};
