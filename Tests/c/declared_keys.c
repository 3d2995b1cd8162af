/* Keys that are declared: what they refuse, how they read, in layers too, and that secrets stay hidden. */
#include "declaring.h"
#include "reports.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TEST(prepared_keys_give_the_default) {
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

/* Secrets */

static void expect_no_secret(const char *text) { CHECK(strstr(text, "hunter") == NULL); }

TEST(a_secret_is_in_no_error_report_or_explanation) {
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

/* Processes */

ROLE(narrower, location) {
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

FOLDER_TEST(a_declaration_applies_to_every_process_at_once) {
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
