/* What one program sees of its own settings: values, and its own signals before a call returns. */
#include "settings_test.h"

#include <math.h>
#include <string.h>

static GSettings *player(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  reset_all(settings);
  return settings;
}

static void an_unset_key_has_the_default_of_the_schema(void) {
  GSettings *settings = player();
  assert_int_setting(settings, "volume", 50);
  assert_text(settings, "theme", "plain");
  g_assert_null(g_settings_get_user_value(settings, "volume"));
  g_assert_cmpstr(stored("org.example.kept.player.volume"), ==, "absent");
  g_object_unref(settings);
}

/* A key, a value, and the JSON that other programs find. */
static const char *const samples[][3] = {
  { "muted", "true", "true" },
  { "volume", "-2147483648", "-2147483648" },
  { "count", "uint32 4294967295", "4294967295" },
  { "large", "uint64 18446744073709551615", "{\"$numberULong\":\"18446744073709551615\"}" },
  { "long", "int64 -9223372036854775808", "-9223372036854775808" },
  { "speed", "2.0", "2.0" },
  { "theme", "'dark \"blue\"'", "\"dark \\\"blue\\\"\"" },
  { "quality", "'high'", "\"high\"" },
  { "colour", "'blue'", "\"blue\"" },
  { "days", "['mon', 'wed']", "[\"mon\",\"wed\"]" },
  { "recent", "['a', 'b']", "[\"a\",\"b\"]" },
  { "position", "(1, 2)", "[1,2]" },
  { "limit", "just 5", "[5]" },
  { "extra", "{'a': <1>, 'b': <'c'>}", "{\"a\":1,\"b\":\"c\"}" },
  { "anything", "<'text'>", "\"text\"" },
};

static void assert_is_set_and_reset(GSettings *settings, const char *key, const char *text, const char *json) {
  char *name = g_strconcat("org.example.kept.player.", key, NULL);
  GVariant *value = g_variant_ref_sink(g_variant_new_parsed(text));
  g_assert_true(g_settings_set_value(settings, key, value));
  GVariant *found[] = { g_settings_get_value(settings, key), g_settings_get_user_value(settings, key) };
  g_assert_cmpvariant(found[0], value);
  g_assert_cmpvariant(found[1], value);
  g_assert_cmpstr(stored(name), ==, json);
  g_settings_reset(settings, key);
  GVariant *after[] = { g_settings_get_value(settings, key), g_settings_get_default_value(settings, key) };
  g_assert_cmpvariant(after[0], after[1]);
  g_assert_cmpstr(stored(name), ==, "absent");
  g_variant_unref(found[0]), g_variant_unref(found[1]), g_variant_unref(value);
  g_variant_unref(after[0]), g_variant_unref(after[1]);
  g_free(name);
}

static void values_of_each_type_are_set_and_reset(void) {
  GSettings *settings = player();
  for (gsize i = 0; i < G_N_ELEMENTS(samples); i++)
    assert_is_set_and_reset(settings, samples[i][0], samples[i][1], samples[i][2]);
  g_object_unref(settings);
}

static void long_text_is_read_whole(void) {
  GSettings *settings = player();
  for (gsize length = 500; length < 530; length++) {
    char *text = g_strnfill(length, 'x');
    g_assert_true(g_settings_set_string(settings, "theme", text));
    assert_text(settings, "theme", text);
    g_free(text);
  }
  g_settings_reset(settings, "theme");
  g_object_unref(settings);
}

static void own_changes_are_signalled_before_the_call_returns(void) {
  GSettings *settings = player();
  GString *all = record(settings, "changed"), *one = record(settings, "changed::volume");
  g_settings_set_int(settings, "volume", 1);
  g_assert_cmpstr(all->str, ==, "changed::volume ");
  g_assert_cmpstr(one->str, ==, "changed::volume ");
  g_settings_set_string(settings, "theme", "dark");
  g_assert_cmpstr(all->str, ==, "changed::volume changed::theme ");
  g_assert_cmpstr(one->str, ==, "changed::volume ");
  g_settings_reset(settings, "volume");
  g_assert_cmpstr(all->str, ==, "changed::volume changed::theme changed::volume ");
  g_settings_reset(settings, "theme");
  g_object_unref(settings);
}

static void own_changes_are_not_signalled_again(void) {
  GSettings *settings = player();
  GString *changes = record(settings, "changed"), *events = record(settings, "change-event");
  for (int i = 0; i < 20; i++) g_settings_set_int(settings, "volume", i);
  gsize length = changes->len;
  wait_for_earlier_changes();
  g_assert_cmpuint(changes->len, ==, length);
  g_assert_cmpuint(length, ==, 20 * strlen("changed::volume "));
  g_assert_cmpuint(events->len, ==, 20 * strlen("change-event:volume "));
  g_object_unref(settings);
}

static void setting_the_same_value_changes_nothing(void) {
  GSettings *settings = player(), *other = g_settings_new("org.example.kept.player");
  GString *changes = record(other, "changed");
  g_settings_set_int(settings, "volume", 50);
  g_assert_cmpstr(changes->str, ==, "changed::volume ");
  g_assert_cmpstr(stored("org.example.kept.player.volume"), ==, "50");
  guint64 revision = store_revision();
  g_assert_true(g_settings_set_int(settings, "volume", 50));
  g_settings_reset(settings, "theme");
  g_settings_delay(settings);
  g_settings_set_int(settings, "volume", 50);
  g_settings_reset(settings, "theme");
  g_settings_apply(settings);
  g_assert_cmpstr(changes->str, ==, "changed::volume ");
  g_assert_cmpuint(store_revision(), ==, revision);
  g_object_unref(other), g_object_unref(settings);
}

/* A key, and a value that Kept stores otherwise than it is given. */
static const char *const reordered[][2] = {
  { "words", "{'b': 'x', 'a': 'y'}" },
  { "nested", "{'b': {'d': <1>, 'c': <{'f': 'x', 'e': 'y'}>}, 'a': {}}" },
  { "pairs", "[('b', <{'d': 'x', 'c': 'y'}>), ('a', <1>)]" },
  { "extra", "{'b': <1>, 'a': <2>}" },
  { "extra", "{'b': <{'d': 'x', 'c': 'y'}>, 'a': <[{'d': <1>, 'c': <2>}]>}" },
  { "anything", "<{'b': 1, 'a': 2}>" },
  { "anything", "<{'b': <{'d': 'x', 'c': 'y'}>, 'a': <2>}>" },
};

static void setting_an_equal_dictionary_changes_nothing(void) {
  GSettings *settings = player(), *other = g_settings_new("org.example.kept.player");
  GString *changes = record(other, "changed");
  for (gsize i = 0; i < G_N_ELEMENTS(reordered); i++) {
    GVariant *value = g_variant_ref_sink(g_variant_new_parsed(reordered[i][1]));
    g_assert_true(g_settings_set_value(settings, reordered[i][0], value));
    guint64 revision = store_revision();
    g_string_truncate(changes, 0);
    g_assert_true(g_settings_set_value(settings, reordered[i][0], value));
    g_settings_delay(settings);
    g_settings_set_value(settings, reordered[i][0], value);
    g_settings_apply(settings);
    g_assert_cmpstr(changes->str, ==, "");
    g_assert_cmpuint(store_revision(), ==, revision);
    g_variant_unref(value);
    g_object_unref(settings);
    settings = g_settings_new("org.example.kept.player");
  }
  g_object_unref(other), g_object_unref(settings);
}

static int saved;

static void save_again(GSettings *settings, const char *key, gpointer value) {
  if (++saved < 100) g_settings_set_value(settings, key, value);
}

static void a_handler_may_save_the_new_value(void) {
  for (gsize i = 0; i < G_N_ELEMENTS(reordered); i++) {
    GSettings *settings = player();
    GVariant *value = g_variant_ref_sink(g_variant_new_parsed(reordered[i][1]));
    saved = 0;
    g_signal_connect(settings, "changed", G_CALLBACK(save_again), value);
    g_settings_set_value(settings, reordered[i][0], value);
    g_assert_cmpint(saved, ==, 1);
    g_object_unref(settings);
    g_variant_unref(value);
  }
  /* One NaN is stored for all. */
  GSettings *settings = player();
  GVariant *value = g_variant_ref_sink(g_variant_new_double(-NAN));
  saved = 0;
  g_signal_connect(settings, "changed", G_CALLBACK(save_again), value);
  g_settings_set_value(settings, "speed", value);
  g_assert_cmpint(saved, ==, 1);
  g_object_unref(settings);
  g_variant_unref(value);
}

static void every_object_on_a_path_gets_own_changes(void) {
  GSettings *settings = player(), *other = g_settings_new("org.example.kept.player");
  GString *changes = record(other, "changed");
  g_settings_set_int(settings, "volume", 7);
  g_assert_cmpstr(changes->str, ==, "changed::volume ");
  assert_int_setting(other, "volume", 7);
  wait_for_earlier_changes();
  g_assert_cmpstr(changes->str, ==, "changed::volume ");
  g_settings_reset(settings, "volume");
  g_object_unref(other), g_object_unref(settings);
}

static void values_outside_the_schema_are_refused(void) {
  GSettings *settings = player();
  g_test_expect_message("GLib-GIO", G_LOG_LEVEL_WARNING, "*loudness*range*");
  g_assert_false(g_settings_set_int(settings, "loudness", 12));
  g_test_expect_message("GLib-GIO", G_LOG_LEVEL_WARNING, "*quality*range*");
  g_assert_false(g_settings_set_string(settings, "quality", "medium"));
  g_test_assert_expected_messages();
  assert_int_setting(settings, "loudness", 5);
  g_assert_cmpstr(stored("org.example.kept.player.loudness"), ==, "absent");
  g_assert_true(g_settings_set_int(settings, "loudness", 11));
  assert_int_setting(settings, "loudness", 11);
  g_settings_reset(settings, "loudness");
  g_object_unref(settings);
}

static void everything_is_writable_where_nothing_is_locked(void) {
  GSettings *settings = player();
  g_assert_true(g_settings_is_writable(settings, "volume"));
  g_settings_sync();
  g_object_unref(settings);
}

static void the_command_lists_the_set_keys(void) {
  GSettings *settings = player();
  g_settings_set_int(settings, "volume", 33);
  char *text = gsettings_command("get", "org.example.kept.player", "volume", NULL);
  g_assert_cmpstr(text, ==, "33");
  g_free(text);
  text = gsettings_command("list-recursively", "org.example.kept.player", NULL);
  g_assert_nonnull(strstr(text, "org.example.kept.player volume 33\n"));
  g_assert_nonnull(strstr(text, "org.example.kept.player theme 'plain'\n"));
  g_free(text);
  text = gsettings_command("writable", "org.example.kept.player", "volume", NULL);
  g_assert_cmpstr(text, ==, "true");
  g_free(text);
  g_free(gsettings_command("reset-recursively", "org.example.kept.player", NULL));
  g_assert_cmpstr(stored("org.example.kept.player.volume"), ==, "absent");
  g_object_unref(settings);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/settings/an unset key has the default of the schema", an_unset_key_has_the_default_of_the_schema);
  g_test_add_func("/settings/values of each type are set and reset", values_of_each_type_are_set_and_reset);
  g_test_add_func("/settings/long text is read whole", long_text_is_read_whole);
  g_test_add_func(
    "/settings/own changes are signalled before the call returns", own_changes_are_signalled_before_the_call_returns);
  g_test_add_func("/settings/own changes are not signalled again", own_changes_are_not_signalled_again);
  g_test_add_func("/settings/setting the same value changes nothing", setting_the_same_value_changes_nothing);
  g_test_add_func("/settings/setting an equal dictionary changes nothing", setting_an_equal_dictionary_changes_nothing);
  g_test_add_func("/settings/a handler may save the new value", a_handler_may_save_the_new_value);
  g_test_add_func("/settings/every object on a path gets own changes", every_object_on_a_path_gets_own_changes);
  g_test_add_func("/settings/values outside the schema are refused", values_outside_the_schema_are_refused);
  g_test_add_func(
    "/settings/everything is writable where nothing is locked", everything_is_writable_where_nothing_is_locked);
  g_test_add_func("/settings/the command lists the set keys", the_command_lists_the_set_keys);
  return run_tests();
}
