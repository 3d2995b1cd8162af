/* Kept as a C program uses it: one handle, shared by all threads. */
#include "fatal.h"
#include "folders.h"
#include "variants.h"

#include <stdlib.h>

void expect_done(kept_status status, const kept_error *error, const char *what) {
  if (status != KEPT_OK) die("Kept cannot %s: %s (%s)", what, error->message, kept_status_text(status));
}

kept_store *open_kept(const char *folder, const kept_options *options) {
  kept_store *store;
  kept_error error;
  char *path = folder_path(folder, "store.kept");
  expect_done(kept_open(path, options, &store, &error), &error, "open");
  free(path);
  return store;
}

void *usual_open(const char *folder, bool durable) {
  kept_options options = KEPT_OPTIONS_INIT;
  if (durable) options.durability = KEPT_DURABLE;
  options.busy_timeout_ms = 60000;
  return open_kept(folder, &options);
}

void usual_close(void *store) { kept_close(store); }

static void create(const char *folder) { kept_close(open_kept(folder, NULL)); }

void *usual_join(void *store) { return store; }

void usual_leave(void *session) { (void)session; }

static void get_integers(void *session, walk *walk) {
  kept_error error;
  for (size_t step = 0; step < walk->steps; step++) {
    int64_t value;
    expect_done(kept_get_int64(session, walk_next(walk)->text, &value, &error), &error, "get an integer");
    walk->sum += (uint64_t)value;
  }
}

static void get_texts(void *session, walk *walk) {
  kept_error error;
  for (size_t step = 0; step < walk->steps; step++) {
    size_t length;
    const char *name = walk_next(walk)->text;
    kept_status status = kept_get_string(session, name, walk->text, walk->length + 1, &length, &error);
    expect_done(status, &error, "get a text");
    walk->sum += length + (unsigned char)walk->text[0];
  }
}

void usual_get(void *session, walk *walk) {
  if (walk->length) get_texts(session, walk);
  else get_integers(session, walk);
}

static void set_next(kept_store *store, walk *walk) {
  kept_error error;
  const char *name = walk_next(walk)->text;
  kept_status status = walk->length ? kept_set_string(store, name, walk_text(walk), walk->length, &error)
                                    : kept_set_int64(store, name, ++walk->stamp, &error);
  expect_done(status, &error, "set");
}

void usual_set(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) set_next(session, walk);
}

/* The number of words has no common divisor with the number of keys, so each key gets a word other than its last
 * one. */
void usual_set_words(void *session, walk *walk) {
  kept_error error;
  for (size_t step = 0; step < walk->steps; step++) {
    char word[] = "word-0";
    word[5] += (char)(++walk->stamp % 7);
    expect_done(kept_set_string(session, walk_next(walk)->text, word, 6, &error), &error, "set a word");
  }
}

void usual_set_refused(void *session, walk *walk) {
  kept_error error;
  for (size_t step = 0; step < walk->steps; step++) {
    kept_status status = kept_set_int64(session, walk_next(walk)->text, -1, &error);
    if (status != KEPT_INVALID) die("Kept did not refuse -1 (%s)", kept_status_text(status));
  }
}

void usual_set_together(void *session, walk *walk) {
  kept_error error;
  kept_store *transaction;
  expect_done(kept_begin(session, NULL, &transaction, &error), &error, "begin");
  for (size_t step = 0; step < walk->steps; step++) set_next(transaction, walk);
  expect_done(kept_commit(transaction, NULL, &error), &error, "commit");
}

const engine kept = { .name = "Kept", KEPT_USUAL, .create = create, .set_together = usual_set_together };
