/* The administrator and declarations compared with the user, and stored values that do not fit the schema. */
#include "settings_test.h"

#include <string.h>

#define PLAYER "org.example.kept.player"

static const char *system_file(void) { return g_getenv("KEPT_GSETTINGS_SYSTEM"); }
static const char *managed_file(void) { return g_getenv("KEPT_GSETTINGS_MANAGED"); }

/* What a setting reads as, what it would without the user, and what the user has set. */
static char *three_values(GSettings *settings, const char *key) {
  GVariant *values[] = { g_settings_get_value(settings, key), g_settings_get_default_value(settings, key),
    g_settings_get_user_value(settings, key) };
  GString *text = g_string_new(NULL);
  for (int i = 0; i < 3; i++) {
    if (i > 0) g_string_append_c(text, ' ');
    if (values[i] == NULL) g_string_append_c(text, '-');
    else g_variant_print_string(values[i], text, FALSE), g_variant_unref(values[i]);
  }
  return g_string_free(text, FALSE);
}

#define assert_values(settings, key, expected) \
  G_STMT_START { \
    char *found_values = three_values(settings, key); \
    g_assert_cmpstr(found_values, ==, expected); \
    g_free(found_values); \
  } \
  G_STMT_END

static void each_layer_has_its_place(void) {
  GSettings *settings = g_settings_new(PLAYER);
  GString *changes = record(settings, "changed::volume");
  reset_all(settings);
  changes->len = 0;
  assert_values(settings, "volume", "50 50 -");
  put_file(system_file(), "{\"values\":{\"" PLAYER ".volume\":20}}");
  WAIT_UNTIL(changes->len > 0);
  assert_values(settings, "volume", "20 20 -");
  g_settings_set_int(settings, "volume", 20);
  assert_values(settings, "volume", "20 20 20");
  g_settings_set_int(settings, "volume", 10);
  assert_values(settings, "volume", "10 20 10");
  gsize length = changes->len;
  put_file(managed_file(), "{\"values\":{\"" PLAYER ".volume\":30}}");
  WAIT_UNTIL(changes->len > length);
  assert_values(settings, "volume", "30 30 10");
  length = changes->len;
  put_file(managed_file(), "{}");
  WAIT_UNTIL(changes->len > length);
  assert_values(settings, "volume", "10 20 10");
  g_settings_reset(settings, "volume");
  assert_values(settings, "volume", "20 20 -");
  length = changes->len;
  put_file(system_file(), "{}");
  WAIT_UNTIL(changes->len > length);
  assert_values(settings, "volume", "50 50 -");
  g_object_unref(settings);
}

static void a_change_of_a_hidden_layer_changes_nothing(void) {
  GSettings *settings = g_settings_new(PLAYER);
  g_settings_set_int(settings, "volume", 10);
  GString *hidden = record(settings, "changed::volume"), *shown = record(settings, "changed::loudness");
  put_file(system_file(), "{\"values\":{\"" PLAYER ".volume\":20,\"" PLAYER ".loudness\":2}}");
  WAIT_UNTIL(shown->len > 0);
  g_assert_cmpstr(hidden->str, ==, "");
  assert_values(settings, "volume", "10 20 10");
  gsize length = shown->len;
  put_file(system_file(), "{}");
  WAIT_UNTIL(shown->len > length);
  g_object_unref(settings);
}

static void a_declared_default_does_not_hide_that_of_the_schema(void) {
  GSettings *settings = g_settings_new(PLAYER);
  reset_all(settings);
  kept_store *store = other_handle();
  g_assert_cmpint(
    kept_declare_json(store, PLAYER ".volume", "{\"type\":\"integer\",\"default\":77}", NULL), ==, KEPT_OK);
  g_assert_cmpint(
    kept_declare_json(store, PLAYER ".theme", "{\"type\":\"string\",\"default\":\"x\"}", NULL), ==, KEPT_OK);
  g_assert_cmpint(
    kept_declare_json(store, PLAYER ".recent", "{\"type\":\"array\",\"default\":[\"x\"]}", NULL), ==, KEPT_OK);
  assert_values(settings, "volume", "50 50 -");
  assert_values(settings, "theme", "'plain' 'plain' -");
  assert_values(settings, "recent", "[] [] -");
  g_settings_set_int(settings, "volume", 1);
  assert_values(settings, "volume", "1 50 1");
  g_settings_reset(settings, "volume");
  assert_values(settings, "volume", "50 50 -");
  kept_undeclare(store, PLAYER ".volume", NULL), kept_undeclare(store, PLAYER ".theme", NULL);
  kept_undeclare(store, PLAYER ".recent", NULL);
  g_object_unref(settings);
}

static void what_a_declaration_refuses_is_not_set(void) {
  GSettings *settings = g_settings_new(PLAYER);
  reset_all(settings);
  g_assert_cmpint(
    kept_declare_json(other_handle(), PLAYER ".volume", "{\"type\":\"integer\",\"maximum\":100}", NULL), ==, KEPT_OK);
  GString *changes = record(settings, "changed");
  g_test_expect_message("kept", G_LOG_LEVEL_WARNING, "A setting was not changed: *" PLAYER ".volume*100*");
  g_assert_false(g_settings_set_int(settings, "volume", 101));
  g_test_assert_expected_messages();
  assert_int_setting(settings, "volume", 50);
  g_assert_cmpstr(changes->str, ==, "");
  g_assert_true(g_settings_set_int(settings, "volume", 100));
  kept_undeclare(other_handle(), PLAYER ".volume", NULL);
  g_object_unref(settings);
}

static void a_value_of_another_type_counts_as_absent(void) {
  static const char *const wrong[][2] = { { "volume", "\"loud\"" }, { "volume", "2147483648" }, { "volume", "1.5" },
    { "volume", "[1]" }, { "muted", "1" }, { "muted", "\"true\"" }, { "count", "-1" }, { "count", "4294967296" },
    { "speed", "true" }, { "speed", "9007199254740993" }, { "theme", "5" }, { "theme", "\"a\\u0000b\"" },
    { "recent", "\"a\"" }, { "recent", "[\"a\",1]" }, { "recent", "{}" }, { "position", "[1]" },
    { "position", "[1,2,3]" }, { "limit", "5" }, { "limit", "[1,2]" }, { "extra", "[1]" }, { "extra", "{\"a\":[]}" },
    { "extra", "{\"$date\":\"2026-11-20T23:44:01Z\"}" }, { "large", "-1" }, { "anything", "[]" }, { "colour", "2" } };
  GSettings *settings = g_settings_new(PLAYER);
  reset_all(settings);
  for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
    char *key = g_strconcat(PLAYER ".", wrong[i][0], NULL), *before = three_values(settings, wrong[i][0]);
    g_assert_true(g_str_has_suffix(before, " -"));
    set_elsewhere(key, wrong[i][1]);
    assert_values(settings, wrong[i][0], before);
    GVariant *value = g_settings_get_default_value(settings, wrong[i][0]);
    g_assert_true(g_settings_set_value(settings, wrong[i][0], value));
    GVariant *user = g_settings_get_user_value(settings, wrong[i][0]);
    g_assert_cmpvariant(user, value);
    g_settings_reset(settings, wrong[i][0]);
    g_variant_unref(user), g_variant_unref(value);
    g_free(before), g_free(key);
  }
  g_object_unref(settings);
}

static void a_value_outside_the_schema_reads_as_the_default(void) {
  static const char *const outside[][3] = { { "loudness", "12", "5 5 -" }, { "loudness", "-1", "5 5 -" },
    { "quality", "\"medium\"", "'low' 'low' -" }, { "colour", "\"purple\"", "'red' 'red' -" },
    { "days", "[\"sun\"]", "['mon'] ['mon'] -" }, { "days", "[\"mon\",\"sun\"]", "['mon'] ['mon'] -" } };
  GSettings *settings = g_settings_new(PLAYER);
  reset_all(settings);
  for (gsize i = 0; i < G_N_ELEMENTS(outside); i++) {
    char *key = g_strconcat(PLAYER ".", outside[i][0], NULL);
    set_elsewhere(key, outside[i][1]);
    assert_values(settings, outside[i][0], outside[i][2]);
    g_free(key);
  }
  reset_all(settings);
  g_object_unref(settings);
}

static void numbers_of_other_programs_are_converted_if_that_loses_nothing(void) {
  static const char *const numbers[][3] = { { "volume", "3.0", "3" }, { "speed", "3", "3.0" }, { "count", "7.0", "7" },
    { "large", "5.0", "5" }, { "long", "-5.0", "-5" } };
  GSettings *settings = g_settings_new(PLAYER);
  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
    char *key = g_strconcat(PLAYER ".", numbers[i][0], NULL);
    set_elsewhere(key, numbers[i][1]);
    GVariant *value = g_settings_get_value(settings, numbers[i][0]);
    char *text = g_variant_print(value, FALSE);
    g_assert_cmpstr(text, ==, numbers[i][2]);
    g_variant_unref(value);
    g_free(text), g_free(key);
  }
  reset_all(settings);
  g_object_unref(settings);
}

static void a_secret_is_read_and_set(void) {
  GSettings *settings = g_settings_new(PLAYER);
  reset_all(settings);
  char *json = NULL;
  g_assert_cmpint(kept_secrets_json(other_handle(), "{\"do\":\"plain\"}", &json, NULL), ==, KEPT_OK);
  kept_free(json);
  g_assert_cmpint(
    kept_declare_json(other_handle(), PLAYER ".theme", "{\"type\":\"string\",\"secret\":true}", NULL), ==, KEPT_OK);
  g_settings_set_string(settings, "theme", "hidden");
  assert_values(settings, "theme", "'hidden' 'plain' 'hidden'");
  g_settings_reset(settings, "theme");
  assert_values(settings, "theme", "'plain' 'plain' -");
  kept_undeclare(other_handle(), PLAYER ".theme", NULL);
  g_object_unref(settings);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  put_file(managed_file(), "{}");
  put_file(system_file(), "{}");
  g_test_add_func("/layers/each layer has its place", each_layer_has_its_place);
  g_test_add_func("/layers/a change of a hidden layer changes nothing", a_change_of_a_hidden_layer_changes_nothing);
  g_test_add_func(
    "/layers/a declared default does not hide that of the schema", a_declared_default_does_not_hide_that_of_the_schema);
  g_test_add_func("/layers/what a declaration refuses is not set", what_a_declaration_refuses_is_not_set);
  g_test_add_func("/layers/a value of another type counts as absent", a_value_of_another_type_counts_as_absent);
  g_test_add_func(
    "/layers/a value outside the schema reads as the default", a_value_outside_the_schema_reads_as_the_default);
  g_test_add_func("/layers/numbers of other programs are converted if that loses nothing",
    numbers_of_other_programs_are_converted_if_that_loses_nothing);
  g_test_add_func("/layers/a secret is read and set", a_secret_is_read_and_set);
  return run_tests();
}
