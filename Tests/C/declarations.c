/* Declarations: what a key may hold is enforced in every handle and process, inside and outside transactions. */
#define _XOPEN_SOURCE 700
#include "recorder.h"
#include "reports.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char volume[] =
    "{\"type\":\"integer\",\"minimum\":0,\"maximum\":100,\"default\":50,\"summary\":\"How loud it is.\"}";

static void declare(kept_store *store, const char *key, const char *schema) {
  EXPECT(KEPT_OK, kept_declare_json(store, key, schema, &why));
}

static const char *declared(kept_store *store, const char *key) {
  static char text[4096];
  char *schema = NULL;
  kept_status status = kept_declaration_json(store, key, &schema, NULL);
  snprintf(text, sizeof text, "%s", schema != NULL ? schema : kept_status_text(status));
  kept_free(schema);
  return text;
}

static const char *all_declared(kept_store *store, const char *prefix) {
  static char text[4096];
  char *schema = NULL;
  EXPECT(KEPT_OK, kept_declarations_json(store, prefix, &schema, &why));
  snprintf(text, sizeof text, "%s", schema != NULL ? schema : "-");
  kept_free(schema);
  return text;
}

static bool says(const char *words) { return strstr(why.message, words) != NULL; }

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
  for (int i = 0; i < 2; i++) {   /* from the store, and then from memory */
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

/* Declaring, declaring again, and undeclaring */

static void a_declaration_is_returned_as_canonical_text(void) {
  kept_store *store = fresh_store();
  declare(store, "k", " { \"type\" : \"number\", \"default\" : 1, \"secret\" : false, \"$comment\" : \"x\" } ");
  CHECK_TEXT("{\"default\":1.0,\"type\":\"number\"}", declared(store, "k"));
  CHECK_TEXT("absent", declared(store, "other"));
  CHECK_TEXT("{\"properties\":{\"k\":{\"default\":1.0,\"type\":\"number\"}},\"type\":\"object\"}",
             all_declared(store, ""));
  CHECK_TEXT("{\"properties\":{},\"type\":\"object\"}", all_declared(store, "other"));
}

static void a_declaration_is_undeclared_once(void) {
  kept_store *store = fresh_store();
  declare(store, "k", volume);
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
  EXPECT(KEPT_OK, kept_undeclare(store, "k", &why));
  EXPECT(KEPT_ABSENT, kept_undeclare(store, "k", &why));
  CHECK(says("\"k\""));
  CHECK_TEXT("1", json_of(store, "k"));
  EXPECT(KEPT_OK, kept_set_string(store, "k", "loud", 4, &why));
}

static uint64_t revision_now(kept_store *store) {
  kept_store *transaction = NULL;
  uint64_t revision = 0;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  (void)json_of(transaction, "k");
  EXPECT(KEPT_OK, kept_commit(transaction, &revision, &why));
  return revision;
}

static void the_last_declaration_counts(void) {
  kept_store *store = fresh_store();
  declare(store, "k", volume);
  uint64_t revision = revision_now(store);
  declare(store, "k", volume);
  CHECK_UINT(revision, revision_now(store));
  declare(store, "k", "{\"type\":\"integer\",\"maximum\":1000,\"default\":7}");
  CHECK_UINT(revision + 1, revision_now(store));
  CHECK_TEXT("7", json_of(store, "k"));
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 500, &why));
  EXPECT(KEPT_MISFIT, kept_declare_json(store, "k", volume, &why));
  CHECK(says("\"k\"") && says("500") && says("100"));
  CHECK_TEXT("50", json_of(store, "k"));
  bool found = false;
  EXPECT(KEPT_OK, kept_contains(store, "k", &found, &why));
  declare(store, "k", "{\"type\":\"integer\"}");
  CHECK_TEXT("500", json_of(store, "k"));
}

static void another_type_is_a_conflict_until_it_is_undeclared(void) {
  kept_store *store = fresh_store();
  declare(store, "k", volume);
  EXPECT(KEPT_TYPE_CONFLICT, kept_declare_json(store, "k", "{\"type\":\"string\"}", &why));
  CHECK(says("\"k\"") && says("integer") && says("string"));
  EXPECT(KEPT_TYPE_CONFLICT, kept_declare_json(store, "k", "{\"type\":\"number\"}", &why));
  CHECK(strstr(declared(store, "k"), "integer") != NULL);
  EXPECT(KEPT_OK, kept_undeclare(store, "k", &why));
  declare(store, "k", "{\"type\":\"string\"}");
}

static void a_stored_value_that_does_not_fit_reads_as_absent(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_string(store, "k", "loud", 4, &why));
  EXPECT(KEPT_MISFIT, kept_declare_json(store, "k", "{\"type\":\"integer\"}", &why));
  CHECK_INT(KEPT_MISFIT, why.status);
  CHECK_TEXT("absent", json_of(store, "k"));
  EXPECT(KEPT_OK, kept_undeclare(store, "k", &why));
  CHECK_TEXT("\"loud\"", json_of(store, "k"));
}

/* Declaring many keys at once */

static const char settings[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Player\",\"type\":\"object\","
    "\"properties\":{\"volume\":{\"type\":\"integer\",\"default\":50},\"theme\":{\"type\":\"string\"}}}";

static void a_list_declares_all_or_none(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_declare_list(store, settings, &why));
  uint64_t revision = revision_now(store);
  EXPECT(KEPT_OK, kept_declare_list(store, settings, &why));
  CHECK_UINT(revision, revision_now(store));
  CHECK_TEXT("50", json_of(store, "volume"));
  EXPECT(KEPT_TYPE_CONFLICT, kept_declare_list(store, "{\"properties\":{\"a\":{\"type\":\"string\"},"
                                               "\"volume\":{\"type\":\"string\"}}}", &why));
  CHECK(says("\"volume\""));
  CHECK_TEXT("absent", declared(store, "a"));
  EXPECT(KEPT_OK, kept_set_string(store, "theme", "dark", 4, &why));
  EXPECT(KEPT_MISFIT, kept_declare_list(store, "{\"properties\":{\"theme\":{\"type\":\"string\",\"maxLength\":1}}}",
                                        &why));
  CHECK(says("\"theme\""));
  /* The JSON that is returned can be declared in another store. */
  kept_store *other = fresh_store();
  EXPECT(KEPT_OK, kept_declare_list(other, all_declared(store, ""), &why));
  CHECK_TEXT("50", json_of(other, "volume"));
}

static void a_file_declares_a_list(void) {
  kept_store *store = fresh_store();
  const char *missing = fresh_folder(), *folder = fresh_folder(), *fifo = fresh_folder();
  EXPECT(KEPT_OK, kept_declare_file(store, fresh_file(settings), &why));
  CHECK_TEXT("50", json_of(store, "volume"));
  EXPECT(KEPT_UNAVAILABLE, kept_declare_file(store, missing, &why));
  CHECK(says(missing));
  CHECK_INT(0, mkdir(folder, 0755) | mkfifo(fifo, 0644));
  EXPECT(KEPT_INVALID, kept_declare_file(store, folder, &why));
  EXPECT(KEPT_INVALID, kept_declare_file(store, fifo, &why));
  const char *wrong = fresh_file("{\"properties\":{\"k\":{\"type\":\"integer\",}}}");
  EXPECT(KEPT_INVALID, kept_declare_file(store, wrong, &why));
  CHECK(says(wrong));
  CHECK_INT(37, why.offset);
  EXPECT(KEPT_UNSUPPORTED, kept_declare_file(store, fresh_file("{\"properties\":{},\"allOf\":[]}"), &why));
  EXPECT(KEPT_INVALID, kept_declare_file(store, fresh_file(bad_text(0)), &why));
  EXPECT(KEPT_INVALID, kept_declare_file(store, NULL, &why));
  EXPECT(KEPT_INVALID, kept_declare_file(NULL, missing, &why));
}

/* In transactions, handles and processes */

static void a_transaction_declares_and_is_refused(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  char *schema = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  declare(transaction, "k", volume);
  CHECK_TEXT("50", json_of(transaction, "k"));
  CHECK_TEXT("absent", json_of(store, "k"));
  EXPECT(KEPT_INVALID, kept_set_int64(transaction, "k", 101, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_set_bool(transaction, "k", true, &why));
  EXPECT(KEPT_TYPE_CONFLICT, kept_declare_json(transaction, "k", "{\"type\":\"string\"}", &why));
  EXPECT(KEPT_UNSUPPORTED, kept_declarations_json(transaction, "", &schema, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "k", 99, &why));
  CHECK(strstr(declared(transaction, "k"), "100") != NULL);
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("99", json_of(store, "k"));
  EXPECT(KEPT_INVALID, kept_set_int64(store, "k", 101, &why));
}

static void a_declaration_that_is_rolled_back_has_no_effect(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  declare(transaction, "k", volume);
  kept_rollback(transaction);
  CHECK_TEXT("absent", declared(store, "k"));
  EXPECT(KEPT_OK, kept_set_bool(store, "k", true, &why));
}

static void a_transaction_gives_a_key_another_type(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  declare(store, "k", volume);
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 30, &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_undeclare(transaction, "k", &why));
  CHECK_TEXT("30", json_of(transaction, "k"));
  EXPECT(KEPT_OK, kept_set_string(transaction, "k", "30", 2, &why));
  EXPECT(KEPT_OK, kept_declare_json(transaction, "k", "{\"type\":\"string\"}", &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("\"30\"", json_of(store, "k"));
  CHECK_TEXT("{\"type\":\"string\"}", declared(store, "k"));
}

static void a_commit_is_checked_against_current_declarations(void) {
  const char *location = fresh_location();
  kept_store *store = open_at(location), *other = open_at(location), *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "k", 500, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "l", 1, &why));
  declare(other, "k", volume);
  EXPECT(KEPT_INVALID, kept_commit(transaction, NULL, &why));
  CHECK(says("\"k\"") && says("500"));
  CHECK_TEXT("absent", json_of(store, "l"));
}

static void a_declaration_applies_to_every_handle_at_once(void) {
  const char *location = fresh_location();
  kept_store *store = open_at(location), *other = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 500, &why));
  CHECK_TEXT("500", json_of(other, "k"));
  EXPECT(KEPT_MISFIT, kept_declare_json(store, "k", volume, &why));
  CHECK_TEXT("50", json_of(other, "k"));
  EXPECT(KEPT_INVALID, kept_set_int64(other, "k", 101, &why));
  EXPECT(KEPT_OK, kept_undeclare(other, "k", &why));
  CHECK_TEXT("500", json_of(store, "k"));
}

static void narrower(const char *location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_INVALID, kept_set_int64(store, "k", 1001, &why));
  EXPECT(KEPT_TYPE_CONFLICT, kept_declare_json(store, "k", "{\"type\":\"string\"}", &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 500, &why));
  EXPECT(KEPT_MISFIT, kept_declare_json(store, "k", volume, &why));
  signal_parent();
  await_parent();
  CHECK_TEXT("absent", declared(store, "k"));
  CHECK_TEXT("true", json_of(store, "k"));
}

static void a_declaration_applies_to_every_process_at_once(void) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  int64_t number = 0;
  declare(store, "k", "{\"type\":\"integer\",\"maximum\":1000,\"default\":7}");
  EXPECT(KEPT_OK, kept_get_int64(store, "k", &number, &why));
  CHECK_INT(7, number);
  child child = start_child("narrower", location);
  await_child(&child);
  EXPECT(KEPT_OK, kept_get_int64(store, "k", &number, &why));
  CHECK_INT(50, number);
  EXPECT(KEPT_INVALID, kept_set_int64(store, "k", 101, &why));
  EXPECT(KEPT_OK, kept_undeclare(store, "k", &why));
  EXPECT(KEPT_OK, kept_set_bool(store, "k", true, &why));
  CHECK_INT(0, finish_child(&child));
}

static void a_declaration_is_still_there_after_closing_and_opening(void) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  declare(store, "k", volume);
  kept_close(store);
  CHECK_TEXT("50", json_of(open_at(location), "k"));
}

/* Observers */

static void observers_are_notified_when_a_declaration_changes_what_is_read(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  record(recorder, store, "k", KEPT_OBSERVE_KEY);
  declare(store, "k", volume);
  CHECK_TEXT("S k:->50;", recorded(recorder, 1));
  CHECK_UINT(KEPT_LAYER_DECLARED, recorder->layer);
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 60, &why));
  CHECK_TEXT("S k:->50;S k:50>60;", recorded(recorder, 2));
  CHECK_UINT(KEPT_LAYER_USER, recorder->layer);
  CHECK(!recorder->secret);
  EXPECT(KEPT_MISFIT, kept_declare_json(store, "k", "{\"type\":\"integer\",\"maximum\":1,\"secret\":true}", &why));
  CHECK_TEXT("S k:->50;S k:50>60;S k:60>-;", recorded(recorder, 3));
  CHECK(recorder->secret);
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
  EXPECT(KEPT_MISFIT, kept_declare_json(store, "password", "{\"type\":\"string\",\"maxLength\":8,\"secret\":true,"
                                        "\"pattern\":\"^h\",\"default\":\"hunter1\"}", &why));
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
  EXPECT(KEPT_INVALID, kept_declare_json(store, "password", "{\"type\":\"string\",\"secret\":true,\"maxLength\":2,"
                                         "\"default\":\"hunter2\"}", &why));
  expect_no_secret(why.message);
}

/* Bad schemas */

static void an_invalid_schema_is_refused(void) {
  static const struct { kept_status status; const char *schema, *says; } bad[] = {
    { KEPT_INVALID, "", "" },
    { KEPT_INVALID, "1", "object" },
    { KEPT_INVALID, "{}", "type" },
    { KEPT_INVALID, "{\"type\":\"text\"}", "text" },
    { KEPT_INVALID, "{\"type\":[\"string\"]}", "/type" },
    { KEPT_INVALID, "{\"type\":\"integer\",\"minimum\":\"0\"}", "/minimum" },
    { KEPT_INVALID, "{\"type\":\"integer\",\"minimum\":2,\"maximum\":1}", "minimum" },
    { KEPT_INVALID, "{\"type\":\"integer\",\"default\":\"1\"}", "default" },
    { KEPT_INVALID, "{\"type\":\"string\",\"enum\":[\"a\",1]}", "/enum" },
    { KEPT_INVALID, "{\"type\":\"string\",\"pattern\":\"(\"}", "/pattern" },
    { KEPT_INVALID, "{\"type\":\"string\",\"minimum\":1}", "/minimum" },
    { KEPT_UNSUPPORTED, "{\"type\":\"integer\",\"dependentSchemas\":0}", "dependentSchemas" },
    { KEPT_UNSUPPORTED, "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}", "/items/$ref" },
    { KEPT_UNSUPPORTED, "{\"type\":\"array\",\"items\":{\"default\":1}}", "/items/default" },
  };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    EXPECT(bad[i].status, kept_declare_json(store, "k", bad[i].schema, &why));
    CHECK(says("\"k\"") && says(bad[i].says));
  }
  EXPECT(KEPT_INVALID, kept_declare_json(store, "k", "{\"type\":\"integer\",}", &why));
  CHECK_INT(18, why.offset);
  char *deep = repeated('[', 130);
  memset(deep + 65, ']', 65);
  EXPECT(KEPT_TOO_LARGE, kept_declare_json(store, "k", deep, &why));
  CHECK_TEXT("absent", declared(store, "k"));
}

static void a_schema_over_the_limit_is_too_large(void) {
  kept_store *store = fresh_store();
  char *schema = repeated('x', 65536 + 100);
  const char head[] = "{\"type\":\"string\",\"summary\":\"", tail[] = "\"}";
  memcpy(schema, head, sizeof head - 1);
  strcpy(schema + 65536 - (sizeof tail - 1), tail);
  declare(store, "k", schema);
  schema[65536 - 2] = 'x';
  strcpy(schema + 65536 - 1, tail);
  EXPECT(KEPT_TOO_LARGE, kept_declare_json(store, "l", schema, &why));
  CHECK_TEXT("absent", declared(store, "l"));
}

static void a_pattern_that_takes_too_long_refuses_the_value(void) {
  kept_store *store = fresh_store();
  declare(store, "k", "{\"type\":\"string\",\"pattern\":\"^(a+)+$\"}");
  const char *text = repeated('a', 5000);
  EXPECT(KEPT_OK, kept_set_string(store, "k", text, 100, &why));
  char *worse = repeated('a', 5000);
  worse[4999] = 'b';
  EXPECT(KEPT_INVALID, kept_set_string(store, "k", worse, 5000, &why));
  CHECK_INT(100 + 2, strlen(json_of(store, "k")));
}

static void every_call_answers(kept_status status, kept_store *store, const char *key) {
  char *schema = NULL;
  EXPECT(status, kept_declare_json(store, key, volume, &why));
  EXPECT(status, kept_undeclare(store, key, &why));
  EXPECT(status, kept_declaration_json(store, key, &schema, &why));
  CHECK(schema == NULL);
}

static void bad_arguments_are_refused(void) {
  kept_store *store = fresh_store(), *ended = NULL;
  char *schema = NULL;
  every_call_answers(KEPT_INVALID, NULL, "k");
  every_call_answers(KEPT_INVALID, store, NULL);
  for (size_t i = 0; bad_key(i) != NULL; i++) every_call_answers(KEPT_INVALID, store, bad_key(i));
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_declare_json(store, "k", bad_text(i), &why));
    EXPECT(KEPT_INVALID, kept_declare_list(store, bad_text(i), &why));
    EXPECT(KEPT_INVALID, kept_declare_file(store, bad_text(i), &why));
    EXPECT(KEPT_INVALID, kept_declarations_json(store, bad_text(i), &schema, &why));
  }
  EXPECT(KEPT_INVALID, kept_declare_json(store, "k", NULL, &why));
  EXPECT(KEPT_INVALID, kept_declare_list(store, NULL, &why));
  EXPECT(KEPT_INVALID, kept_declare_list(NULL, settings, &why));
  EXPECT(KEPT_INVALID, kept_declaration_json(store, "k", NULL, &why));
  EXPECT(KEPT_INVALID, kept_declarations_json(store, NULL, &schema, &why));
  EXPECT(KEPT_INVALID, kept_declarations_json(store, "", NULL, &why));
  EXPECT(KEPT_INVALID, kept_declarations_json(NULL, "", &schema, &why));
  EXPECT(KEPT_INVALID, kept_declare_list(store, "{\"properties\":{\"\":{\"type\":\"string\"}}}", &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &ended, &why));
  kept_rollback(ended);
  every_call_answers(KEPT_CLOSED, ended, "k");
  kept_close(store);
  every_call_answers(KEPT_CLOSED, store, "k");
  EXPECT(KEPT_CLOSED, kept_declare_list(store, settings, &why));
  EXPECT(KEPT_CLOSED, kept_declarations_json(store, "", &schema, &why));
  CHECK(schema == NULL);
}

static void an_error_gives_the_offset_of_invalid_UTF_8(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_INVALID, kept_declare_json(store, "k", "{\"type\":\"\xff\"}", &why));
  CHECK_INT(9, why.offset);
  EXPECT(KEPT_INVALID, kept_declare_list(store, "{\"title\":\"\xff\"}", &why));
  CHECK_INT(10, why.offset);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(a_declared_key_refuses_other_types_and_values_out_of_bounds),
    TEST(numbers_are_stored_in_the_form_of_their_type),
    TEST(every_getter_gives_the_default),
    TEST(prepared_keys_give_the_default),
    TEST(a_declaration_is_returned_as_canonical_text),
    TEST(a_declaration_is_undeclared_once),
    TEST(the_last_declaration_counts),
    TEST(another_type_is_a_conflict_until_it_is_undeclared),
    TEST(a_stored_value_that_does_not_fit_reads_as_absent),
    TEST(a_list_declares_all_or_none),
    TEST(a_file_declares_a_list),
    TEST(a_transaction_declares_and_is_refused),
    TEST(a_declaration_that_is_rolled_back_has_no_effect),
    TEST(a_transaction_gives_a_key_another_type),
    TEST(a_commit_is_checked_against_current_declarations),
    TEST(a_declaration_applies_to_every_handle_at_once),
    FOLDER_TEST(a_declaration_applies_to_every_process_at_once),
    FOLDER_TEST(a_declaration_is_still_there_after_closing_and_opening),
    TEST(observers_are_notified_when_a_declaration_changes_what_is_read),
    TEST(a_layer_that_does_not_fit_is_skipped_and_reported_once),
    TEST(text_is_read_as_the_declared_type),
    TEST(a_secret_is_in_no_error_report_or_explanation),
    TEST(an_invalid_schema_is_refused),
    TEST(a_schema_over_the_limit_is_too_large),
    TEST(a_pattern_that_takes_too_long_refuses_the_value),
    TEST(bad_arguments_are_refused),
    TEST(an_error_gives_the_offset_of_invalid_UTF_8),
    { 0 },
  };
  static const role roles[] = { ROLE(narrower), { 0 } };
  return run_tests(argc, argv, tests, roles);
}
