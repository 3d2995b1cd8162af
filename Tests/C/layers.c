/* Layers: which one decides, what can be written below them, how they are explained, and how a store is opened with
 * them. layer_files.c tests what happens when their files change. */
#define _XOPEN_SOURCE 700
#include "reports.h"

#include <json-c/json.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))

static const char *const argv_of_player[] = { "player", "-a", "2", "-b", "2", "-list", "[1,2]", "-name", "5",
                                              "-depth", "-7", "-half", "0.5", "-raw", "<0aff>" };

static kept_options with_arguments(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.argv = argv_of_player;
  options.argc = COUNT(argv_of_player);
  return options;
}

static kept_options with_managed(const char *text) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = fresh_file(text);
  return options;
}

static const char *layer_of(kept_store *store, const char *key) {
  static const char *const names[] = { "none", "declared", "registered", "system", "user", "environment", "arguments",
                                       "managed" };
  uint32_t layer = 99;
  EXPECT(KEPT_OK, kept_layer_of(store, key, &layer, &why));
  return layer < COUNT(names) ? names[layer] : "?";
}

/* Which layer decides */

static void the_highest_layer_that_has_a_value_decides(void) {
  static const char *const keys[] = { "m", "a", "b", "e", "u", "s", "r", "d", "x" };
  static const char *const layers[] = { "managed", "arguments", "arguments", "environment", "user", "system",
                                        "registered", "declared", "none" };
  static const char *const values[] = { "1", "2", "2", "3", "4", "5", "6", "7", "absent" };
  const char *location = fresh_location();
  kept_store *plain = open_at(location);
  kept_options options = with_arguments();
  setenv("PLAYER_M", "3", 1), setenv("PLAYER_A", "3", 1), setenv("PLAYER_E", "3", 1);
  options.environment = "PLAYER_";
  options.managed = fresh_file("{\"values\":{\"m\":1}}");
  options.system = fresh_file("{\"values\":{\"a\":5,\"b\":5,\"e\":5,\"m\":5,\"s\":5,\"u\":5}}");
  for (size_t i = 0; i < 5; i++) EXPECT(KEPT_OK, kept_set_int64(plain, keys[i], 4, &why));
  EXPECT(KEPT_OK, kept_declare_json(plain, "d", "{\"default\":7,\"type\":\"integer\"}", &why));
  kept_store *store = open_with(location, &options);
  EXPECT(KEPT_OK, kept_register_json(store, "{\"m\":6,\"u\":6,\"s\":6,\"r\":6}", &why));
  for (size_t i = 0; i < COUNT(keys); i++) {
    CHECK_TEXT(layers[i], layer_of(store, keys[i]));
    CHECK_TEXT(values[i], json_of(store, keys[i]));
  }
  unsetenv("PLAYER_M"), unsetenv("PLAYER_A"), unsetenv("PLAYER_E");
}

static void text_is_read_as_the_requested_type(void) {
  kept_options options = with_arguments();
  kept_store *store = open_with(fresh_location(), &options);
  int64_t number = 0;
  double real = 0;
  bool flag = false;
  char text[16] = "";
  EXPECT(KEPT_OK, kept_get_int64(store, "name", &number, &why));
  CHECK_INT(5, number);
  EXPECT(KEPT_OK, kept_get_string(store, "name", text, sizeof text, NULL, &why));
  CHECK_TEXT("5", text);
  EXPECT(KEPT_OK, kept_get_double(store, "name", &real, &why));
  CHECK(real == 5);
  EXPECT(KEPT_OK, kept_get_int64(store, "depth", &number, &why));
  CHECK_INT(-7, number);
  EXPECT(KEPT_OK, kept_get_double(store, "half", &real, &why));
  CHECK(real == 0.5);
  CHECK_TEXT("[1,2]", json_of(store, "list"));
  EXPECT(KEPT_WRONG_TYPE, kept_get_int64(store, "half", &number, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_get_bool(store, "list", &flag, &why));
  CHECK(strstr(why.message, "list") != NULL);
}

static void prepared_keys_read_through_layers_too(void) {
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

static void every_layer_except_defaults_makes_a_key_present(void) {
  const char *location = fresh_location();
  kept_store *plain = open_at(location), *transaction = NULL;
  kept_options options = with_managed("{\"values\":{\"managed\":1}}");
  static const char *const argv[] = { "player", "-argument", "1", "-user", "2" };
  options.argv = argv, options.argc = COUNT(argv);
  options.system = fresh_file("{\"values\":{\"system\":1}}");
  setenv("PLAYER_ENVIRONMENT", "1", 1);
  options.environment = "PLAYER_";
  EXPECT(KEPT_OK, kept_set_int64(plain, "user", 1, &why));
  EXPECT(KEPT_OK, kept_declare_json(plain, "declared", "{\"default\":7,\"type\":\"integer\"}", &why));
  kept_store *store = open_with(location, &options);
  EXPECT(KEPT_OK, kept_register_json(store, "{\"registered\":6}", &why));
  CHECK_TEXT("argument environment managed system user ", listed(store, ""));
  CHECK_TEXT("system ", listed(store, "s"));
  CHECK_TEXT("user ", listed(plain, ""));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  CHECK_TEXT("argument environment managed system user ", listed(transaction, ""));
  kept_rollback(transaction);
  bool found = false;
  EXPECT(KEPT_OK, kept_contains(store, "system", &found, &why));
  CHECK(found);
  EXPECT(KEPT_OK, kept_contains(store, "registered", &found, &why));
  CHECK(!found);
  EXPECT(KEPT_OK, kept_contains(store, "declared", &found, &why));
  CHECK(!found);
  unsetenv("PLAYER_ENVIRONMENT");
}

static void each_handle_reads_its_own_layers(void) {
  const char *location = fresh_location();
  kept_options one = with_managed("{\"values\":{\"k\":1}}"), two = with_managed("{\"values\":{\"k\":2}}");
  kept_store *first = open_with(location, &one), *second = open_with(location, &two), *third = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(third, "k", 3, &why));
  for (int i = 0; i < 3; i++) {   /* from the file, and then from memory */
    CHECK_TEXT("1", json_of(first, "k"));
    CHECK_TEXT("2", json_of(second, "k"));
    CHECK_TEXT("3", json_of(third, "k"));
  }
  EXPECT(KEPT_OK, kept_register_json(third, "{\"r\":3}", &why));
  CHECK_TEXT("absent", json_of(first, "r"));
  CHECK_TEXT("3", json_of(third, "r"));
}

/* Writing below them */

static void every_write_answers(kept_status status, kept_store *store, const char *key) {
  EXPECT(status, kept_set_json_if(store, key, "{}", 0, NULL, &why));
  EXPECT(status, kept_set_bool(store, key, true, &why));
  EXPECT(status, kept_set_int64(store, key, 1, &why));
  EXPECT(status, kept_set_uint64(store, key, 1, &why));
  EXPECT(status, kept_set_double(store, key, 1, &why));
  EXPECT(status, kept_set_date(store, key, 1, 1, &why));
  EXPECT(status, kept_set_string(store, key, "1", 1, &why));
  EXPECT(status, kept_set_bytes(store, key, "1", 1, &why));
  EXPECT(status, kept_set_json(store, key, "[1]", &why));
}

static void a_locked_key_is_not_written(void) {
  static const char *const locked[] = { "by.value", "by.name", "by.prefix.", "by.prefix.any" };
  const char *location = fresh_location();
  kept_store *plain = open_at(location), *transaction = NULL;
  kept_options options = with_managed(
      "{\"values\":{\"by.value\":1},\"locked\":[\"by.name\"],\"lockedPrefixes\":[\"by.prefix.\"]}");
  kept_store *store = open_with(location, &options);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  for (size_t i = 0; i < COUNT(locked); i++) {
    every_write_answers(KEPT_LOCKED, store, locked[i]);
    EXPECT(KEPT_LOCKED, kept_set_json(store, locked[i], "null", &why));
    EXPECT(KEPT_LOCKED, kept_remove(store, locked[i], &why));
    CHECK(strstr(why.message, locked[i]) != NULL && strstr(why.message, "managed") != NULL);
    every_write_answers(KEPT_LOCKED, transaction, locked[i]);
    EXPECT(KEPT_LOCKED, kept_remove(transaction, locked[i], &why));
    CHECK_TEXT("absent", json_of(plain, locked[i]));
  }
  EXPECT(KEPT_OK, kept_set_bool(transaction, "by.prefix", true, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("true", json_of(plain, "by.prefix"));
}

static void a_locked_key_has_only_the_administrator_s_value(void) {
  const char *location = fresh_location();
  kept_store *plain = open_at(location);
  kept_options options = with_arguments();
  options.managed = fresh_file("{\"locked\":[\"a\",\"b\",\"u\"]}");
  options.system = fresh_file("{\"values\":{\"a\":5}}");
  EXPECT(KEPT_OK, kept_set_int64(plain, "u", 4, &why));
  kept_store *store = open_with(location, &options);
  EXPECT(KEPT_OK, kept_register_json(store, "{\"b\":6}", &why));
  CHECK_TEXT("5", json_of(store, "a"));
  CHECK_TEXT("6", json_of(store, "b"));
  CHECK_TEXT("absent", json_of(store, "u"));
  CHECK_TEXT("none", layer_of(store, "u"));
  CHECK_TEXT("4", json_of(plain, "u"));
}

static void a_shadowed_write_is_stored_and_returns_shadowed(void) {
  const char *location = fresh_location();
  kept_store *plain = open_at(location);
  kept_options options = with_arguments();
  setenv("PLAYER_E", "3", 1);
  options.environment = "PLAYER_";
  kept_store *store = open_with(location, &options);
  uint64_t revision = 0;
  EXPECT(KEPT_SHADOWED, kept_set_int64(store, "a", 9, &why));
  CHECK(strstr(why.message, "arguments") != NULL && strstr(why.message, "\"a\"") != NULL);
  CHECK_TEXT("9", json_of(plain, "a"));
  CHECK_TEXT("2", json_of(store, "a"));
  EXPECT(KEPT_SHADOWED, kept_set_bool(store, "e", true, &why));
  CHECK(strstr(why.message, "environment") != NULL);
  CHECK_TEXT("true", json_of(plain, "e"));
  EXPECT(KEPT_OK, kept_revision_of(store, "a", &revision, &why));
  EXPECT(KEPT_SHADOWED, kept_set_json_if(store, "a", "10", revision, &revision, &why));
  CHECK_TEXT("10", json_of(plain, "a"));
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "a", "11", 1, NULL, &why));
  EXPECT(KEPT_SHADOWED, kept_remove(store, "a", &why));
  CHECK_TEXT("absent", json_of(plain, "a"));
  EXPECT(KEPT_ABSENT, kept_remove(store, "a", &why));
  EXPECT(KEPT_ABSENT, kept_revision_of(store, "a", &revision, &why));
  EXPECT(KEPT_SHADOWED, kept_set_json(store, "e", "null", &why));
  CHECK_TEXT("absent", json_of(plain, "e"));
  CHECK_TEXT("2", json_of(store, "a"));
  EXPECT(KEPT_OK, kept_set_int64(store, "u", 1, &why));
  unsetenv("PLAYER_E");
}

static void every_shadowed_write_returns_shadowed(void) {
  kept_options options = with_arguments();
  kept_store *store = open_with(fresh_location(), &options);
  every_write_answers(KEPT_SHADOWED, store, "b");
}

static void a_shadowed_write_in_a_transaction_returns_shadowed(void) {
  const char *location = fresh_location();
  kept_store *plain = open_at(location), *transaction = NULL;
  kept_options options = with_arguments();
  kept_store *store = open_with(location, &options);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_SHADOWED, kept_set_int64(transaction, "a", 9, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "u", 9, &why));
  CHECK_TEXT("2", json_of(transaction, "a"));
  CHECK_TEXT("arguments", layer_of(transaction, "a"));
  EXPECT(KEPT_SHADOWED, kept_remove(transaction, "a", &why));
  EXPECT(KEPT_SHADOWED, kept_set_json(transaction, "a", "10", &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("10", json_of(plain, "a"));
  CHECK_TEXT("9", json_of(plain, "u"));
}

/* Registered defaults */

static void a_registered_default_is_read_and_not_stored(void) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_register_json(store, "{\"a\":1,\"b\":[true]}", &why));
  EXPECT(KEPT_OK, kept_register_json(store, "{\"a\":2}", &why));
  CHECK_TEXT("2", json_of(store, "a"));
  CHECK_TEXT("[true]", json_of(store, "b"));
  CHECK_TEXT("absent", json_of(open_at(location), "a"));
  EXPECT(KEPT_ABSENT, kept_remove(store, "a", &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 3, &why));
  CHECK_TEXT("3", json_of(store, "a"));
  EXPECT(KEPT_OK, kept_remove(store, "a", &why));
  CHECK_TEXT("2", json_of(store, "a"));
  EXPECT(KEPT_OK, kept_register_json(store, "{\"a\":null}", &why));
  CHECK_TEXT("absent", json_of(store, "a"));
  CHECK_TEXT("[true]", json_of(store, "b"));
}

static void invalid_defaults_are_refused(void) {
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
  options.argc = SIZE_MAX;
  refused(&options);
  options.argv = argv_of_player;
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
    TEST(the_highest_layer_that_has_a_value_decides),
    TEST(text_is_read_as_the_requested_type),
    TEST(prepared_keys_read_through_layers_too),
    TEST(every_layer_except_defaults_makes_a_key_present),
    TEST(each_handle_reads_its_own_layers),
    TEST(a_locked_key_is_not_written),
    TEST(a_locked_key_has_only_the_administrator_s_value),
    TEST(a_shadowed_write_is_stored_and_returns_shadowed),
    TEST(every_shadowed_write_returns_shadowed),
    TEST(a_shadowed_write_in_a_transaction_returns_shadowed),
    TEST(a_registered_default_is_read_and_not_stored),
    TEST(invalid_defaults_are_refused),
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
