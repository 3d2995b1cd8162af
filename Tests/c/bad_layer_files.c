/* Malformed files of the managed and the system layer: they are reported, and never used. */
#define _XOPEN_SOURCE 700
#include "layer_changes.h"
#include "reports.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
  const char *bad[4];
  for (int i = 0; i < 4; i++) bad[i] = fresh_folder();
  CHECK_INT(0, mkdir(bad[0], 0755));
  CHECK_INT(0, mkfifo(bad[1], 0644));
  CHECK_INT(0, symlink("/none/layer.json", bad[2]));
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
    TEST(a_broken_file_is_reported_and_the_last_good_state_stays),
    TEST(a_system_file_cannot_lock),
    TEST(only_a_plain_file_that_others_cannot_write_is_read),
    TEST(a_file_that_is_replaced_constantly_is_never_read_in_part),
    TEST(nothing_is_reported_or_delivered_after_closing),
    TEST(a_report_may_close_the_store),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
