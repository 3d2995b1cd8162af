/* Layers: how a store is opened with them, and what a program may pass. */
#include "program_arguments.h"
#include "reports.h"
#include "suite.h"

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

TEST(only_a_valid_key_can_be_explained) {
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
TEST(options_without_layers_are_accepted) {
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

TEST(invalid_layers_are_refused) {
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

TEST(a_standard_file_needs_an_identifier) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = options.system = KEPT_STANDARD_FILE;
  refused(&options);
  kept_store *store = open_with("com.example.nobody-has-this", &options);
  json_object *explanation = explained(store, "a");
  CHECK_TEXT("/etc/kept/com.example.nobody-has-this/managed.json", member(finding(explanation, "managed"), "source"));
  CHECK_TEXT("/etc/kept/com.example.nobody-has-this/system.json", member(finding(explanation, "system"), "source"));
  json_object_put(explanation);
}

TEST(arguments_are_copied) {
  char key[] = "-a", value[] = "2";
  const char *argv[] = { "player", key, value };
  kept_options options = KEPT_OPTIONS_INIT;
  options.argv = argv, options.argc = COUNT(argv);
  kept_store *store = open_with(fresh_location(), &options);
  memset(key, 'x', 2), memset(value, 'x', 1), memset(argv, 0, sizeof argv);
  CHECK_TEXT("2", json_of(store, "a"));
}

TEST(an_empty_argument_list_is_an_empty_layer) {
  kept_options options = with_arguments();
  options.argc = 0;
  kept_store *store = open_with(fresh_location(), &options);
  CHECK_TEXT("absent", json_of(store, "a"));
  json_object *explanation = explained(store, "a");
  CHECK_TEXT("silent", member(finding(explanation, "arguments"), "outcome"));
  json_object_put(explanation);
}

TEST(an_argument_that_is_not_UTF_8_is_reported_and_ignored) {
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

/* Reading through them, and defaults */

TEST(prepared_keys_read_through_layers_too) {
  kept_options options = with_arguments();
  kept_store *store = open_with(fresh_location(), &options);
  const kept_key *key = NULL;
  int64_t number = 0;
  char text[16] = "";
  EXPECT(KEPT_OK, kept_key_prepare("name", &key, &why));
  for (int i = 0; i < 3; i++) {
    EXPECT(KEPT_OK, kept_key_get_int64(store, key, &number, &why));
    CHECK_INT(5, number);
    EXPECT(KEPT_OK, kept_key_get_string(store, key, text, sizeof text, NULL, &why));
    CHECK_TEXT("5", text);
  }
}

TEST(invalid_defaults_are_refused) {
  kept_store *store = fresh_store(), *transaction = NULL;
  EXPECT(KEPT_OK, kept_register_json(store, "{\"a\":1}", &why));
  EXPECT(KEPT_INVALID, kept_register_json(NULL, "{}", &why));
  EXPECT(KEPT_INVALID, kept_register_json(store, NULL, &why));
  EXPECT(KEPT_INVALID, kept_register_json(store, "[1]", &why));
  EXPECT(KEPT_INVALID, kept_register_json(store, "{\"a\":2,}", &why));
  CHECK_INT(7, why.offset);
  EXPECT(KEPT_INVALID, kept_register_json(store, "{\"a\":2,\"\":1}", &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_register_json(store, bad_text(i), &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_register_json(transaction, "{\"a\":2}", &why));
  kept_rollback(transaction);
  CHECK_TEXT("1", json_of(store, "a"));
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_register_json(store, "{\"a\":2}", &why));
}
