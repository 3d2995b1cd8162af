/* Prints what a program sees of its settings in cases that went wrong once, or might. Its output is the same on every
 * backend; compare.cmake compares it, and says what the administrator has set. Dictionaries are printed with their keys
 * in order. */
#include "settings_test.h"
#include "tracing.h"
#include "variants.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define PLAYER "org.example.kept.player"
#define SITE "org.example.kept.site"

/* ------------------------------------------------------------------------------------------------------------------
 * Printing
 * --------------------------------------------------------------------------------------------------------------- */

/* As settle does, for the objects of another context; this thread's marker uses it, too. */
static void settle_in(GMainContext *context) {
  GSettings *marker = g_settings_new("org.example.kept.marker");
  GString *changes = record(marker, "changed");
  gint64 end = g_get_monotonic_time() + G_TIME_SPAN_MINUTE;
  g_free(gsettings_command("reset", "org.example.kept.marker", "number", NULL));
  g_free(gsettings_command("set", "org.example.kept.marker", "number", "1000", NULL));
  while ((changes->len == 0 || g_settings_get_int(marker, "number") != 1000) && g_get_monotonic_time() < end)
    g_main_context_iteration(context, FALSE), g_usleep(1000);
  g_object_unref(marker);
}

/* An object whose signals are printed. dconf announces everything once more if something changes before it has
 * subscribed. */
static GSettings *traced(const char *schema, const char *name) {
  GSettings *settings = g_settings_new(schema);
  settle();
  return watched(settings, name);
}

static GSettings *traced_at(const char *schema, const char *path, const char *name) {
  GSettings *settings = g_settings_new_with_path(schema, path);
  settle();
  return watched(settings, name);
}

static void print_values(GSettings *settings, const char *key) {
  GVariant *values[] = { g_settings_get_value(settings, key), g_settings_get_default_value(settings, key),
    g_settings_get_user_value(settings, key) };
  g_print("%s:", key);
  for (int i = 0; i < 3; i++) {
    char *text = text_of(values[i]);
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

static void apply(GSettings *settings) {
  g_print("apply\n");
  g_settings_apply(settings);
  g_print("returned\n");
}

static void revert(GSettings *settings) {
  g_print("revert\n");
  g_settings_revert(settings);
  g_print("returned\n");
}

/* Runs `gsettings`, and prints what it prints and how it ends. */
static void command(const char *verb, const char *schema, const char *key, const char *value) {
  const char *arguments[] = { "gsettings", verb, schema, key, value, NULL };
  char *output = NULL, *errors = NULL;
  int status = 0;
  /* dconf's writes go on after they have returned. */
  g_settings_sync();
  g_print("gsettings %s %s %s %s\n", verb, schema, key ? key : "", value ? value : "");
  g_spawn_sync(NULL, (char **)arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &errors, &status, NULL);
  g_print("  status %d, output \"%s\", errors \"%s\"\n", status, g_strchomp(output), g_strchomp(errors));
  g_free(output), g_free(errors);
  settle();
}

/* The same for a user without the administrator's locks and defaults: the values below them. */
static void command_below(const char *verb, const char *schema, const char *key, const char *value) {
  char *profile = g_strdup(g_getenv("DCONF_PROFILE")), *managed = g_strdup(g_getenv("KEPT_GSETTINGS_MANAGED")),
       *system = g_strdup(g_getenv("KEPT_GSETTINGS_SYSTEM"));
  g_setenv("DCONF_PROFILE", file_named("profile-of-user"), TRUE);
  g_setenv("KEPT_GSETTINGS_MANAGED", file_named("none.json"), TRUE);
  g_setenv("KEPT_GSETTINGS_SYSTEM", file_named("none.json"), TRUE);
  g_settings_sync();
  const char *arguments[] = { "gsettings", verb, schema, key, value, NULL };
  char *output = NULL, *errors = NULL;
  g_spawn_sync(NULL, (char **)arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &errors, NULL, NULL);
  g_print("below: %s %s %s: %s%s\n", verb, key ? key : "", value ? value : "", g_strchomp(output), g_strchomp(errors));
  g_free(output), g_free(errors);
  if (profile != NULL) g_setenv("DCONF_PROFILE", profile, TRUE);
  g_setenv("KEPT_GSETTINGS_MANAGED", managed, TRUE);
  g_setenv("KEPT_GSETTINGS_SYSTEM", system, TRUE);
  g_free(profile), g_free(managed), g_free(system);
  settle();
}

/* ------------------------------------------------------------------------------------------------------------------
 * Locks: resets are allowed, and take the value below the lock
 * --------------------------------------------------------------------------------------------------------------- */

static void a_reset_of_a_locked_key(void) {
  command_below("set", SITE, "locked", "7");
  GSettings *settings = traced(SITE, "site");
  print_values(settings, "locked");
  reset(settings, "locked");
  print_values(settings, "locked");
  settle();
  command_below("get", SITE, "locked", NULL);
  reset(settings, "locked");
  settle();
  g_object_unref(settings);
}

static void a_reset_of_a_key_that_is_only_locked(void) {
  command_below("set", SITE, "locked-only", "7");
  GSettings *settings = traced(SITE, "site");
  print_values(settings, "locked-only");
  reset(settings, "locked-only");
  print_values(settings, "locked-only");
  settle();
  command_below("get", SITE, "locked-only", NULL);
  g_object_unref(settings);
}

static void resetting_recursively_beside_a_lock(void) {
  command_below("set", SITE, "locked", "7");
  command_below("set", SITE, "preset", "7");
  command_below("set", SITE, "free", "7");
  /* Another program announces nothing where only a value below a lock has changed; on dconf it does. */
  command("reset-recursively", SITE, NULL, NULL);
  GSettings *settings = g_settings_new(SITE);
  print_values(settings, "locked"), print_values(settings, "preset"), print_values(settings, "free");
  command_below("list-recursively", SITE, NULL, NULL);
  g_object_unref(settings);
}

static void a_reset_of_a_locked_key_is_applied_with_others(void) {
  command_below("set", SITE, "locked", "7");
  GSettings *settings = traced(SITE, "site"), *other = traced(SITE, "other");
  g_settings_delay(settings);
  set(settings, "free", "5"), reset(settings, "locked");
  print_values(settings, "locked"), print_values(settings, "free");
  apply(settings);
  settle();
  print_values(other, "locked"), print_values(other, "free");
  command_below("get", SITE, "locked", NULL);
  g_object_unref(other), g_object_unref(settings);
}

static void a_reset_of_a_locked_key_without_a_value_is_applied_with_others(void) {
  GSettings *settings = traced(SITE, "site"), *other = traced(SITE, "other");
  g_settings_delay(settings);
  set(settings, "free", "5"), reset(settings, "locked"), reset(settings, "locked-only"), reset(settings, "preset");
  apply(settings);
  settle();
  print_values(other, "free");
  reset(settings, "locked"), reset(settings, "locked-only");
  apply(settings);
  settle();
  g_object_unref(other), g_object_unref(settings);
}

static void a_locked_value_keeps_others_from_being_applied(void) {
  GSettings *settings = traced(SITE, "site"), *other = traced(SITE, "other");
  g_settings_delay(settings);
  set(settings, "free", "5"), set(settings, "locked", "6"), reset(settings, "preset");
  apply(settings);
  settle();
  print_values(other, "free"), print_values(other, "locked"), print_values(settings, "free");
  revert(settings);
  print_values(settings, "free"), print_values(settings, "locked");
  settle();
  g_object_unref(other), g_object_unref(settings);
}

static void setting_locked_keys(void) {
  command_below("set", SITE, "locked", "7");
  GSettings *settings = traced(SITE, "site");
  set(settings, "locked", "1"), set(settings, "locked", "7"), set(settings, "locked", "8");
  set(settings, "locked-only", "0"), set(settings, "locked-only", "8");
  print_values(settings, "locked"), print_values(settings, "locked-only");
  settle();
  command("set", SITE, "locked", "9");
  command("writable", SITE, "locked", NULL);
  command("writable", SITE, "free", NULL);
  command("get", SITE, "locked", NULL);
  command_below("get", SITE, "locked", NULL);
  g_object_unref(settings);
}

static void a_default_of_the_administrator(void) {
  GSettings *settings = traced(SITE, "site");
  print_values(settings, "preset");
  set(settings, "preset", "2"), print_values(settings, "preset");
  set(settings, "preset", "0"), print_values(settings, "preset");
  reset(settings, "preset"), print_values(settings, "preset");
  settle();
  g_settings_delay(settings);
  set(settings, "preset", "3"), print_values(settings, "preset");
  reset(settings, "preset"), print_values(settings, "preset");
  apply(settings);
  settle();
  g_object_unref(settings);
}

static void properties_bound_to_locked_keys(void) {
  GSettings *settings = traced(SITE, "site");
  GSimpleAction *action = g_simple_action_new("act", NULL);
  g_settings_bind_writable(settings, "locked", action, "enabled", FALSE);
  g_print("enabled %d\n", g_action_get_enabled(G_ACTION(action)));
  g_settings_bind_writable(settings, "locked", action, "enabled", TRUE);
  g_print("inverted %d\n", g_action_get_enabled(G_ACTION(action)));
  g_settings_bind_writable(settings, "free", action, "enabled", FALSE);
  g_print("enabled %d\n", g_action_get_enabled(G_ACTION(action)));
  GAction *setting = g_settings_create_action(settings, "locked");
  g_print("action enabled %d\n", g_action_get_enabled(setting));
  g_action_activate(setting, g_variant_new_int32(9));
  print_values(settings, "locked");
  g_object_unref(setting), g_object_unref(action), g_object_unref(settings);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Delay, apply and revert
 * --------------------------------------------------------------------------------------------------------------- */

static void another_change_before_applying(void) {
  GSettings *settings = traced(PLAYER, "delayed"), *other = traced(PLAYER, "other");
  g_settings_delay(settings);
  set(settings, "volume", "1"), set(settings, "theme", "'dark'");
  command("set", PLAYER, "volume", "2");
  command("set", PLAYER, "theme", "'dark'");
  print_values(settings, "volume"), print_values(other, "volume");
  apply(settings);
  settle();
  print_values(other, "volume"), print_values(other, "theme");
  g_object_unref(other), g_object_unref(settings);
}

static void what_is_there_already_is_applied(void) {
  GSettings *settings = traced(PLAYER, "delayed"), *other = traced(PLAYER, "other");
  set(other, "volume", "3");
  g_settings_delay(settings);
  set(settings, "volume", "3");
  apply(settings);
  set(settings, "volume", "50");
  apply(settings);
  set(settings, "volume", "4"), set(settings, "volume", "50");
  apply(settings);
  settle();
  print_values(other, "volume");
  g_object_unref(other), g_object_unref(settings);
}

static void resets_are_applied(void) {
  GSettings *settings = traced(PLAYER, "delayed"), *other = traced(PLAYER, "other");
  set(other, "volume", "3"), set(other, "theme", "'dark'");
  g_settings_delay(settings);
  reset(settings, "volume"), reset(settings, "muted");
  print_values(settings, "volume");
  apply(settings);
  set(settings, "theme", "'light'"), reset(settings, "theme");
  apply(settings);
  reset(settings, "theme"), set(settings, "theme", "'light'");
  apply(settings);
  settle();
  print_values(other, "volume"), print_values(other, "theme");
  g_object_unref(other), g_object_unref(settings);
}

static void resets_are_reverted(void) {
  GSettings *settings = traced(PLAYER, "delayed");
  set(settings, "volume", "3");
  g_settings_delay(settings);
  reset(settings, "volume"), set(settings, "theme", "'x'"), reset(settings, "theme");
  print_values(settings, "volume");
  revert(settings);
  print_values(settings, "volume"), print_values(settings, "theme");
  apply(settings);
  settle();
  g_object_unref(settings);
}

static void an_object_that_ends_with_changes(void) {
  GSettings *settings = traced(PLAYER, "delayed"), *other = traced(PLAYER, "other");
  g_settings_delay(settings);
  set(settings, "volume", "3");
  g_object_unref(settings);
  settle();
  print_values(other, "volume");
  g_object_unref(other);
}

static void children_of_delayed_objects(void) {
  GSettings *settings = traced(PLAYER, "delayed"), *other = traced(PLAYER ".equalizer", "other");
  g_settings_delay(settings);
  GSettings *child = g_settings_get_child(settings, "equalizer");
  settle();
  watched(child, "child");
  set(child, "bass", "3");
  print_values(child, "bass"), print_values(other, "bass");
  apply(settings);
  settle();
  print_values(other, "bass");
  set(child, "bass", "4"), set(settings, "volume", "4");
  revert(settings);
  print_values(child, "bass"), print_values(settings, "volume");
  apply(child);
  settle();
  print_values(other, "bass");
  g_object_unref(child), g_object_unref(other), g_object_unref(settings);
}

static void two_delayed_objects(void) {
  GSettings *one = traced(PLAYER, "one"), *two = traced(PLAYER, "two");
  g_settings_delay(one), g_settings_delay(two);
  set(one, "volume", "1"), set(one, "theme", "'one'"), set(two, "volume", "2"), set(two, "muted", "true");
  apply(one);
  print_values(two, "volume"), print_values(two, "theme");
  apply(two);
  print_values(one, "volume"), print_values(one, "muted");
  settle();
  g_object_unref(one), g_object_unref(two);
}

static void everything_is_applied_at_once(void) {
  GSettings *settings = traced(PLAYER, "delayed"), *other = traced(PLAYER, "other");
  g_settings_delay(settings);
  set(settings, "muted", "true"), set(settings, "volume", "1"), set(settings, "loudness", "1");
  set(settings, "count", "uint32 1"), set(settings, "large", "uint64 1"), set(settings, "long", "int64 1");
  set(settings, "speed", "0.1"), set(settings, "theme", "'x'"), set(settings, "quality", "'high'");
  set(settings, "colour", "'green'"), set(settings, "days", "['wed', 'mon']"), set(settings, "recent", "['b', 'a']");
  set(settings, "position", "(2, 1)"), set(settings, "limit", "@mi nothing");
  set(settings, "extra", "{'b': <1>, 'a': <{'d': 'e', 'c': 'f'}>}"), set(settings, "anything", "<{'b': 1, 'a': 2}>");
  apply(settings);
  settle();
  print_values(other, "days"), print_values(other, "extra"), print_values(other, "anything");
  print_values(other, "limit");
  g_object_unref(other), g_object_unref(settings);
}

static void delaying_twice_and_in_the_middle(void) {
  GSettings *settings = traced(PLAYER, "delayed"), *other = traced(PLAYER, "other");
  set(settings, "volume", "1");
  g_settings_delay(settings), g_settings_delay(settings);
  set(settings, "volume", "2");
  print_values(other, "volume");
  apply(settings), revert(settings);
  print_values(other, "volume");
  settle();
  g_object_unref(other), g_object_unref(settings);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Dictionaries, lists and numbers
 * --------------------------------------------------------------------------------------------------------------- */

static void a_dictionary_is_set_again(void) {
  GSettings *settings = traced(PLAYER, "player");
  set(settings, "extra", "{'b': <1>, 'a': <2>}"), set(settings, "extra", "{'b': <1>, 'a': <2>}");
  set(settings, "extra", "{'b': <{'z': <1>, 'y': <2>}>, 'a': <2>}");
  set(settings, "extra", "{'b': <{'z': <1>, 'y': <2>}>, 'a': <2>}");
  set(settings, "anything", "<{'b': 1, 'a': 2}>"), set(settings, "anything", "<{'b': 1, 'a': 2}>");
  set(settings, "anything", "<[{'b': 1, 'a': 2}, {}]>"), set(settings, "anything", "<[{'b': 1, 'a': 2}, {}]>");
  settle();
  print_values(settings, "extra"), print_values(settings, "anything");
  g_settings_delay(settings);
  set(settings, "extra", "{'b': <{'z': <1>, 'y': <2>}>, 'a': <2>}");
  apply(settings);
  settle();
  g_object_unref(settings);
}

static void dictionaries_of_other_types(void) {
  GSettings *settings = traced(PLAYER, "player");
  static const char *const values[][2] = { { "words", "{'b': 'x', 'a': 'y'}" },
    { "words", "{'a': 'y', 'b': 'x', '': ''}" }, { "words", "{'a': 'x', 'b': 'y'}" }, { "words", "@a{ss} {}" },
    { "numbers", "{uint32 2: 'x', 1: 'y'}" }, { "numbers", "{uint32 4294967295: ''}" }, { "numbers", "@a{us} {}" },
    { "nested", "{'b': {'d': <1>, 'c': <2>}, 'a': {}}" }, { "nested", "{'a': {'$a': <{'$b': <1>}>}}" },
    { "pairs", "[('b', <{'d': 'x', 'c': 'y'}>), ('a', <1>)]" }, { "pairs", "[('b', <1>), ('b', <1>)]" },
    { "pairs", "@a(sv) []" }, { "bytes", "b'text'" }, { "bytes", "[byte 0, 255]" }, { "bytes", "@ay []" } };
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
    set(settings, values[i][0], values[i][1]), set(settings, values[i][0], values[i][1]);
    print_values(settings, values[i][0]);
  }
  command("set", PLAYER, "words", "{'b': 'x', 'a': 'y'}");
  command("set", PLAYER, "words", "{'b': 'x', 'a': 'y'}");
  g_settings_delay(settings);
  set(settings, "words", "{'b': 'x', 'a': 'y'}"), reset(settings, "nested"), reset(settings, "bytes");
  apply(settings);
  set(settings, "words", "{'a': 'x'}"), set(settings, "pairs", "[('x', <'y'>)]");
  revert(settings);
  settle();
  print_values(settings, "words"), print_values(settings, "pairs");
  g_object_unref(settings);
}

static void odd_dictionaries(void) {
  GSettings *settings = traced(PLAYER, "player");
  static const char *const values[] = { "@a{sv} {}", "{'': <''>}", "{'$a': <1>, '$': <2>}", "{'$literal': <1>}",
    "{'type': <'u'>, 'value': <1>}", "{'a': <1>, 'a': <2>}", "{'b': <1>, 'a': <2>, 'b': <1>}",
    "{'ä': <1>, 'a\\u0308': <2>, 'Z': <3>}", "{'x': <@a{ss} {}>, 'y': <@as []>, 'w': <@mi nothing>}",
    "{'x': <b'bytes'>, 'y': <objectpath '/a'>, 'w': <signature 'as'>, 'v': <handle 3>}" };
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
    set(settings, "extra", values[i]), set(settings, "extra", values[i]);
    print_values(settings, "extra");
  }
  settle();
  static const char *const variants[] = { "<<1>>", "<<<'a'>>>", "<uint32 1>", "<int64 1>", "<byte 1>", "<1.0>", "<()>",
    "<(1,)>", "<@mms just nothing>", "<@mms nothing>", "<{1: 'b', 0: 'a'}>", "<[<1>, <'a'>]>", "<{'type': 'u'}>",
    "<{'type': <'u'>, 'value': <1>}>", "<@av []>", "<@a{sv} {}>", "<'\\u0001\\u007f\\u2028'>" };
  for (gsize i = 0; i < G_N_ELEMENTS(variants); i++) {
    set(settings, "anything", variants[i]), set(settings, "anything", variants[i]);
    print_values(settings, "anything");
  }
  settle();
  g_object_unref(settings);
}

static void lists(void) {
  GSettings *settings = traced(PLAYER, "player");
  static const char *const values[] = { "['a', 'b']", "['b', 'a']", "['a', 'a']", "['']", "@as []",
    "['\\u00e4', 'a\\u0308']", "['\"', '\\\\', '\\n']" };
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
    set(settings, "recent", values[i]), set(settings, "recent", values[i]);
    print_values(settings, "recent");
  }
  set(settings, "days", "['mon', 'tue']"), set(settings, "days", "['tue', 'mon']"), set(settings, "days", "@as []");
  g_print("flags %u\n", g_settings_get_flags(settings, "days"));
  g_print("flags %d\n", g_settings_set_flags(settings, "days", 6));
  g_print("enum %d\n", g_settings_set_enum(settings, "colour", 7));
  print_values(settings, "days"), print_values(settings, "colour");
  settle();
  g_object_unref(settings);
}

static void large_values(void) {
  GSettings *settings = traced(PLAYER, "player");
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE_STRING_ARRAY);
  for (int i = 0; i < 20000; i++) {
    char *text = g_strdup_printf("entry %d", 20000 - i);
    g_variant_builder_add(&builder, "s", text);
    g_free(text);
  }
  g_print("list %d\n", g_settings_set_value(settings, "recent", g_variant_builder_end(&builder)));
  g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
  for (int i = 0; i < 5000; i++) {
    char *key = g_strdup_printf("key %d", 5000 - i);
    g_variant_builder_add(&builder, "{sv}", key, g_variant_new_int32(i));
    g_free(key);
  }
  g_print("dictionary %d\n", g_settings_set_value(settings, "extra", g_variant_builder_end(&builder)));
  for (gsize length = 100000; length <= 200000; length += 10000) {
    char *text = g_strnfill(length, 'x');
    g_print("text %d\n", g_settings_set_string(settings, "theme", text));
    g_free(text);
  }
  settle();
  print_values(settings, "recent"), print_values(settings, "extra"), print_values(settings, "theme");
  g_object_unref(settings);
}

static void set_double(GSettings *settings, double number) {
  g_print("set to %a\n", number);
  g_print("returned %d\n", g_settings_set_double(settings, "speed", number));
}

static void numbers(void) {
  GSettings *settings = traced(PLAYER, "player");
  double values[] = { 0.0, -0.0, 1.0, 1e300, 5e-324, 0.1, 1e16, 1e22, INFINITY, -INFINITY, NAN, 1.5, -NAN };
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) set_double(settings, values[i]), set_double(settings, values[i]);
  settle();
  static const char *const longs[] = { "int64 9223372036854775807", "int64 -9223372036854775808",
    "int64 9007199254740993", "int64 0" };
  for (gsize i = 0; i < G_N_ELEMENTS(longs); i++) set(settings, "long", longs[i]), print_values(settings, "long");
  set(settings, "large", "uint64 9223372036854775808"), set(settings, "large", "uint64 9223372036854775808");
  print_values(settings, "large");
  settle();
  g_object_unref(settings);
}

static void texts(void) {
  GSettings *settings = traced(PLAYER, "player");
  static const char *const values[] = { "", " ", "\n\t\"\\'", "\x01\x1f\x7f", "ä", "a\xcc\x88", "\xe2\x80\xa8",
    "\xf0\x9f\x98\x80", "\xef\xbb\xbf", "null", "{\"$date\":1}", "0" };
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
    g_print("set %zu: %d\n", i, g_settings_set_string(settings, "theme", values[i]));
    g_print("again %zu: %d\n", i, g_settings_set_string(settings, "theme", values[i]));
  }
  settle();
  g_object_unref(settings);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Handlers
 * --------------------------------------------------------------------------------------------------------------- */

static int calls;

static void save_again(GSettings *settings, const char *key, gpointer text) {
  if (++calls > 50) return;
  g_settings_set_value(settings, key, g_variant_new_parsed(text));
}

static void save_key_again(const char *key, const char *value, const char *saved) {
  GSettings *settings = g_settings_new(PLAYER);
  char *signal = g_strconcat("changed::", key, NULL);
  settle();
  calls = 0;
  g_signal_connect(settings, signal, G_CALLBACK(save_again), (gpointer)saved);
  g_settings_set_value(settings, key, g_variant_new_parsed(value));
  g_print("%s: %d calls\n", key, calls);
  settle();
  print_values(settings, key);
  g_free(signal);
  g_object_unref(settings);
}

static void a_handler_that_saves_what_it_was_told_of(void) {
  save_key_again("volume", "3", "3");
  save_key_again("volume", "4", "5");
  save_key_again("speed", "0.5", "0.5");
  save_key_again("theme", "'a'", "'b'");
  save_key_again("recent", "['b', 'a']", "['b', 'a']");
  save_key_again("extra", "{'b': <1>, 'a': <2>}", "{'b': <1>, 'a': <2>}");
  save_key_again("words", "{'b': 'x', 'a': 'y'}", "{'b': 'x', 'a': 'y'}");
  save_key_again("nested", "{'b': {'d': <1>, 'c': <2>}, 'a': {}}", "{'b': {'d': <1>, 'c': <2>}, 'a': {}}");
  save_key_again("extra", "{'d': <{'z': <1>, 'y': <2>}>}", "{'d': <{'z': <1>, 'y': <2>}>}");
  save_key_again("anything", "<{'b': 'x', 'a': 'y'}>", "<{'b': 'x', 'a': 'y'}>");
  save_key_again("anything", "<{'b': <'x'>, 'a': <{'d': 1, 'c': 2}>}>", "<{'b': <'x'>, 'a': <{'d': 1, 'c': 2}>}>");
}

static void save_nan(GSettings *settings, const char *key, gpointer unused) {
  if (++calls <= 50) g_settings_set_double(settings, key, -NAN);
}

static void a_handler_that_saves_what_is_not_a_number(void) {
  GSettings *settings = g_settings_new(PLAYER);
  settle();
  calls = 0;
  g_signal_connect(settings, "changed::speed", G_CALLBACK(save_nan), NULL);
  g_settings_set_double(settings, "speed", -NAN);
  g_print("%d calls\n", calls);
  settle();
  g_object_unref(settings);
}

static void set_other(GSettings *settings, const char *key, gpointer unused) {
  g_settings_set_int(settings, "loudness", g_settings_get_int(settings, "volume") % 11);
}

static void reset_it(GSettings *settings, const char *key, gpointer unused) { g_settings_reset(settings, key); }

static void end_it(GSettings *settings, const char *key, gpointer other) {
  g_signal_handlers_disconnect_by_data(settings, other);
  g_object_unref(*(GSettings **)other);
}

static void handlers_that_do_other_things(void) {
  GSettings *settings = traced(PLAYER, "player");
  gulong handler = g_signal_connect(settings, "changed::volume", G_CALLBACK(set_other), NULL);
  set(settings, "volume", "14");
  command("set", PLAYER, "volume", "16");
  print_values(settings, "loudness");
  g_signal_handler_disconnect(settings, handler);
  handler = g_signal_connect(settings, "changed::theme", G_CALLBACK(reset_it), NULL);
  set(settings, "theme", "'x'");
  print_values(settings, "theme");
  command("set", PLAYER, "theme", "'y'");
  print_values(settings, "theme");
  g_signal_handler_disconnect(settings, handler);
  GSettings *other = g_settings_new(PLAYER);
  g_signal_connect(settings, "changed::count", G_CALLBACK(end_it), &other);
  set(settings, "count", "uint32 9");
  settle();
  g_object_unref(settings);
}

static void apply_it(GSettings *settings, const char *key, gpointer delayed) { g_settings_apply(delayed); }

static void a_handler_that_applies(void) {
  GSettings *settings = traced(PLAYER, "player"), *delayed = traced(PLAYER, "delayed");
  g_settings_delay(delayed);
  set(delayed, "theme", "'x'"), set(delayed, "volume", "2");
  g_signal_connect(settings, "changed::muted", G_CALLBACK(apply_it), delayed);
  set(settings, "muted", "true");
  settle();
  print_values(settings, "theme"), print_values(settings, "volume");
  g_object_unref(delayed), g_object_unref(settings);
}

static void everything_of_a_large_schema_is_reset(void) {
  GSettings *settings = g_settings_new("org.example.kept.many");
  g_settings_delay(settings);
  /* A program on dconf aborts at 256. */
  for (int i = 1; i <= 200; i++) {
    char *key = g_strdup_printf("key-%d", i);
    g_settings_set_int(settings, key, i);
    g_free(key);
  }
  g_settings_apply(settings);
  settle();
  command("get", "org.example.kept.many", "key-200", NULL);
  command("reset-recursively", "org.example.kept.many", NULL, NULL);
  print_values(settings, "key-200");
  g_object_unref(settings);
}

static gpointer follow_in_thread(gpointer is_ready) {
  GMainContext *context = g_main_context_new();
  g_main_context_push_thread_default(context);
  GSettings *settings = g_settings_new(PLAYER);
  GString *changes = record(settings, "changed");
  settle_in(context);
  g_string_truncate(changes, 0);
  g_async_queue_push(is_ready, is_ready);
  gint64 end = g_get_monotonic_time() + G_TIME_SPAN_MINUTE;
  while (changes->len == 0 && g_get_monotonic_time() < end) g_main_context_iteration(context, FALSE), g_usleep(1000);
  char *text = g_strdup_printf("%s, now %d", changes->str, g_settings_get_int(settings, "volume"));
  g_object_unref(settings);
  g_main_context_pop_thread_default(context);
  g_main_context_unref(context);
  return text;
}

static void an_object_in_a_context_of_its_own(void) {
  GAsyncQueue *is_ready = g_async_queue_new();
  GThread *thread = g_thread_new(NULL, follow_in_thread, is_ready);
  g_async_queue_pop(is_ready);
  g_free(gsettings_command("set", PLAYER, "volume", "12", NULL));
  char *text = g_thread_join(thread);
  g_print("in the thread: %s\n", text);
  g_free(text);
  g_async_queue_unref(is_ready);
}

static gpointer set_in_thread(gpointer unused) {
  GSettings *settings = g_settings_new(PLAYER);
  g_print("thread: %d\n", g_settings_set_int(settings, "volume", 9));
  g_object_unref(settings);
  return NULL;
}

static void a_change_in_another_thread(void) {
  GSettings *settings = traced(PLAYER, "player");
  g_thread_join(g_thread_new(NULL, set_in_thread, NULL));
  print_values(settings, "volume");
  settle();
  g_object_unref(settings);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Relocatable schemas and nested paths
 * --------------------------------------------------------------------------------------------------------------- */

static void relocatable_schemas(void) {
  static const char *const paths[] = { "/org/example/kept/a/", "/org/example/kept/a/:b1dcc9dd-5262-4d8d/",
    "/org/example/kept/v1.2/", "/org/example/kept/50%25/", "/org/example/kept/\xc3\xa4 \xf0\x9f\x98\x80/", "/a/", "/",
    "/org.example/kept/", "/org/example.kept/" };
  GSettings *objects[G_N_ELEMENTS(paths)];
  for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) {
    objects[i] = traced_at("org.example.kept.profile", paths[i], paths[i]);
    char *name = g_strdup_printf("'%zu'", i);
    set(objects[i], "name", name);
    g_free(name);
  }
  settle();
  for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) {
    char *schema = g_strconcat("org.example.kept.profile:", paths[i], NULL);
    print_values(objects[i], "name");
    command("get", schema, "name", NULL);
    command("set", schema, "age", "7");
    command("reset-recursively", schema, NULL, NULL);
    g_free(schema);
    g_object_unref(objects[i]);
  }
}

static void two_objects_on_one_path(void) {
  GSettings *one = traced_at("org.example.kept.profile", "/org/example/kept/shared/", "one"),
            *two = traced_at("org.example.kept.profile", "/org/example/kept/shared/", "two"),
            *below = traced_at("org.example.kept.profile", "/org/example/kept/shared/name/", "below");
  set(one, "name", "'x'"), set(below, "name", "'y'"), reset(two, "name");
  command("set", "org.example.kept.profile:/org/example/kept/shared/", "name", "z");
  command("set", "org.example.kept.profile:/org/example/kept/shared/name/", "name", "z");
  reset(one, "name"), reset(below, "name");
  settle();
  g_object_unref(below), g_object_unref(two), g_object_unref(one);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The command
 * --------------------------------------------------------------------------------------------------------------- */

static void the_command(void) {
  command("set", PLAYER, "volume", "7");
  command("get", PLAYER, "volume", NULL);
  command("set", PLAYER, "loudness", "12");
  command("set", PLAYER, "quality", "medium");
  command("set", PLAYER, "extra", "{'b': <1>, 'a': <2>}");
  command("set", PLAYER, "nothing", "1");
  command("get", PLAYER, "nothing", NULL);
  command("set", PLAYER, "volume", "'text'");
  command("range", PLAYER, "loudness", NULL);
  command("reset", PLAYER, "volume", NULL);
  command("reset", PLAYER, "volume", NULL);
  command("get", PLAYER, "volume", NULL);
  command("reset-recursively", PLAYER, NULL, NULL);
  command("list-recursively", PLAYER, NULL, NULL);
  command("list-recursively", SITE, NULL, NULL);
  command("writable", PLAYER, "volume", NULL);
}

static void values_of_other_types(void) {
  GSettings *number = traced_at("org.example.kept.profile", "/org/example/kept/odd/", "number"),
            *text = traced_at("org.example.kept.profile.text", "/org/example/kept/odd/", "text");
  set(text, "age", "'7'");
  print_values(number, "age");
  set(number, "age", "7");
  print_values(text, "age");
  command("get", "org.example.kept.profile.text:/org/example/kept/odd/", "age", NULL);
  reset(text, "age");
  settle();
  g_object_unref(text), g_object_unref(number);
}

static void mapped_values(void) {
  GSettings *settings = traced(PLAYER, "player");
  GSimpleAction *action = g_simple_action_new("act", NULL);
  g_settings_bind(settings, "muted", action, "enabled", G_SETTINGS_BIND_GET | G_SETTINGS_BIND_SET);
  set(settings, "muted", "true");
  g_simple_action_set_enabled(action, FALSE);
  print_values(settings, "muted");
  g_settings_unbind(action, "enabled");
  g_simple_action_set_enabled(action, TRUE);
  print_values(settings, "muted");
  GAction *setting = g_settings_create_action(settings, "volume");
  g_action_change_state(setting, g_variant_new_int32(5));
  print_values(settings, "volume");
  GSettings *delayed = traced(PLAYER, "delayed");
  g_settings_delay(delayed);
  g_settings_bind(delayed, "muted", action, "enabled", G_SETTINGS_BIND_DEFAULT);
  g_simple_action_set_enabled(action, !g_action_get_enabled(G_ACTION(action)));
  print_values(delayed, "muted"), print_values(settings, "muted");
  apply(delayed);
  print_values(settings, "muted");
  settle();
  g_object_unref(delayed), g_object_unref(setting), g_object_unref(action), g_object_unref(settings);
}

/* ------------------------------------------------------------------------------------------------------------------
 * A store that is removed while the program runs
 * --------------------------------------------------------------------------------------------------------------- */

static void remove_store(void) {
  char *kept = g_build_filename(g_getenv("XDG_CONFIG_HOME"), "kept", NULL),
       *dconf = g_build_filename(g_getenv("XDG_CONFIG_HOME"), "dconf", NULL);
  g_settings_sync();
  g_print("the store is removed\n");
  remove_folder(kept);
  remove_folder(dconf);
  g_free(kept), g_free(dconf);
}

static void a_set_after_the_store_was_removed(void) {
  GSettings *settings = g_settings_new(PLAYER);
  g_settings_set_int(settings, "volume", 3);
  settle();
  remove_store();
  set(settings, "volume", "4");
  print_values(settings, "volume");
  command("get", PLAYER, "volume", NULL);
  set(settings, "volume", "5");
  command("get", PLAYER, "volume", NULL);
  command("set", PLAYER, "volume", "6");
  print_values(settings, "volume");
  g_object_unref(settings);
}

static void an_object_that_is_made_after_the_store_was_removed(void) {
  GSettings *settings = g_settings_new(PLAYER);
  g_settings_set_int(settings, "volume", 3);
  g_object_unref(settings);
  remove_store();
  settings = traced(PLAYER, "new");
  set(settings, "theme", "'x'");
  command("get", PLAYER, "theme", NULL);
  command("set", PLAYER, "theme", "y");
  g_object_unref(settings);
}

static void an_application_after_the_store_was_removed(void) {
  GSettings *settings = g_settings_new(PLAYER);
  g_settings_set_int(settings, "volume", 3);
  settle();
  g_settings_delay(settings);
  set(settings, "volume", "4"), set(settings, "theme", "'x'");
  remove_store();
  apply(settings);
  command("get", PLAYER, "volume", NULL);
  command("get", PLAYER, "theme", NULL);
  g_object_unref(settings);
}

static void another_program_makes_a_new_store(void) {
  GSettings *settings = g_settings_new(PLAYER);
  GString *changes = record(settings, "changed::volume");
  g_settings_set_int(settings, "volume", 3);
  settle();
  g_string_truncate(changes, 0);
  remove_store();
  g_free(gsettings_command("set", PLAYER, "volume", "9", NULL));
  WAIT_UNTIL(changes->len > 0 && g_settings_get_int(settings, "volume") == 9);
  settle();
  print_values(settings, "volume");
  g_object_unref(settings);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Running
 * --------------------------------------------------------------------------------------------------------------- */

static void reset_everything(void) {
  static const char *const schemas[] = { PLAYER, PLAYER ".equalizer", SITE, NULL };
  for (gsize i = 0; schemas[i] != NULL; i++) {
    GSettings *settings = g_settings_new(schemas[i]);
    reset_all(settings);
    g_object_unref(settings);
  }
  settle();
}

#define CASE(function) { #function, function }

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
  CASE(a_reset_of_a_locked_key),
  CASE(a_reset_of_a_key_that_is_only_locked),
  CASE(resetting_recursively_beside_a_lock),
  CASE(a_reset_of_a_locked_key_is_applied_with_others),
  CASE(a_reset_of_a_locked_key_without_a_value_is_applied_with_others),
  CASE(a_locked_value_keeps_others_from_being_applied),
  CASE(setting_locked_keys),
  CASE(a_default_of_the_administrator),
  CASE(properties_bound_to_locked_keys),
  CASE(another_change_before_applying),
  CASE(what_is_there_already_is_applied),
  CASE(resets_are_applied),
  CASE(resets_are_reverted),
  CASE(an_object_that_ends_with_changes),
  CASE(children_of_delayed_objects),
  CASE(two_delayed_objects),
  CASE(everything_is_applied_at_once),
  CASE(delaying_twice_and_in_the_middle),
  CASE(a_dictionary_is_set_again),
  CASE(dictionaries_of_other_types),
  CASE(odd_dictionaries),
  CASE(lists),
  CASE(large_values),
  CASE(numbers),
  CASE(texts),
  CASE(a_handler_that_saves_what_it_was_told_of),
  CASE(a_handler_that_saves_what_is_not_a_number),
  CASE(handlers_that_do_other_things),
  CASE(a_handler_that_applies),
  CASE(a_change_in_another_thread),
  CASE(an_object_in_a_context_of_its_own),
  CASE(everything_of_a_large_schema_is_reset),
  CASE(relocatable_schemas),
  CASE(two_objects_on_one_path),
  CASE(the_command),
  CASE(values_of_other_types),
  CASE(mapped_values),
  CASE(a_set_after_the_store_was_removed),
  CASE(an_application_after_the_store_was_removed),
  CASE(an_object_that_is_made_after_the_store_was_removed),
  CASE(another_program_makes_a_new_store),
};

/* Runs the cases that the arguments name, or all. */
int main(int argc, char **argv) {
  set_up(&argc, &argv);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    if (argc > 1 && !g_strv_contains((const char *const *)argv + 1, cases[i].name)) continue;
    reset_everything();
    g_print("== %s\n", cases[i].name);
    cases[i].run();
  }
  return run_tests();
}
