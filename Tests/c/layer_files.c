/* The files of the managed and the system layer: they are read again when they change, and observers are notified.
 * bad_layer_files.c has those that are malformed. */
#define _XOPEN_SOURCE 700
#include "layer_changes.h"
#include "recorder.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Changes */

static void a_file_that_appears_changes_or_is_removed_is_read_again(void) {
  const char *path = fresh_folder();
  kept_options options = with(NULL, path);
  kept_store *store = open_with(fresh_location(), &options);
  CHECK_TEXT("absent", json_of(store, "k"));
  put_and_await(store, path, "{\"values\":{\"k\":1}}");
  CHECK_TEXT("1", json_of(store, "k"));
  put_and_await(store, path, "{\"values\":{\"k\":2}}");
  CHECK_TEXT("2", json_of(store, "k"));
  const uint64_t *word = kept_store_layers(store);
  uint64_t before = look(word);
  CHECK_INT(0, unlink(path));
  await_move(word, before);
  CHECK_TEXT("absent", json_of(store, "k"));
}

static void a_file_whose_folder_appears_is_read(void) {
  const char *folder = fresh_folder(), *path = file_of(folder, "deep/managed.json");
  kept_options options = with(path, NULL);
  kept_store *store = open_with(fresh_location(), &options);
  CHECK_INT(0, mkdir(folder, 0755) | mkdir(file_of(folder, "deep"), 0755));
  put_and_await(store, path, "{\"values\":{\"k\":1}}");
  CHECK_TEXT("1", json_of(store, "k"));
}

static void observers_are_notified_of_a_changed_file(void) {
  const char *path = fresh_folder(), *location = fresh_location();
  kept_options options = with(path, NULL);
  kept_store *store = open_with(location, &options), *plain = open_at(location);
  recorder *recorder = new_recorder(), *other = new_recorder();
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
  record(recorder, store, "k", KEPT_OBSERVE_KEY);
  record(other, plain, "", KEPT_OBSERVE_PREFIX);
  put_file(path, "{\"values\":{\"k\":2,\"other\":2}}");
  CHECK_TEXT("L k:1>2;", recorded(recorder, 1));
  CHECK_UINT(KEPT_LAYER_MANAGED, recorder->layer);
  CHECK_UINT(1, recorder->revision);
  /* Hidden: the layered store delivers nothing, the plain one does. */
  EXPECT(KEPT_OK, kept_set_int64(plain, "k", 3, &why));
  CHECK_TEXT("S k:1>3;", recorded(other, 1));
  put_file(path, "{}");
  CHECK_TEXT("L k:1>2;L k:2>3;", recorded(recorder, 2));
  CHECK_UINT(KEPT_LAYER_USER, recorder->layer);
  EXPECT(KEPT_OK, kept_remove(store, "k", &why));
  CHECK_TEXT("S k:1>3;P k:3>-;", recorded(other, 2));
  CHECK_TEXT("L k:1>2;L k:2>3;S k:3>-;", recorded(recorder, 3));
  CHECK_UINT(KEPT_LAYER_NONE, recorder->layer);
}

static void a_new_deciding_layer_is_delivered_even_if_the_value_is_equal(void) {
  const char *path = fresh_folder();
  kept_options options = with(path, NULL);
  kept_store *store = open_with(fresh_location(), &options);
  recorder *recorder = new_recorder();
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
  record(recorder, store, "", KEPT_OBSERVE_PREFIX);
  put_file(path, "{\"values\":{\"k\":1}}");
  CHECK_TEXT("L k:1>1;", recorded(recorder, 1));
  CHECK_UINT(KEPT_LAYER_MANAGED, recorder->layer);
}

static void an_initial_notice_has_the_values_of_the_layers(void) {
  kept_options options = with(fresh_file("{\"values\":{\"a.k\":1}}"), fresh_file("{\"values\":{\"a.l\":2}}"));
  kept_store *store = open_with(fresh_location(), &options);
  recorder *recorder = new_recorder();
  EXPECT(KEPT_OK, kept_set_int64(store, "a.m", 3, &why));
  record(recorder, store, "a.", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL);
  CHECK_TEXT("I a.k:->1 a.l:->2 a.m:->3;", recorded(recorder, 1));
}

static void registered_defaults_are_delivered(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  record(recorder, store, "k", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_register_json(store, "{\"k\":1,\"l\":1}", &why));
  CHECK_TEXT("L k:->1;", recorded(recorder, 1));
  CHECK_UINT(KEPT_LAYER_REGISTERED, recorder->layer);
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 2, &why));
  CHECK_TEXT("L k:->1;S k:1>2;", recorded(recorder, 2));
  EXPECT(KEPT_OK, kept_remove(store, "k", &why));
  CHECK_TEXT("L k:->1;S k:1>2;S k:2>1;", recorded(recorder, 3));
}

/** No commit follows that would deliver a missed change. */
static void a_change_of_layers_right_after_subscribing_is_delivered(void) {
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

static void each_handle_watches_its_own_files(void) {
  const char *one = fresh_folder(), *two = fresh_folder(), *location = fresh_location();
  kept_options first = with(one, NULL), second = with(two, NULL);
  kept_store *store = open_with(location, &first), *other = open_with(location, &second);
  recorder *recorder = new_recorder(), *others = new_recorder();
  record(recorder, store, "", KEPT_OBSERVE_PREFIX);
  record(others, other, "", KEPT_OBSERVE_PREFIX);
  put_file(one, "{\"values\":{\"k\":1}}");
  CHECK_TEXT("L k:->1;", recorded(recorder, 1));
  put_file(two, "{\"values\":{\"k\":2}}");
  CHECK_TEXT("L k:->2;", recorded(others, 1));
  CHECK_TEXT("1", json_of(store, "k"));
  CHECK_TEXT("2", json_of(other, "k"));
  CHECK_INT(1, recorder->notices);
}

/** Waits until a descriptor is readable; a failed check after ten seconds. */
static void await_descriptor(int fd) {
  struct pollfd news = { fd, POLLIN, 0 };
  CHECK_INT(1, poll(&news, 1, 10000));
}

static void the_host_receives_a_changed_file_on_its_own_thread(void) {
  const char *path = fresh_folder();
  kept_options options = with(path, NULL);
  recorder *recorder = new_recorder();
  int fd = -1;
  options.delivery = KEPT_BY_HOST;
  kept_store *store = open_with(fresh_location(), &options);
  record(recorder, store, "k", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_store_fd(store, &fd, &why));
  put_file(path, "{\"values\":{\"k\":1}}");
  await_descriptor(fd);
  CHECK_INT(0, recorder->notices);
  EXPECT(KEPT_OK, kept_store_dispatch(store, 0, NULL, &why));
  CHECK_TEXT("L k:->1;", recorded(recorder, 1));
  CHECK(pthread_equal(pthread_self(), recorder->thread));
}

static void a_polled_subscription_is_notified_of_a_changed_file(void) {
  const char *path = fresh_folder();
  kept_options options = with(NULL, path);
  recorder *recorder = new_recorder();
  int fd = -1;
  kept_store *store = open_with(fresh_location(), &options);
  record(recorder, store, "k", KEPT_OBSERVE_KEY | KEPT_OBSERVE_POLLED);
  EXPECT(KEPT_OK, kept_subscription_fd(recorder->subscription, &fd, &why));
  put_file(path, "{\"values\":{\"k\":1}}");
  await_descriptor(fd);
  EXPECT(KEPT_OK, kept_subscription_dispatch(recorder->subscription, 0, NULL, &why));
  CHECK_TEXT("L k:->1;", recorded(recorder, 1));
  CHECK_UINT(KEPT_LAYER_SYSTEM, recorder->layer);
}

/* The count of layers */

static void only_a_handle_whose_layers_can_change_has_a_count(void) {
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
static void the_count_moves_with_every_change_and_only_with_a_change(void) {
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

static void an_ended_handle_returns_closed_rather_than_locked(void) {
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

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(a_file_that_appears_changes_or_is_removed_is_read_again),
    TEST(a_file_whose_folder_appears_is_read),
    TEST(observers_are_notified_of_a_changed_file),
    TEST(a_new_deciding_layer_is_delivered_even_if_the_value_is_equal),
    TEST(an_initial_notice_has_the_values_of_the_layers),
    TEST(registered_defaults_are_delivered),
    TEST(a_change_of_layers_right_after_subscribing_is_delivered),
    TEST(each_handle_watches_its_own_files),
    TEST(the_host_receives_a_changed_file_on_its_own_thread),
    TEST(a_polled_subscription_is_notified_of_a_changed_file),
    TEST(only_a_handle_whose_layers_can_change_has_a_count),
    TEST(the_count_moves_with_every_change_and_only_with_a_change),
    TEST(an_ended_handle_returns_closed_rather_than_locked),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
