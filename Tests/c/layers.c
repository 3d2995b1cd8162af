/* Layers: which one decides, and what can be written below them. layer_options.c tests how a store is opened with them
 * and how they are explained; layer_files.c, what happens when their files change. */
#define _XOPEN_SOURCE 700
#include "program_arguments.h"
#include "reports.h"

#include <json-c/json.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
  for (int i = 0; i < 3; i++) { /* from the file, and then from memory */
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
  kept_options options =
    with_managed("{\"values\":{\"by.value\":1},\"locked\":[\"by.name\"],\"lockedPrefixes\":[\"by.prefix.\"]}");
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
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
