/* Forking with layer files: the child reads them again when they change and notifies its observers, although the thread
 * that watches them is the parent's. */
#include "clock.h"
#include "recorder.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static kept_store *store_with(const char *managed) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = managed;
  return open_with(fresh_location(), &options);
}

/** Reads, from memory if possible, until the key has a value; false after ten seconds. */
static bool comes_to_read(kept_store *store, int64_t expected) {
  for (int i = 0; i < 2000; i++) {
    int64_t value = 0;
    if (kept_get_int64(store, "k", &value, NULL) == KEPT_OK && value == expected) return true;
    let_pass(5000);
  }
  return false;
}

TEST(parent_and_child_read_changed_files) {
  const char *path = fresh_file("{\"values\":{\"k\":1}}");
  kept_store *store = store_with(path);
  for (int i = 0; i < 3; i++) CHECK(comes_to_read(store, 1));
  int has_read[2], go_on[2];
  char byte = 0;
  CHECK_INT(0, pipe(has_read) | pipe(go_on));
  pid_t child = fork();
  if (child == 0) {
    bool was_read = comes_to_read(store, 1);
    was_read = write(has_read[1], &byte, 1) == 1 && read(go_on[0], &byte, 1) == 1 && was_read;
    _exit(!was_read || !comes_to_read(store, 2));
  }
  CHECK_INT(1, read(has_read[0], &byte, 1));
  put_file(path, "{\"values\":{\"k\":2}}");
  CHECK(comes_to_read(store, 2));
  CHECK_INT(1, write(go_on[1], &byte, 1));
  CHECK_INT(0, end_of(child));
  close(go_on[0]), close(go_on[1]), close(has_read[0]), close(has_read[1]);
}

TEST(an_observer_in_the_child_is_notified_of_a_changed_file) {
  const char *path = fresh_file("{}");
  kept_store *store = store_with(path);
  pid_t child = fork();
  if (child == 0) {
    recorder *recorder = new_recorder();
    record(recorder, store, "k", KEPT_OBSERVE_KEY);
    put_file(path, "{\"values\":{\"k\":1}}");
    _exit(strcmp("L k:->1;", recorded(recorder, 1)) != 0);
  }
  CHECK_INT(0, end_of(child));
}

TEST(a_child_that_closes_does_not_stop_the_parent_s_watching) {
  const char *path = fresh_file("{}");
  kept_store *store = store_with(path);
  pid_t child = fork();
  if (child == 0) {
    kept_close(store);
    _exit(kept_set_bool(store, "k", true, NULL) != KEPT_CLOSED);
  }
  CHECK_INT(0, end_of(child));
  put_file(path, "{\"values\":{\"k\":1}}");
  CHECK(comes_to_read(store, 1));
}

static kept_status locked_as_explained(kept_store *store) {
  char *json = NULL;
  if (kept_explain_json(store, "k", &json, NULL) != KEPT_OK) return KEPT_FAILED;
  bool is_locked = strstr(json, "\"locked\":true") != NULL;
  kept_free(json);
  return is_locked ? KEPT_LOCKED : KEPT_OK;
}

/** The result for a key that was locked after the fork, in a child that writes before it reads. */
static int locks_are_missing(kept_store *store, int kind) {
  kept_store *transaction = NULL;
  int64_t value = 0;
  kept_status status = KEPT_OK;
  if (kind == 0) status = kept_set_int64(store, "k", 2, NULL);
  if (kind == 1) status = kept_remove(store, "k", NULL);
  if (kind == 2) status = kept_get_int64(store, "k", &value, NULL) == KEPT_OK && value == 30 ? KEPT_LOCKED : KEPT_OK;
  if (kind == 7) status = locked_as_explained(store);
  if (kind == 8 && kept_snapshot(store, "", &transaction, NULL) == KEPT_OK) {
    status = kept_get_int64(transaction, "k", &value, NULL) == KEPT_OK && value == 30 ? KEPT_LOCKED : KEPT_OK;
    kept_snapshot_end(transaction);
  }
  if (kind > 2 && kind < 6 && kept_begin(store, NULL, &transaction, NULL) != KEPT_OK) return 1;
  if (kind == 3) status = kept_set_int64(transaction, "k", 3, NULL);
  if (kind == 4) status = kept_remove_all(transaction, "", NULL, NULL);
  if (kind == 5) status = kept_rename(transaction, "k", "free", NULL);
  if (kind > 2 && kind < 6) kept_rollback(transaction);
  if (kind == 6)
    status = kept_import(store, "{\"k\":3}", 7,
      &(kept_transfer_options){ sizeof(kept_transfer_options), KEPT_TRANSFER_FLAT, NULL, NULL, NULL, NULL, NULL }, NULL,
      NULL);
  if (status != KEPT_LOCKED) printf("kind %d: %s\n", kind, kept_status_text(status)), fflush(stdout);
  return status != KEPT_LOCKED;
}

TEST(a_child_that_only_writes_obeys_the_current_locks) {
  for (int kind = 0; kind < 9; kind++) {
    const char *path = fresh_file("{\"values\":{}}");
    kept_store *store = store_with(path);
    int go_on[2];
    char byte = 0;
    EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
    for (int i = 0; i < 3; i++) CHECK(comes_to_read(store, 1));
    CHECK_INT(0, pipe(go_on));
    pid_t child = fork();
    if (child == 0) _exit(read(go_on[0], &byte, 1) != 1 || locks_are_missing(store, kind));
    put_file(path, "{\"values\":{\"k\":30},\"locked\":[\"k\"]}");
    CHECK_INT(1, write(go_on[1], &byte, 1));
    CHECK_INT(0, end_of(child));
    close(go_on[0]), close(go_on[1]);
  }
}
