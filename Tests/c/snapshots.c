/* Snapshots: a consistent view of one revision while others write. */
#include "clock.h"
#include "suite.h"
#include "transacting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kept_store *snapshot(kept_store *store, const char *prefix) {
  kept_store *taken = NULL;
  EXPECT(KEPT_OK, kept_snapshot(store, prefix, &taken, &why));
  return taken;
}

TEST(every_function_that_reads_takes_a_snapshot) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_string(store, "text", "hello", 5, &why));
  EXPECT(KEPT_OK, kept_set_bytes(store, "bytes", "\0\1", 2, &why));
  EXPECT(KEPT_OK, kept_set_date(store, "date", 5, 7, &why));
  EXPECT(KEPT_OK, kept_set_double(store, "double", 1.5, &why));
  EXPECT(KEPT_OK, kept_set_bool(store, "bool", true, &why));
  EXPECT(KEPT_OK, kept_set_uint64(store, "uint", UINT64_MAX, &why));
  kept_store *taken = snapshot(store, "");
  EXPECT(KEPT_OK, kept_remove_all(store, "", NULL, &why));
  char text[8], bytes[8];
  size_t length = 0;
  int64_t seconds = 0;
  int32_t nanoseconds = 0;
  double real = 0;
  bool truth = false;
  uint64_t natural = 0;
  uint32_t layer = 0;
  const kept_key *key = NULL;
  EXPECT(KEPT_OK, kept_get_string(taken, "text", text, sizeof text, &length, &why));
  CHECK_TEXT("hello", text);
  EXPECT(KEPT_OK, kept_get_bytes(taken, "bytes", bytes, sizeof bytes, &length, &why));
  CHECK_UINT(2, length);
  EXPECT(KEPT_OK, kept_get_date(taken, "date", &seconds, &nanoseconds, &why));
  CHECK_INT(5, seconds);
  EXPECT(KEPT_OK, kept_get_double(taken, "double", &real, &why));
  CHECK(real == 1.5);
  EXPECT(KEPT_OK, kept_get_bool(taken, "bool", &truth, &why));
  CHECK(truth);
  EXPECT(KEPT_OK, kept_get_uint64(taken, "uint", &natural, &why));
  CHECK(natural == UINT64_MAX);
  EXPECT(KEPT_OK, kept_layer_of(taken, "uint", &layer, &why));
  CHECK_UINT(KEPT_LAYER_USER, layer);
  EXPECT(KEPT_OK, kept_key_prepare("double", &key, &why));
  EXPECT(KEPT_OK, kept_key_get_double(taken, key, &real, &why));
  char *json = NULL;
  EXPECT(KEPT_OK, kept_declarations_json(taken, "", &json, &why));
  CHECK_TEXT("{\"properties\":{},\"type\":\"object\"}", json);
  kept_free(json);
  kept_snapshot_end(taken);
}

/* A process that changes 100 keys together in a loop until it is killed. */
ROLE(writer, location) {
  kept_store *store = open_at(location);
  for (int64_t round = 1;; round++) {
    kept_store *transaction = NULL;
    if (kept_begin(store, NULL, &transaction, NULL) != KEPT_OK) return;
    for (int i = 0; i < 100; i++) {
      char key[16];
      snprintf(key, sizeof key, "k%d", i);
      kept_set_int64(transaction, key, round, NULL);
    }
    kept_commit(transaction, NULL, NULL);
    if (round == 1) signal_parent();
  }
}

static int same_number(void *context, const char *key) {
  void **pair = context;
  int64_t found = -1;
  EXPECT(KEPT_OK, kept_get_int64(pair[0], key, &found, &why));
  int64_t *first = pair[1];
  if (*first == 0) *first = found;
  CHECK_INT(*first, found);
  return 0;
}

FOLDER_TEST(iteration_sees_one_state_while_another_process_writes) {
  const char *location = fresh_location();
  child other = start_child("writer", location);
  await_child(&other);
  kept_store *store = open_at(location);
  int64_t before = 0;
  for (int i = 0; i < 50; i++) {
    kept_store *taken = snapshot(store, "k");
    int64_t first = 0;
    void *pair[] = { taken, &first };
    EXPECT(KEPT_OK, kept_list(taken, "", same_number, pair, &why));
    CHECK_INT(100, count_of(taken, ""));
    CHECK(first >= before);
    before = first;
    kept_snapshot_end(taken);
  }
  kill_child(&other);
}

FOLDER_TEST(an_open_snapshot_does_not_block_checkpoints) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  set(store, "a", 1);
  kept_store *taken = snapshot(store, "");
  set(store, "a", 2);
  EXPECT(KEPT_OK, kept_set_string(store, "long", repeated('x', 100000), 100000, &why));
  /* The journal is too long, so a checkpoint replaces it within a second or two. */
  for (int i = 0; i < 60000 && is_there(file_of(location, "journal.0")); i++) let_pass(1000);
  CHECK(!is_there(file_of(location, "journal.0")));
  CHECK_INT(1, int_of(taken, "a"));
  CHECK_INT(1, count_of(taken, ""));
  kept_snapshot_end(taken);
}

/** Changes the byte behind a text in a file. */
static void flip_byte_behind(const char *path, const char *text) {
  size_t length = 0;
  char *bytes = read_file(path, &length), *place = memmem(bytes, length, text, strlen(text));
  CHECK(place != NULL);
  if (place != NULL) place[strlen(text)] ^= 1;
  write_file(path, bytes, length);
  free(bytes);
}

FOLDER_TEST(a_value_that_cannot_be_read_is_corrupt_and_not_absent) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_declare_json(store, "bad", "{\"type\":\"integer\",\"default\":9}", &why));
  set(store, "bad", 1);
  set(store, "good", 2);
  /* Long enough that the checkpoint has it, and in blocks of its own. */
  EXPECT(KEPT_OK, kept_set_string(store, "far", repeated('x', 10000), 10000, &why));
  kept_close(store);
  flip_byte_behind(file_of(location, "values"), "bad");
  store = open_at(location);
  kept_store *taken = snapshot(store, "");
  int64_t value = 0;
  bool there = false;
  EXPECT(KEPT_CORRUPT, kept_get_int64(taken, "bad", &value, &why));
  CHECK(strstr(why.message, "\"bad\"") != NULL);
  EXPECT(KEPT_CORRUPT, kept_contains(taken, "bad", &there, &why));
  CHECK_INT(2, int_of(taken, "good"));
  CHECK_INT(3, count_of(taken, ""));
  kept_snapshot_end(taken);
  kept_close(store);
  EXPECT(KEPT_SALVAGED, kept_open(location, NULL, &store, &why));
  CHECK_TEXT("absent", json_of(store, "bad"));
  CHECK_INT(2, int_of(store, "good"));
  kept_close(store);
}

/* Its end */

TEST(an_ended_snapshot_returns_closed) {
  kept_store *store = fresh_store();
  set(store, "a", 1);
  kept_store *taken = snapshot(store, ""), *other = snapshot(store, "");
  int64_t value = 0;
  kept_snapshot_end(taken);
  kept_snapshot_end(taken);
  EXPECT(KEPT_CLOSED, kept_get_int64(taken, "a", &value, &why));
  EXPECT(KEPT_CLOSED, kept_set_int64(taken, "a", 2, &why));
  EXPECT(KEPT_CLOSED, kept_list(taken, "", count_key, &value, &why));
  CHECK_INT(1, int_of(other, "a"));
  kept_close(other);
  EXPECT(KEPT_CLOSED, kept_get_int64(other, "a", &value, &why));
  CHECK_INT(1, int_of(store, "a"));
}

TEST(ending_NULL_or_another_handle_is_allowed) {
  kept_store *store = fresh_store(), *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  kept_snapshot_end(NULL);
  kept_snapshot_end(store);
  kept_snapshot_end(transaction);
  set(transaction, "a", 1);
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_INT(1, int_of(store, "a"));
}

/* Refusals */

TEST(a_snapshot_supports_nothing_but_reading) {
  kept_store *store = fresh_store(), *taken = snapshot(store, ""), *other = NULL;
  int descriptor = -1;
  EXPECT(KEPT_UNSUPPORTED, kept_set_int64(taken, "a", 1, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_remove(taken, "a", &why));
  EXPECT(KEPT_UNSUPPORTED, kept_reset(taken, "a", &why));
  EXPECT(KEPT_UNSUPPORTED, kept_remove_all(taken, "", NULL, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_begin(taken, NULL, &other, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_commit(taken, NULL, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_snapshot(taken, "", &other, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_declare_json(taken, "a", "{\"type\":\"integer\"}", &why));
  EXPECT(KEPT_UNSUPPORTED, kept_register_json(taken, "{}", &why));
  EXPECT(KEPT_UNSUPPORTED, kept_store_fd(taken, &descriptor, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_flush(taken, &why));
  CHECK(kept_store_generation(taken) == NULL);
  CHECK(kept_store_layers(taken) == NULL);
  kept_rollback(taken);
  CHECK(other == NULL);
  CHECK_UINT(0, store_revision(taken));
  kept_snapshot_end(taken);
}

TEST(bad_arguments_are_refused) {
  kept_store *store = fresh_store(), *taken = NULL;
  uint64_t found = 0;
  EXPECT(KEPT_INVALID, kept_snapshot(NULL, "", &taken, &why));
  EXPECT(KEPT_INVALID, kept_snapshot(store, NULL, &taken, &why));
  EXPECT(KEPT_INVALID, kept_snapshot(store, "", NULL, &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_snapshot(store, bad_text(i), &taken, &why));
  EXPECT(KEPT_INVALID, kept_store_revision(NULL, &found, &why));
  EXPECT(KEPT_INVALID, kept_store_revision(store, NULL, &why));
  CHECK(taken == NULL);
  taken = snapshot(store, "a.");
  bool there = false;
  for (size_t i = 0; bad_key(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_contains(taken, bad_key(i), &there, &why));
  EXPECT(KEPT_INVALID, kept_contains(taken, "b", &there, &why));
  kept_snapshot_end(taken);
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_snapshot(store, "", &taken, &why));
  EXPECT(KEPT_CLOSED, kept_store_revision(store, &found, &why));
}
