/* Prints what a program sees of its settings: values, results and signals in their order. Its output is the same on
 * every backend. compare.cmake says what the administrator has set, and gives the seed of the random part. */
#include "settings_test.h"
#include "tracing.h"

#include <string.h>

#define PLAYER "org.example.kept.player"

/* dconf announces everything once more if something changes before it has subscribed. */
static GSettings *traced(GSettings *settings, const char *name) {
  settle();
  return watched(settings, name);
}

static void print_values(GSettings *settings, const char *key) {
  GVariant *values[] = { g_settings_get_value(settings, key), g_settings_get_default_value(settings, key),
    g_settings_get_user_value(settings, key) };
  g_print("%s:", key);
  for (int i = 0; i < 3; i++) {
    char *text = values[i] != NULL ? g_variant_print(values[i], TRUE) : g_strdup("none");
    g_print(" %s", text);
    g_free(text);
    if (values[i] != NULL) g_variant_unref(values[i]);
  }
  g_print(" writable %d\n", g_settings_is_writable(settings, key));
}

static void set(GSettings *settings, const char *key, const char *text) {
  g_print("set %s %s\n", key, text);
  g_print("returned %d\n", g_settings_set_value(settings, key, g_variant_new_parsed(text)));
}

static void reset(GSettings *settings, const char *key) {
  g_print("reset %s\n", key);
  g_settings_reset(settings, key);
  g_print("returned\n");
}

static void elsewhere(const char *verb, const char *schema, const char *key, const char *value) {
  g_print("elsewhere: %s %s %s\n", verb, key, value != NULL ? value : "");
  /* dconf's writes go on after they have returned. */
  g_settings_sync();
  g_free(gsettings_command(verb, schema, key, value, NULL));
  settle();
}

static void trace_own_changes(void) {
  GSettings *settings = traced(g_settings_new(PLAYER), "first"), *second = traced(g_settings_new(PLAYER), "second");
  static const char *const keys[] = { "muted", "volume", "count", "large", "long", "speed", "theme", "quality",
    "colour", "days", "recent", "position", "limit", "extra", "anything" };
  static const char *const values[] = { "true", "-7", "uint32 7", "uint64 18446744073709551615", "int64 -7", "1e300",
    "'dark'", "'high'", "'blue'", "['tue', 'wed']", "['a', '', 'a']", "(-1, 1)", "just 0",
    "{'a': <uint32 1>, 'b': <['x']>}", "<@ms nothing>" };
  for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) set(settings, keys[i], values[i]), print_values(second, keys[i]);
  set(settings, "volume", "8");
  set(settings, "volume", "8");
  settle();
  for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) reset(settings, keys[i]), print_values(second, keys[i]);
  reset(settings, "volume");
  settle();
  g_object_unref(second), g_object_unref(settings);
}

static void trace_other_changes(void) {
  GSettings *settings = traced(g_settings_new(PLAYER), "player"),
            *inner = traced(g_settings_new(PLAYER ".equalizer"), "equalizer");
  elsewhere("set", PLAYER, "volume", "12");
  elsewhere("set", PLAYER, "theme", "light");
  elsewhere("set", PLAYER ".equalizer", "volume", "3");
  elsewhere("reset", PLAYER, "volume", NULL);
  set(inner, "bass", "4");
  set(settings, "volume", "5");
  elsewhere("reset-recursively", PLAYER, NULL, NULL);
  print_values(settings, "volume"), print_values(settings, "theme"), print_values(inner, "volume");
  g_object_unref(inner), g_object_unref(settings);
}

static void trace_applying(void) {
  GSettings *settings = traced(g_settings_new(PLAYER), "delayed"), *other = traced(g_settings_new(PLAYER), "other");
  g_settings_delay(settings);
  set(settings, "volume", "1"), set(settings, "theme", "'dark'"), set(settings, "muted", "true");
  print_values(settings, "volume"), print_values(other, "volume");
  g_print("apply\n"), g_settings_apply(settings), g_print("returned\n");
  settle();
  set(settings, "volume", "2"), reset(settings, "theme");
  g_print("revert\n"), g_settings_revert(settings), g_print("returned\n");
  print_values(settings, "volume"), print_values(settings, "theme");
  reset(settings, "theme"), set(settings, "loudness", "3");
  elsewhere("set", PLAYER, "loudness", "9");
  print_values(settings, "loudness"), print_values(other, "loudness");
  g_print("apply\n"), g_settings_apply(settings), g_print("returned\n");
  settle();
  print_values(other, "loudness"), print_values(other, "theme");
  g_print("apply\n"), g_settings_apply(settings), g_print("returned\n");
  set(other, "volume", "4"), set(settings, "volume", "4"), set(settings, "count", "uint32 4"), reset(settings, "theme");
  g_print("apply partly equal values\n"), g_settings_apply(settings), g_print("returned\n");
  settle();
  set(settings, "volume", "4"), reset(settings, "theme");
  g_print("apply equal values\n"), g_settings_apply(settings), g_print("returned\n");
  settle();
  g_object_unref(settings);
  reset_all(other);
  settle();
  g_object_unref(other);
}

/* Two schemas that take one setting for different types. */
static void trace_wrong_types(void) {
  GSettings *number =
              traced(g_settings_new_with_path("org.example.kept.profile", "/org/example/kept/odd.path/:x/"), "number"),
            *text = traced(
              g_settings_new_with_path("org.example.kept.profile.text", "/org/example/kept/odd.path/:x/"), "text");
  set(number, "age", "5");
  print_values(text, "age");
  set(text, "age", "'old'");
  print_values(number, "age");
  reset(number, "age");
  settle();
  g_object_unref(text), g_object_unref(number);
}

static void trace_layers(void) {
  GSettings *settings = traced(g_settings_new("org.example.kept.site"), "site");
  print_values(settings, "locked"), print_values(settings, "locked-only"), print_values(settings, "preset"),
    print_values(settings, "free");
  set(settings, "locked", "9"), set(settings, "locked-only", "9");
  set(settings, "preset", "9");
  print_values(settings, "locked"), print_values(settings, "locked-only"), print_values(settings, "preset");
  reset(settings, "locked"), reset(settings, "preset");
  settle();
  print_values(settings, "preset");
  g_settings_delay(settings);
  set(settings, "free", "5"), set(settings, "preset", "5");
  g_print("apply\n"), g_settings_apply(settings), g_print("returned\n");
  settle();
  set(settings, "free", "6"), set(settings, "locked", "6");
  print_values(settings, "locked"), print_values(settings, "free");
  g_print("apply\n"), g_settings_apply(settings), g_print("returned\n");
  settle();
  print_values(settings, "locked"), print_values(settings, "free");
  g_object_unref(settings);
}

static void trace_bindings(void) {
  GSettings *settings = traced(g_settings_new(PLAYER), "bound");
  GSimpleAction *action = g_simple_action_new("act", NULL), *other = g_simple_action_new("act", NULL);
  g_settings_bind(settings, "muted", action, "enabled", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind(settings, "muted", other, "enabled", G_SETTINGS_BIND_INVERT_BOOLEAN);
  for (int i = 0; i < 4; i++) {
    g_print("enabled %d\n", i % 2);
    g_simple_action_set_enabled(i < 2 ? action : other, i % 2);
    g_print("%d %d\n", g_action_get_enabled(G_ACTION(action)), g_action_get_enabled(G_ACTION(other)));
  }
  elsewhere("set", PLAYER, "muted", "true");
  g_print("%d %d\n", g_action_get_enabled(G_ACTION(action)), g_action_get_enabled(G_ACTION(other)));
  reset(settings, "muted");
  settle();
  g_object_unref(other), g_object_unref(action), g_object_unref(settings);
}

enum { operations = 400 };

/* What three objects see of operations at random. Two of the objects set first and apply later. */
static void trace_random_operations(guint32 seed) {
  static const char *const keys[] = { "volume", "theme", "recent" };
  static const char *const values[][3] = { { "1", "2", "50" }, { "'a'", "'b'", "'plain'" },
    { "['a']", "['b']", "@as []" } };
  GSettings *objects[] = { traced(g_settings_new(PLAYER), "plain"), traced(g_settings_new(PLAYER), "delayed"),
    traced(g_settings_new(PLAYER), "also delayed") };
  GRand *random = g_rand_new_with_seed(seed);
  g_settings_delay(objects[1]), g_settings_delay(objects[2]);
  for (int i = 0; i < operations; i++) {
    int which = g_rand_int_range(random, 0, 3), key = g_rand_int_range(random, 0, 3),
        operation = g_rand_int_range(random, 0, 12);
    g_print("object %d: ", which);
    if (operation < 6) set(objects[which], keys[key], values[key][g_rand_int_range(random, 0, 3)]);
    else if (operation < 8) reset(objects[which], keys[key]);
    else if (operation < 10) g_print("apply\n"), g_settings_apply(objects[which]), g_print("applied\n");
    else if (operation == 10) g_print("revert\n"), g_settings_revert(objects[which]), g_print("reverted\n");
    else g_print("read\n"), print_values(objects[which], keys[key]);
  }
  for (int i = 0; i < 3; i++) {
    g_settings_revert(objects[i]);
    for (int key = 0; key < 3; key++) print_values(objects[i], keys[key]);
  }
  settle();
  g_rand_free(random);
  for (int i = 0; i < 3; i++) g_object_unref(objects[i]);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  trace_own_changes();
  trace_other_changes();
  trace_applying();
  trace_wrong_types();
  trace_layers();
  trace_bindings();
  trace_random_operations(argc > 1 ? (guint32)g_ascii_strtoull(argv[1], NULL, 10) : 0);
  return run_tests();
}
