/* Malformed files of the managed and the system layer: they are reported, and never used. */
#include "layer_changes.h"
#include "reports.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static kept_options reporting_to(kept_options options, reports *reports) {
  options.report = write_report;
  options.report_context = reports;
  return options;
}

TEST(a_broken_file_is_named_and_its_locks_stay) {
  const char *path = fresh_file("{\"values\":{\"k\":1}}");
  reports *reports = new_reports();
  kept_options options = reporting_to(with(path, NULL), reports);
  kept_store *store = open_with(fresh_location(), &options);
  put_file(path, "{");
  CHECK(strstr(report_text(reports, 1), path) != NULL);
  EXPECT(KEPT_LOCKED, kept_set_int64(store, "k", 2, &why));
  char *json = NULL;
  EXPECT(KEPT_OK, kept_explain_json(store, "k", &json, &why));
  CHECK(json != NULL && strstr(json, "\"problem\"") != NULL);
  kept_free(json);
}

TEST(a_file_that_is_replaced_constantly_is_never_read_in_part) {
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

TEST(nothing_is_reported_or_delivered_after_closing) {
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

TEST(a_report_may_close_the_store) {
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
