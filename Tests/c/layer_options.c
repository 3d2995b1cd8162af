/* Layers: how a store is opened with them, and how they are explained. */
#define _XOPEN_SOURCE 700
#include "program_arguments.h"
#include "reports.h"

#include <json-c/json.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int append_key(void *context, const char *key) {
  strcat(strcat(context, key), " ");
  return 0;
}

static const char *listed(kept_store *store, const char *prefix) {
  static char keys[512];
  *keys = 0;
  EXPECT(KEPT_OK, kept_list(store, prefix, append_key, keys, &why));
  return keys;
}

/* Explanations */

static json_object *explained(kept_store *store, const char *key) {
  char *json = NULL;
  EXPECT(KEPT_OK, kept_explain_json(store, key, &json, &why));
  json_object *tree = json != NULL ? json_tokener_parse(json) : NULL;
  kept_free(json);
  CHECK(tree != NULL);
  return tree;
}

static const char *member(json_object *object, const char *name) {
  json_object *value = NULL;
  return json_object_object_get_ex(object, name, &value) ? json_object_get_string(value) : "-";
}

static json_object *finding(json_object *explanation, const char *layer) {
  json_object *layers = json_object_object_get(explanation, "layers");
  for (size_t i = 0; i < json_object_array_length(layers); i++) {
    json_object *finding = json_object_array_get_idx(layers, i);
    if (strcmp(member(finding, "layer"), layer) == 0) return finding;
  }
  return NULL;
}

static void an_explanation_names_every_layer(void) {
  const char *location = fresh_location();
  kept_store *plain = open_at(location);
  kept_options options = with_arguments();
  setenv("PLAYER_A", "3", 1);
  options.environment = "PLAYER_";
  options.managed = fresh_file("{}");
  options.system = fresh_file("{\"values\":{\"a\":5}}");
  EXPECT(KEPT_OK, kept_set_int64(plain, "a", 4, &why));
  kept_store *store = open_with(location, &options);
  json_object *explanation = explained(store, "a");
  CHECK_TEXT("a", member(explanation, "key"));
  CHECK_TEXT("2", member(explanation, "value"));
  CHECK_TEXT("arguments", member(explanation, "layer"));
  CHECK_TEXT("false", member(explanation, "locked"));
  CHECK_TEXT("false", member(explanation, "secret"));
  CHECK_TEXT("1", member(explanation, "revision"));
  CHECK(strstr(member(explanation, "reason"), "arguments") != NULL);
  CHECK_UINT(7, json_object_array_length(json_object_object_get(explanation, "layers")));
  CHECK_TEXT("silent", member(finding(explanation, "managed"), "outcome"));
  CHECK_TEXT(options.managed, member(finding(explanation, "managed"), "source"));
  CHECK_TEXT("wins", member(finding(explanation, "arguments"), "outcome"));
  CHECK_TEXT("-a", member(finding(explanation, "arguments"), "source"));
  CHECK_TEXT("hidden", member(finding(explanation, "environment"), "outcome"));
  CHECK_TEXT("PLAYER_A", member(finding(explanation, "environment"), "source"));
  CHECK_TEXT("4", member(finding(explanation, "user"), "value"));
  CHECK_TEXT(options.system, member(finding(explanation, "system"), "source"));
  CHECK_TEXT("silent", member(finding(explanation, "registered"), "outcome"));
  CHECK_TEXT("-", member(finding(explanation, "declared"), "value"));
  json_object_put(explanation);
  unsetenv("PLAYER_A");
}

static void an_explanation_shows_a_lock(void) {
  kept_options options = with_arguments();
  options.managed = fresh_file("{\"locked\":[\"a\"]}");
  kept_store *store = open_with(fresh_location(), &options);
  json_object *explanation = explained(store, "a");
  CHECK_TEXT("true", member(explanation, "locked"));
  CHECK_TEXT("-", member(explanation, "value"));
  CHECK_TEXT("-", member(explanation, "layer"));
  CHECK_TEXT("ignored", member(finding(explanation, "arguments"), "outcome"));
  CHECK(strstr(member(explanation, "reason"), "locked") != NULL);
  json_object_put(explanation);
}

static void an_explanation_in_a_transaction_knows_its_writes(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 4, &why));
  json_object *inside = explained(transaction, "a"), *outside = explained(store, "a");
  CHECK_TEXT("4", member(inside, "value"));
  CHECK_TEXT("user", member(inside, "layer"));
  CHECK_TEXT("-", member(outside, "value"));
  CHECK_TEXT("-", member(outside, "revision"));
  json_object_put(inside);
  json_object_put(outside);
  kept_rollback(transaction);
}

static void only_a_valid_key_can_be_explained(void) {
  kept_store *store = fresh_store();
  char *json = NULL;
  uint32_t layer = 99;
  EXPECT(KEPT_INVALID, kept_explain_json(NULL, "a", &json, &why));
  EXPECT(KEPT_INVALID, kept_explain_json(store, NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_explain_json(store, "a", NULL, &why));
  EXPECT(KEPT_INVALID, kept_layer_of(NULL, "a", &layer, &why));
  EXPECT(KEPT_INVALID, kept_layer_of(store, NULL, &layer, &why));
  EXPECT(KEPT_INVALID, kept_layer_of(store, "a", NULL, &why));
  for (size_t i = 0; bad_key(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_explain_json(store, bad_key(i), &json, &why));
    EXPECT(KEPT_INVALID, kept_layer_of(store, bad_key(i), &layer, &why));
  }
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_explain_json(store, "a", &json, &why));
  EXPECT(KEPT_CLOSED, kept_layer_of(store, "a", &layer, &why));
  CHECK(json == NULL && layer == 99);
}

/* Options */

/** The struct as it was before layers were added. */
static void options_without_layers_are_accepted(void) {
  kept_options options = with_arguments();
  CHECK_UINT(32, offsetof(kept_options, managed));
  for (size_t size = offsetof(kept_options, managed); size <= offsetof(kept_options, system); size += 8) {
    options.size = size;
    options.managed = options.system = size == offsetof(kept_options, managed) ? bad_text(0) : NULL;
    kept_store *store = open_with(fresh_location(), &options);
    CHECK_TEXT("absent", json_of(store, "a"));
  }
}

static void refused(const kept_options *options) {
  kept_store *store = NULL;
  EXPECT(KEPT_INVALID, kept_open(fresh_location(), options, &store, &why));
  CHECK(store == NULL);
}

static void invalid_layers_are_refused(void) {
  static const char *const short_argv[] = { "player", NULL, "1" };
  kept_options options = KEPT_OPTIONS_INIT;
  options.argc = 1;
  refused(&options);
  options = with_arguments();
  options.argc = SIZE_MAX;
  refused(&options);
  options.argv = NULL;
  refused(&options);
  options.argv = short_argv, options.argc = 3;
  refused(&options);
  options.argv = NULL, options.argc = 0;
  options.environment = "";
  refused(&options);
  options.environment = "PLAYER=";
  refused(&options);
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    options = (kept_options)KEPT_OPTIONS_INIT;
    options.managed = bad_text(i);
    refused(&options);
    options.managed = NULL, options.system = bad_text(i);
    refused(&options);
    options.system = NULL, options.environment = bad_text(i);
    refused(&options);
  }
}

static void a_standard_file_needs_an_identifier(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = options.system = KEPT_STANDARD_FILE;
  refused(&options);
  kept_store *store = open_with("com.example.nobody-has-this", &options);
  json_object *explanation = explained(store, "a");
  CHECK_TEXT("/etc/kept/com.example.nobody-has-this/managed.json", member(finding(explanation, "managed"), "source"));
  CHECK_TEXT("/etc/kept/com.example.nobody-has-this/system.json", member(finding(explanation, "system"), "source"));
  json_object_put(explanation);
}

static void arguments_are_copied(void) {
  char key[] = "-a", value[] = "2";
  const char *argv[] = { "player", key, value };
  kept_options options = KEPT_OPTIONS_INIT;
  options.argv = argv, options.argc = COUNT(argv);
  kept_store *store = open_with(fresh_location(), &options);
  memset(key, 'x', 2), memset(value, 'x', 1), memset(argv, 0, sizeof argv);
  CHECK_TEXT("2", json_of(store, "a"));
}

static void an_empty_argument_list_is_an_empty_layer(void) {
  kept_options options = with_arguments();
  options.argc = 0;
  kept_store *store = open_with(fresh_location(), &options);
  CHECK_TEXT("absent", json_of(store, "a"));
  json_object *explanation = explained(store, "a");
  CHECK_TEXT("silent", member(finding(explanation, "arguments"), "outcome"));
  json_object_put(explanation);
}

static void an_argument_that_is_not_UTF_8_is_reported_and_ignored(void) {
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    const char *argv[] = { "player", "-a", bad_text(i), "-b", "2", bad_text(i), "stray", "-c", "3" };
    kept_options options = KEPT_OPTIONS_INIT;
    reports *reports = new_reports();
    options.argv = argv, options.argc = COUNT(argv);
    options.report = write_report, options.report_context = reports;
    kept_store *store = open_with(fresh_location(), &options);
    CHECK_TEXT("b c ", listed(store, ""));
    CHECK_INT(2, reports_now(reports));
    CHECK_INT(KEPT_INVALID, report_status(reports, 1));
  }
}

static void a_variable_that_names_no_key_is_reported(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  reports *reports = new_reports();
  setenv("PLAYER_volume", "1", 1), setenv("PLAYER_THEME", "dark", 1);
  options.environment = "PLAYER_";
  options.report = write_report, options.report_context = reports;
  kept_store *store = open_with(fresh_location(), &options);
  CHECK_INT(1, reports_now(reports));
  CHECK(strstr(report_text(reports, 1), "PLAYER_VOLUME") != NULL);
  CHECK_TEXT("\"dark\"", json_of(store, "theme"));
  CHECK_TEXT("absent", json_of(store, "volume"));
  unsetenv("PLAYER_volume"), unsetenv("PLAYER_THEME");
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(an_explanation_names_every_layer),
    TEST(an_explanation_shows_a_lock),
    TEST(an_explanation_in_a_transaction_knows_its_writes),
    TEST(only_a_valid_key_can_be_explained),
    TEST(options_without_layers_are_accepted),
    TEST(invalid_layers_are_refused),
    TEST(a_standard_file_needs_an_identifier),
    TEST(arguments_are_copied),
    TEST(an_empty_argument_list_is_an_empty_layer),
    TEST(an_argument_that_is_not_UTF_8_is_reported_and_ignored),
    TEST(a_variable_that_names_no_key_is_reported),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
