/* The files of the managed and the system layer: they are read again when they change, observers are notified, and a
 * malformed file is never used. */
#define _XOPEN_SOURCE 700
#include "recorder.h"
#include "reports.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static kept_options with(const char *managed, const char *system) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = managed;
  options.system = system;
  return options;
}

static uint64_t look(const uint64_t *word) { return word != NULL ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0; }

/** Waits until a word has changed; a failed check after ten seconds. */
static void await_move(const uint64_t *word, uint64_t from) {
  struct timespec moment = { 0, 1000000 };
  for (int i = 0; i < 10000 && look(word) == from; i++) nanosleep(&moment, NULL);
  CHECK(look(word) != from);
}

/** Puts a file in place and waits until the handle has read it. */
static void put_and_await(kept_store *store, const char *path, const char *text) {
  const uint64_t *word = kept_store_layers(store);
  uint64_t before = look(word);
  put_file(path, text);
  await_move(word, before);
}

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

/* Malformed files */

static kept_options reporting_to(kept_options options, reports *reports) {
  options.report = write_report;
  options.report_context = reports;
  return options;
}

static void a_broken_file_is_reported_and_the_last_good_state_stays(void) {
  static const char *const broken[] = {
    "",
    "{",
    "[]",
    "null",
    "{\"value\":{}}",
    "{\"values\":[]}",
    "{\"values\":{\"\":1}}",
    "{\"values\":{\"k\":null}}",
    "{\"locked\":\"k\"}",
    "{\"locked\":[1]}",
    "{\"lockedPrefixes\":{}}",
    "{\"values\":{\"k\":{\"$date\":\"today\"}}}",
    "{\"values\":{\"k\":1,\"k\":2}}",
    "{\"values\":{}} {}",
    "\xff",
  };
  const char *path = fresh_file("{\"values\":{\"k\":1}}");
  reports *reports = new_reports();
  kept_options options = reporting_to(with(path, NULL), reports);
  kept_store *store = open_with(fresh_location(), &options);
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    put_file(path, broken[i]);
    CHECK(strstr(report_text(reports, (int)i + 1), path) != NULL);
    CHECK(report_status(reports, (int)i + 1) == KEPT_INVALID);
    CHECK_TEXT("1", json_of(store, "k"));
    EXPECT(KEPT_LOCKED, kept_set_int64(store, "k", 2, &why));
  }
  char *json = NULL;
  EXPECT(KEPT_OK, kept_explain_json(store, "k", &json, &why));
  CHECK(json != NULL && strstr(json, "\"problem\"") != NULL);
  kept_free(json);
  put_and_await(store, path, "{\"values\":{\"k\":3}}");
  CHECK_TEXT("3", json_of(store, "k"));
}

static void a_system_file_cannot_lock(void) {
  reports *reports = new_reports();
  kept_options options = reporting_to(with(NULL, fresh_file("{\"locked\":[\"k\"],\"values\":{\"k\":1}}")), reports);
  kept_store *store = open_with(fresh_location(), &options);
  CHECK(strstr(report_text(reports, 1), "managed") != NULL);
  CHECK_TEXT("absent", json_of(store, "k"));
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 2, &why));
}

static void only_a_plain_file_that_others_cannot_write_is_read(void) {
  const char *good = fresh_file("{\"values\":{\"k\":1}}"), *bad[4];
  for (int i = 0; i < 4; i++) bad[i] = fresh_folder();
  CHECK_INT(0, mkdir(bad[0], 0755));
  CHECK_INT(0, mkfifo(bad[1], 0644));
  CHECK_INT(0, symlink(good, bad[2]));
  put_file(bad[3], "{\"values\":{\"k\":1}}");
  CHECK_INT(0, chmod(bad[3], 0666));
  for (int i = 0; i < 4; i++) {
    reports *reports = new_reports();
    kept_options options = reporting_to(with(NULL, bad[i]), reports);
    kept_store *store = open_with(fresh_location(), &options);
    CHECK(strstr(report_text(reports, 1), bad[i]) != NULL);
    CHECK_TEXT("absent", json_of(store, "k"));
    if (i > 0 && i < 3) CHECK_INT(0, unlink(bad[i]));
    if (i == 0) CHECK_INT(0, rmdir(bad[i]));
    put_and_await(store, bad[i], "{\"values\":{\"k\":2}}");
    CHECK_TEXT("2", json_of(store, "k"));
    CHECK_INT(1, reports_now(reports));
  }
}

static void a_file_that_is_replaced_constantly_is_never_read_in_part(void) {
  static char text[200000];
  const char *path = fresh_file("{\"values\":{\"a\":0,\"z\":0}}");
  reports *reports = new_reports();
  kept_options options = reporting_to(with(path, NULL), reports);
  kept_store *store = open_with(fresh_location(), &options);
  memset(text, 'x', sizeof text);
  for (int round = 1; round <= 30; round++) {
    text[snprintf(text, 64, "{\"values\":{\"a\":%d,\"fill\":\"", round)] = 'x';
    snprintf(text + sizeof text - 64, 64, "\",\"z\":%d}}", round);
    if (round < 30) put_file(path, text);
    else put_and_await(store, path, text);
  }
  for (int64_t a = 0; a < 30;) EXPECT(KEPT_OK, kept_get_int64(store, "a", &a, &why));
  CHECK_TEXT("30", json_of(store, "z"));
  CHECK_INT(0, reports_now(reports));
}

/* Lifetimes */

static void nothing_is_reported_or_delivered_after_closing(void) {
  const char *path = fresh_file("{\"values\":{\"k\":1}}");
  for (int round = 0; round < 20; round++) {
    reports *reports = new_reports();
    kept_options options = reporting_to(with(path, NULL), reports);
    kept_store *store = open_with(fresh_location(), &options);
    CHECK_INT(0, reports_now(reports));
    put_file(path, round % 2 ? "{\"values\":{\"k\":1}}" : "{");
    kept_close(store);
    int count = reports_now(reports);
    put_file(path, "{\"values\":{\"k\":1}}");
    EXPECT(KEPT_CLOSED, kept_set_int64(store, "k", 2, &why));
    CHECK_INT(count, reports_now(reports));
  }
}

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

static kept_store *to_be_closed;

static void close_the_store(void *context, const kept_error *error) {
  write_report(context, error);
  kept_close(__atomic_load_n(&to_be_closed, __ATOMIC_ACQUIRE));
}

static void a_report_may_close_the_store(void) {
  const char *path = fresh_file("{}");
  reports *reports = new_reports();
  kept_options options = reporting_to(with(path, NULL), reports);
  options.report = close_the_store;
  kept_store *store = open_with(fresh_location(), &options);
  __atomic_store_n(&to_be_closed, store, __ATOMIC_RELEASE);
  put_file(path, "{");
  CHECK(strstr(report_text(reports, 1), path) != NULL);
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_set_int64(store, "k", 2, &why));
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
    TEST(a_broken_file_is_reported_and_the_last_good_state_stays),
    TEST(a_system_file_cannot_lock),
    TEST(only_a_plain_file_that_others_cannot_write_is_read),
    TEST(a_file_that_is_replaced_constantly_is_never_read_in_part),
    TEST(nothing_is_reported_or_delivered_after_closing),
    TEST(an_ended_handle_returns_closed_rather_than_locked),
    TEST(a_report_may_close_the_store),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
