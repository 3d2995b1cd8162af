/* Kept as a C program uses it: one handle, shared by all threads. */
#include "complaint.h"
#include "engine.h"
#include "folders.h"

#include <kept.h>
#include <stdlib.h>

static void check(kept_status status, const kept_error *error, const char *what) {
  if (status != KEPT_OK) complain("Kept cannot %s: %s (%s)", what, error->message, kept_status_text(status));
}

static void *open_store(const char *folder, bool durable) {
  kept_options options = KEPT_OPTIONS_INIT;
  if (durable) options.durability = KEPT_DURABLE;
  options.busy_timeout_ms = 60000;
  kept_store *store;
  kept_error error;
  char *path = folder_path(folder, "store.kept");
  check(kept_open(path, &options, &store, &error), &error, "open");
  free(path);
  return store;
}

static void close_store(void *store) { kept_close(store); }

static void create(const char *folder) { close_store(open_store(folder, false)); }

static void *join(void *store) { return store; }

static void leave(void *session) { (void)session; }

static void get_integers(void *session, walk *walk) {
  kept_error error;
  for (size_t step = 0; step < walk->steps; step++) {
    int64_t value;
    check(kept_get_int64(session, walk_next(walk)->text, &value, &error), &error, "get an integer");
    walk->sum += (uint64_t)value;
  }
}

static void get_texts(void *session, walk *walk) {
  kept_error error;
  char buffer[64];
  for (size_t step = 0; step < walk->steps; step++) {
    size_t length;
    kept_status status = kept_get_string(session, walk_next(walk)->text, buffer, sizeof buffer, &length, &error);
    check(status, &error, "get a text");
    walk->sum += length + (unsigned char)buffer[0];
  }
}

static void set(void *session, walk *walk) {
  kept_error error;
  for (size_t step = 0; step < walk->steps; step++) {
    check(kept_set_int64(session, walk_next(walk)->text, ++walk->stamp, &error), &error, "set");
  }
}

static void set_together(void *session, walk *walk) {
  kept_error error;
  kept_store *transaction;
  check(kept_begin(session, NULL, &transaction, &error), &error, "begin");
  for (size_t step = 0; step < walk->steps; step++) {
    const char *name = walk_next(walk)->text;
    kept_status status = walk->kind == INTEGER
      ? kept_set_int64(transaction, name, ++walk->stamp, &error)
      : kept_set_string(transaction, name, text_value, TEXT_LENGTH, &error);
    check(status, &error, "set in a transaction");
  }
  check(kept_commit(transaction, NULL, &error), &error, "commit");
}

const engine kept = {
  .name = "Kept", .library = kept_version,
  .create = create, .open = open_store, .join = join, .leave = leave, .close = close_store,
  .get_integers = get_integers, .get_texts = get_texts, .set = set, .set_together = set_together,
};
