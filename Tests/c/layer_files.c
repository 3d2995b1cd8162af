/* The files of the managed and the system layer: they are read again when they change, and observers are notified.
 * bad_layer_files.c has those that are malformed. */
#include "clock.h"
#include "layer_changes.h"
#include "polling.h"
#include "recorder.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** No commit follows that would deliver a missed change. */
TEST(a_change_of_layers_right_after_subscribing_is_delivered) {
  kept_store *store = fresh_store();
  char json[32];
  for (int round = 1; round <= 50; round++) {
    recorder *recorder = new_recorder();
    record(recorder, store, "k", KEPT_OBSERVE_KEY);
    snprintf(json, sizeof json, "{\"k\":%d}", round);
    EXPECT(KEPT_OK, kept_register_json(store, json, &why));
    (void)recorded(recorder, 1);
    kept_unobserve(recorder->subscription);
    if (recorder->notices < 1) break;
  }
}

TEST(the_host_receives_a_changed_file_on_its_own_thread) {
  const char *path = fresh_folder();
  kept_options options = with(path, NULL);
  recorder *recorder = new_recorder();
  int fd = -1;
  options.delivery = KEPT_BY_HOST;
  kept_store *store = open_with(fresh_location(), &options);
  record(recorder, store, "k", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_store_fd(store, &fd, &why));
  put_file(path, "{\"values\":{\"k\":1}}");
  CHECK_READABLE(fd);
  CHECK_INT(0, recorder->notices);
  EXPECT(KEPT_OK, kept_store_dispatch(store, 0, NULL, &why));
  CHECK_TEXT("L k:->1;", recorded(recorder, 1));
  CHECK(pthread_equal(pthread_self(), recorder->thread));
}

TEST(a_polled_subscription_is_notified_of_a_changed_file) {
  const char *path = fresh_folder();
  kept_options options = with(NULL, path);
  recorder *recorder = new_recorder();
  int fd = -1;
  kept_store *store = open_with(fresh_location(), &options);
  record(recorder, store, "k", KEPT_OBSERVE_KEY | KEPT_OBSERVE_POLLED);
  EXPECT(KEPT_OK, kept_subscription_fd(recorder->subscription, &fd, &why));
  put_file(path, "{\"values\":{\"k\":1}}");
  CHECK_READABLE(fd);
  EXPECT(KEPT_OK, kept_subscription_dispatch(recorder->subscription, 0, NULL, &why));
  CHECK_TEXT("L k:->1;", recorded(recorder, 1));
  CHECK_UINT(KEPT_LAYER_SYSTEM, recorder->layer);
}

static bool has_inotify(void) {
  char link[32], target[32] = "";
  for (int fd = 0; fd < 64 && strcmp(target, "anon_inode:inotify") != 0; fd++) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = 0;
  }
  return strcmp(target, "anon_inode:inotify") == 0;
}

ROLE(read_a_changed_file, path) {
  int64_t begin = now_ns();
  kept_options options = with(path, NULL);
  put_and_await(open_with(fresh_location(), &options), path, "{\"values\":{\"k\":1}}");
  /* On a busy machine its first second may be over. */
  CHECK(!has_inotify() || now_ns() - begin >= 1000000000);
}

/** It would wait for the kernel to close it. */
TEST(a_program_that_ends_soon_has_no_inotify) { play_child("read_a_changed_file", fresh_file("{}")); }

/* The count of layers */

TEST(only_a_handle_whose_layers_can_change_has_a_count) {
  static const char *const argv[] = { "player", "-a", "1" };
  kept_options options = KEPT_OPTIONS_INIT;
  options.argv = argv, options.argc = 3;
  kept_store *store = open_with(fresh_location(), &options), *transaction = NULL;
  CHECK(kept_store_layers(NULL) == NULL);
  CHECK(kept_store_layers(store) == NULL);
  EXPECT(KEPT_OK, kept_register_json(store, "{\"a\":1}", &why));
  const uint64_t *word = kept_store_layers(store);
  CHECK(word != NULL);
  uint64_t before = look(word);
  EXPECT(KEPT_OK, kept_register_json(store, "{\"a\":2}", &why));
  CHECK(look(word) != before);
  EXPECT(KEPT_OK, kept_register_json(store, "{\"a\":null}", &why));
  CHECK(kept_store_layers(store) == word);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  CHECK(kept_store_layers(transaction) == NULL);
  kept_rollback(transaction);
  kept_close(store);
  (void)look(word);
}

/** What a cache on top of the API does: a value is current while neither word has changed. */
TEST(the_count_moves_with_every_change_and_only_with_a_change) {
  const char *path = fresh_file("{\"values\":{\"k\":0}}");
  kept_options options = with(path, NULL);
  kept_store *store = open_with(fresh_location(), &options);
  const uint64_t *word = kept_store_layers(store);
  int64_t value = -1;
  char text[64];
  for (int round = 1; round <= 10; round++) {
    snprintf(text, sizeof text, "{\"values\":{\"k\":%d}}", round);
    put_and_await(store, path, text);
    uint64_t before = look(word);
    EXPECT(KEPT_OK, kept_get_int64(store, "k", &value, &why));
    CHECK_INT(round, value);
    EXPECT(KEPT_OK, kept_set_int64(store, "other", round, &why));
    CHECK_UINT(before, look(word));
  }
}

/* Closing */

TEST(an_ended_handle_returns_closed_rather_than_locked) {
  kept_options options = with(fresh_file("{\"locked\":[\"k\"]}"), NULL);
  kept_store *store = open_with(fresh_location(), &options), *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  kept_rollback(transaction);
  EXPECT(KEPT_CLOSED, kept_set_int64(transaction, "k", 2, &why));
  EXPECT(KEPT_CLOSED, kept_remove(transaction, "k", &why));
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_set_int64(store, "k", 2, &why));
  EXPECT(KEPT_CLOSED, kept_remove(store, "k", &why));
}
