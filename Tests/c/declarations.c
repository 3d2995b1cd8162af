/* Declarations: how they are made, changed and removed, in every handle and process, and in transactions. */
#define _XOPEN_SOURCE 700
#include "declaring.h"
#include "recorder.h"
#include "reports.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *all_declared(kept_store *store, const char *prefix) {
  static char text[4096];
  char *schema = NULL;
  EXPECT(KEPT_OK, kept_declarations_json(store, prefix, &schema, &why));
  snprintf(text, sizeof text, "%s", schema != NULL ? schema : "-");
  kept_free(schema);
  return text;
}

/* Declaring, declaring again, and undeclaring */

static void a_declaration_is_returned_as_canonical_text(void) {
  kept_store *store = fresh_store();
  declare(store, "k", " { \"type\" : \"number\", \"default\" : 1, \"secret\" : false, \"$comment\" : \"x\" } ");
  CHECK_TEXT("{\"default\":1.0,\"type\":\"number\"}", declared(store, "k"));
  CHECK_TEXT("absent", declared(store, "other"));
  CHECK_TEXT(
    "{\"properties\":{\"k\":{\"default\":1.0,\"type\":\"number\"}},\"type\":\"object\"}", all_declared(store, ""));
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
  EXPECT(KEPT_TYPE_CONFLICT,
    kept_declare_list(store,
      "{\"properties\":{\"a\":{\"type\":\"string\"},"
      "\"volume\":{\"type\":\"string\"}}}",
      &why));
  CHECK(says("\"volume\""));
  CHECK_TEXT("absent", declared(store, "a"));
  EXPECT(KEPT_OK, kept_set_string(store, "theme", "dark", 4, &why));
  EXPECT(
    KEPT_MISFIT, kept_declare_list(store, "{\"properties\":{\"theme\":{\"type\":\"string\",\"maxLength\":1}}}", &why));
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

int main(int argc, char **argv) {
  static const test tests[] = {
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
    { 0 },
  };
  static const role roles[] = { ROLE(narrower), { 0 } };
  return run_tests(argc, argv, tests, roles);
}
