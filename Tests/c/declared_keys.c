/* Keys that are declared: what they refuse, how they read, in layers too, and that secrets stay hidden. */
#define _XOPEN_SOURCE 700
#include "declaring.h"
#include "recorder.h"
#include "reports.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Declarations are enforced */

static void a_declared_key_refuses_other_types_and_values_out_of_bounds(void) {
  kept_store *store = fresh_store();
  declare(store, "volume", volume);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 70, &why));
  EXPECT(KEPT_INVALID, kept_set_int64(store, "volume", 101, &why));
  CHECK(says("\"volume\"") && says("101") && says("maximum 100"));
  CHECK_INT(-1, why.offset);
  EXPECT(KEPT_INVALID, kept_set_int64(store, "volume", -1, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_set_string(store, "volume", "loud", 4, &why));
  CHECK(says("\"volume\"") && says("integer"));
  EXPECT(KEPT_WRONG_TYPE, kept_set_bool(store, "volume", true, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_set_double(store, "volume", 0.5, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_set_double(store, "volume", NAN, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_set_date(store, "volume", 1, 1, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_set_bytes(store, "volume", "1", 1, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_set_json(store, "volume", "[1]", &why));
  EXPECT(KEPT_INVALID, kept_set_uint64(store, "volume", UINT64_MAX, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(store, "volume", "200", 2, NULL, &why));
  CHECK_TEXT("70", json_of(store, "volume"));
}

static void numbers_are_stored_in_the_form_of_their_type(void) {
  kept_store *store = fresh_store();
  declare(store, "integer", "{\"type\":\"integer\"}");
  declare(store, "number", "{\"type\":\"number\"}");
  EXPECT(KEPT_OK, kept_set_double(store, "integer", 3.0, &why));
  CHECK_TEXT("3", json_of(store, "integer"));
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  CHECK_TEXT("1.0", json_of(store, "number"));
  uint64_t revision = 0, again = 0;
  EXPECT(KEPT_OK, kept_revision_of(store, "number", &revision, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  EXPECT(KEPT_OK, kept_revision_of(store, "number", &again, &why));
  CHECK_UINT(revision, again);
}

static void every_getter_gives_the_default(void) {
  kept_store *store = fresh_store();
  bool flag = false, found = true;
  int64_t number = 0, seconds = 0;
  uint64_t natural = 0, revision = 0;
  int32_t nanoseconds = -1;
  double real = 0;
  char text[8], bytes[8];
  size_t length = 0;
  declare(store, "b", "{\"type\":\"boolean\",\"default\":true}");
  declare(store, "i", "{\"type\":\"integer\",\"default\":-5}");
  declare(store, "u", "{\"type\":\"integer\",\"default\":{\"$numberULong\":\"18446744073709551615\"}}");
  declare(store, "d", "{\"type\":\"number\",\"default\":1}");
  declare(store, "s", "{\"type\":\"string\",\"default\":\"dark\"}");
  declare(store, "y", "{\"type\":\"bytes\",\"default\":{\"$binary\":{\"base64\":\"AAEC\",\"subType\":\"00\"}}}");
  declare(store, "t", "{\"type\":\"date\",\"default\":{\"$date\":\"1970-01-01T00:00:05Z\"}}");
  for (int i = 0; i < 2; i++) { /* from the store, and then from memory */
    EXPECT(KEPT_OK, kept_get_bool(store, "b", &flag, &why));
    EXPECT(KEPT_OK, kept_get_int64(store, "i", &number, &why));
    EXPECT(KEPT_OK, kept_get_uint64(store, "u", &natural, &why));
    EXPECT(KEPT_OK, kept_get_double(store, "d", &real, &why));
    EXPECT(KEPT_OK, kept_get_string(store, "s", text, sizeof text, &length, &why));
    EXPECT(KEPT_OK, kept_get_bytes(store, "y", bytes, sizeof bytes, &length, &why));
    EXPECT(KEPT_OK, kept_get_date(store, "t", &seconds, &nanoseconds, &why));
  }
  CHECK(flag && number == -5 && natural == UINT64_MAX && real == 1);
  CHECK_TEXT("dark", text);
  CHECK(length == 3 && memcmp(bytes, "\0\1\2", 3) == 0);
  CHECK(seconds == 5 && nanoseconds == 0);
  EXPECT(KEPT_WRONG_TYPE, kept_get_bool(store, "i", &flag, &why));
  EXPECT(KEPT_OK, kept_contains(store, "b", &found, &why));
  CHECK(!found);
  EXPECT(KEPT_ABSENT, kept_revision_of(store, "b", &revision, &why));
  EXPECT(KEPT_ABSENT, kept_remove(store, "b", &why));
}

static void prepared_keys_give_the_default(void) {
  kept_store *store = fresh_store();
  const kept_key *key = NULL, *name = NULL;
  int64_t number = 0;
  char text[8];
  declare(store, "declared.volume", volume);
  declare(store, "declared.name", "{\"type\":\"string\",\"default\":\"me\"}");
  EXPECT(KEPT_OK, kept_key_prepare("declared.volume", &key, &why));
  EXPECT(KEPT_OK, kept_key_prepare("declared.name", &name, &why));
  for (int i = 0; i < 3; i++) {
    EXPECT(KEPT_OK, kept_key_get_int64(store, key, &number, &why));
    CHECK_INT(50, number);
    EXPECT(KEPT_OK, kept_key_get_string(store, name, text, sizeof text, NULL, &why));
    CHECK_TEXT("me", text);
  }
  EXPECT(KEPT_OK, kept_set_int64(store, "declared.volume", 60, &why));
  EXPECT(KEPT_OK, kept_key_get_int64(store, key, &number, &why));
  CHECK_INT(60, number);
  EXPECT(KEPT_OK, kept_undeclare(store, "declared.name", &why));
  EXPECT(KEPT_ABSENT, kept_key_get_string(store, name, text, sizeof text, NULL, &why));
}

/* Layers and declarations */

static void a_layer_that_does_not_fit_is_skipped_and_reported_once(void) {
  static const char *const argv[] = { "player", "-k", "loud" };
  const char *location = fresh_location();
  kept_store *plain = open_at(location);
  kept_options options = KEPT_OPTIONS_INIT;
  reports *reports = new_reports();
  int64_t number = 0;
  options.argv = argv, options.argc = 3;
  options.managed = fresh_file("{\"lockedPrefixes\":[\"locked.\"]}");
  options.system = fresh_file("{\"values\":{\"k\":500,\"locked.k\":\"loud\"}}");
  options.report = write_report, options.report_context = reports;
  declare(plain, "k", volume);
  declare(plain, "locked.k", volume);
  kept_store *store = open_with(location, &options);
  for (int i = 0; i < 3; i++) {
    EXPECT(KEPT_OK, kept_get_int64(store, "k", &number, &why));
    CHECK_INT(50, number);
    EXPECT(KEPT_OK, kept_get_int64(store, "locked.k", &number, &why));
    CHECK_INT(50, number);
  }
  CHECK_INT(3, reports_now(reports));
  CHECK_INT(KEPT_WRONG_TYPE, report_status(reports, 1));
  CHECK(strstr(report_text(reports, 1), "\"k\"") != NULL && strstr(report_text(reports, 1), "arguments") != NULL);
  CHECK_INT(KEPT_INVALID, report_status(reports, 2));
  CHECK(strstr(report_text(reports, 2), "system") != NULL && strstr(report_text(reports, 2), "500") != NULL);
  CHECK_INT(KEPT_WRONG_TYPE, report_status(reports, 3));
  /* A value that is skipped hides nothing. */
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 60, &why));
  CHECK_TEXT("60", json_of(store, "k"));
}

static void text_is_read_as_the_declared_type(void) {
  static const char *const argv[] = { "player", "-s", "5", "-n", "5", "-i", "5", "-b", "YES" };
  kept_options options = KEPT_OPTIONS_INIT;
  options.argv = argv, options.argc = 9;
  kept_store *store = open_with(fresh_location(), &options);
  declare(store, "s", "{\"type\":\"string\"}");
  declare(store, "n", "{\"type\":\"number\"}");
  declare(store, "i", "{\"type\":\"integer\"}");
  declare(store, "b", "{\"type\":\"boolean\"}");
  CHECK_TEXT("\"5\"", json_of(store, "s"));
  CHECK_TEXT("5.0", json_of(store, "n"));
  CHECK_TEXT("5", json_of(store, "i"));
  CHECK_TEXT("true", json_of(store, "b"));
  int64_t number = 0;
  EXPECT(KEPT_WRONG_TYPE, kept_get_int64(store, "s", &number, &why));
}

/* Secrets */

static void expect_no_secret(const char *text) { CHECK(strstr(text, "hunter") == NULL); }

static void a_secret_is_in_no_error_report_or_explanation(void) {
  static const char *const argv[] = { "player", "-password", "hunter3hunter3" };
  kept_options options = KEPT_OPTIONS_INIT;
  reports *reports = new_reports();
  char *json = NULL;
  bool flag;
  options.argv = argv, options.argc = 3;
  options.system = fresh_file("{\"values\":{\"password\":\"hunter4hunter4\"}}");
  options.report = write_report, options.report_context = reports;
  kept_store *store = open_with(fresh_location(), &options), *transaction = NULL;
  EXPECT(KEPT_SHADOWED, kept_set_string(store, "password", "hunter22hunter22", 16, &why));
  expect_no_secret(why.message);
  EXPECT(KEPT_MISFIT,
    kept_declare_json(store, "password",
      "{\"type\":\"string\",\"maxLength\":8,\"secret\":true,"
      "\"pattern\":\"^h\",\"default\":\"hunter1\"}",
      &why));
  expect_no_secret(why.message);
  EXPECT(KEPT_INVALID, kept_set_string(store, "password", "hunter2hunter2", 14, &why));
  expect_no_secret(why.message);
  EXPECT(KEPT_WRONG_TYPE, kept_set_json(store, "password", "[\"hunter2\"]", &why));
  expect_no_secret(why.message);
  EXPECT(KEPT_WRONG_TYPE, kept_get_bool(store, "password", &flag, &why));
  expect_no_secret(why.message);
  EXPECT(KEPT_INVALID, kept_set_json(store, "password", "\"hunter2\" \"hunter2\"", &why));
  expect_no_secret(why.message);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_INVALID, kept_set_string(transaction, "password", "hunter2hunter2", 14, &why));
  expect_no_secret(why.message);
  kept_rollback(transaction);
  CHECK_TEXT("\"hunter1\"", json_of(store, "password"));
  EXPECT(KEPT_OK, kept_explain_json(store, "password", &json, &why));
  expect_no_secret(json != NULL ? json : "hunter");
  CHECK(json != NULL && strstr(json, "\"secret\":true") != NULL);
  kept_free(json);
  CHECK_INT(3, reports_now(reports));
  for (int i = 1; i <= reports_now(reports); i++) expect_no_secret(report_text(reports, i));
  EXPECT(KEPT_INVALID,
    kept_declare_json(store, "password",
      "{\"type\":\"string\",\"secret\":true,\"maxLength\":2,"
      "\"default\":\"hunter2\"}",
      &why));
  expect_no_secret(why.message);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(a_declared_key_refuses_other_types_and_values_out_of_bounds),
    TEST(numbers_are_stored_in_the_form_of_their_type),
    TEST(every_getter_gives_the_default),
    TEST(prepared_keys_give_the_default),
    TEST(a_layer_that_does_not_fit_is_skipped_and_reported_once),
    TEST(text_is_read_as_the_declared_type),
    TEST(a_secret_is_in_no_error_report_or_explanation),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
