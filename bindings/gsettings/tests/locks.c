/* What the administrator locks while a program runs. */
#define G_SETTINGS_ENABLE_BACKEND
#include "settings_test.h"

#include <gio/gsettingsbackend.h>
#include <string.h>

#define PLAYER "org.example.kept.player"

static void manage(const char *json) { put_file(g_getenv("KEPT_GSETTINGS_MANAGED"), json); }

/* Unlocks everything, and waits until the program has noticed. */
static GSettings *unlocked_player(void) {
  GSettings *settings = g_settings_new(PLAYER);
  manage("{}");
  WAIT_UNTIL(g_settings_is_writable(settings, "volume") && g_settings_is_writable(settings, "theme"));
  reset_all(settings);
  return settings;
}

static void locks_and_unlocks_are_signalled(void) {
  GSettings *settings = unlocked_player();
  GString *locks = record(settings, "writable-changed::volume");
  g_settings_set_int(settings, "volume", 10);
  manage("{\"locked\":[\"" PLAYER ".volume\"]}");
  WAIT_UNTIL(locks->len > 0);
  g_assert_false(g_settings_is_writable(settings, "volume"));
  g_assert_true(g_settings_is_writable(settings, "theme"));
  gsize length = locks->len;
  manage("{}");
  WAIT_UNTIL(locks->len > length);
  g_assert_true(g_settings_is_writable(settings, "volume"));
  assert_int_setting(settings, "volume", 10);
  g_object_unref(settings);
}

static void a_lock_on_a_setting_that_is_not_set_is_signalled_too(void) {
  GSettings *settings = unlocked_player();
  GString *locks = record(settings, "writable-changed::theme"), *changes = record(settings, "changed");
  manage("{\"locked\":[\"" PLAYER ".theme\"]}");
  WAIT_UNTIL(locks->len > 0);
  g_assert_false(g_settings_is_writable(settings, "theme"));
  g_assert_cmpstr(changes->str, ==, "");
  g_object_unref(settings);
}

static void a_lock_hides_the_value_of_the_user(void) {
  GSettings *settings = unlocked_player();
  g_settings_set_int(settings, "volume", 10);
  GString *changes = record(settings, "changed::volume");
  manage("{\"locked\":[\"" PLAYER ".volume\"]}");
  WAIT_UNTIL(changes->len > 0);
  assert_int_setting(settings, "volume", 50);
  g_object_unref(settings);
}

static void a_locked_key_cannot_be_set(void) {
  GSettings *settings = unlocked_player();
  g_settings_set_int(settings, "volume", 10);
  manage("{\"values\":{\"" PLAYER ".volume\":30}}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "volume"));
  GString *changes = record(settings, "changed");
  wait_for_earlier_changes();
  g_string_truncate(changes, 0);
  g_assert_false(g_settings_set_int(settings, "volume", 20));
  g_assert_false(g_settings_set_int(settings, "volume", 10));
  g_assert_false(g_settings_set_int(settings, "volume", 30));
  assert_int_setting(settings, "volume", 30);
  g_assert_cmpstr(changes->str, ==, "");
  manage("{}");
  WAIT_UNTIL(g_settings_get_int(settings, "volume") == 10);
  g_object_unref(settings);
}

static void locked_prefixes_lock_paths(void) {
  GSettings *settings = unlocked_player(), *inner = g_settings_new(PLAYER ".equalizer");
  manage("{\"lockedPrefixes\":[\"" PLAYER ".equalizer.\"]}");
  WAIT_UNTIL(!g_settings_is_writable(inner, "bass"));
  g_assert_false(g_settings_is_writable(inner, "volume"));
  g_assert_true(g_settings_is_writable(settings, "volume"));
  g_object_unref(inner), g_object_unref(settings);
}

static void nothing_is_applied_if_one_setting_is_locked(void) {
  GSettings *settings = unlocked_player();
  manage("{\"values\":{\"" PLAYER ".theme\":\"site\"}}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "theme"));
  wait_for_earlier_changes();
  GSettings *other = g_settings_new(PLAYER);
  GString *changes = record(other, "changed");
  g_settings_delay(settings);
  g_settings_set_int(settings, "volume", 1);
  g_settings_set_string(settings, "theme", "dark");
  g_settings_set_boolean(settings, "muted", TRUE);
  guint64 revision = store_revision();
  g_settings_apply(settings);
  g_assert_cmpuint(store_revision(), ==, revision);
  g_assert_cmpstr(changes->str, ==, "");
  assert_int_setting(other, "volume", 50);
  assert_text(other, "theme", "site");
  g_object_unref(other), g_object_unref(settings);
}

/* Locks a volume that the user has set. */
static GSettings *locked_player(void) {
  GSettings *settings = unlocked_player();
  g_settings_set_int(settings, "volume", 10);
  manage("{\"values\":{\"" PLAYER ".volume\":30}}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "volume"));
  wait_for_earlier_changes();
  return settings;
}

static void a_reset_removes_the_value_below_the_lock(void) {
  GSettings *settings = locked_player();
  guint64 revision = store_revision();
  g_settings_reset(settings, "volume");
  g_assert_cmpstr(stored(PLAYER ".volume"), ==, "absent");
  g_assert_cmpuint(store_revision(), ==, revision + 1);
  assert_int_setting(settings, "volume", 30);
  g_assert_null(g_settings_get_user_value(settings, "volume"));
  g_settings_reset(settings, "volume");
  g_assert_cmpuint(store_revision(), ==, revision + 1);
  manage("{}");
  WAIT_UNTIL(g_settings_get_int(settings, "volume") == 50);
  g_object_unref(settings);
}

static void a_reset_of_a_locked_setting_is_applied_with_others(void) {
  GSettings *settings = locked_player(), *other = g_settings_new(PLAYER);
  GString *changes = record(other, "change-event");
  g_settings_delay(settings);
  g_settings_set_string(settings, "theme", "dark");
  g_settings_reset(settings, "volume");
  g_settings_reset(settings, "loudness");
  g_settings_apply(settings);
  g_assert_cmpstr(stored(PLAYER ".theme"), ==, "\"dark\"");
  g_assert_cmpstr(stored(PLAYER ".volume"), ==, "absent");
  assert_int_setting(other, "volume", 30);
  g_assert_cmpstr(changes->str, ==, "change-event:loudness,theme,volume ");
  g_object_unref(other), g_object_unref(settings);
}

/* All resets below locks are one commit, separate from that of the others. */
static void resets_below_locks_are_one_commit(void) {
  GSettings *settings = unlocked_player();
  g_settings_set_int(settings, "volume", 10);
  g_settings_set_int(settings, "loudness", 10);
  g_settings_set_string(settings, "theme", "dark");
  manage("{\"locked\":[\"" PLAYER ".volume\",\"" PLAYER ".loudness\"]}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "volume"));
  wait_for_earlier_changes();
  guint64 revision = store_revision();
  g_settings_delay(settings);
  g_settings_reset(settings, "volume");
  g_settings_reset(settings, "loudness");
  g_settings_reset(settings, "theme");
  g_settings_apply(settings);
  g_assert_cmpuint(store_revision(), ==, revision + 2);
  for (int i = 0; i < 3; i++)
    g_assert_cmpstr(stored(i == 0 ? PLAYER ".volume" : i == 1 ? PLAYER ".loudness" : PLAYER ".theme"), ==, "absent");
  g_object_unref(settings);
}

static void resetting_recursively_resets_unlocked_keys(void) {
  GSettings *settings = locked_player();
  g_settings_set_string(settings, "theme", "dark");
  g_free(gsettings_command("reset-recursively", PLAYER, NULL));
  g_assert_cmpstr(stored(PLAYER ".theme"), ==, "absent");
  g_assert_cmpstr(stored(PLAYER ".volume"), ==, "absent");
  g_object_unref(settings);
}

static void a_lock_that_comes_while_changes_wait_keeps_them_from_being_applied(void) {
  GSettings *settings = unlocked_player();
  g_settings_delay(settings);
  g_settings_set_int(settings, "volume", 1);
  manage("{\"locked\":[\"" PLAYER ".volume\"]}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "volume"));
  g_settings_apply(settings);
  g_assert_cmpstr(stored(PLAYER ".volume"), ==, "absent");
  g_settings_revert(settings);
  assert_int_setting(settings, "volume", 50);
  g_object_unref(settings);
}

static void bound_properties_follow_locks(void) {
  GSettings *settings = unlocked_player();
  GSimpleAction *action = g_simple_action_new("act", NULL);
  g_settings_bind_writable(settings, "volume", action, "enabled", FALSE);
  g_assert_true(g_action_get_enabled(G_ACTION(action)));
  manage("{\"locked\":[\"" PLAYER ".volume\"]}");
  WAIT_UNTIL(!g_action_get_enabled(G_ACTION(action)));
  manage("{}");
  WAIT_UNTIL(g_action_get_enabled(G_ACTION(action)));
  g_object_unref(action), g_object_unref(settings);
}

static gint warnings;

/* Called on a thread of the library. */
static void count_warning(const char *domain, GLogLevelFlags level, const char *message, gpointer unused) {
  g_atomic_int_inc(&warnings);
  g_main_context_wakeup(NULL);
}

static void a_damaged_file_leaves_the_locks_as_they_were(void) {
  GSettings *settings = unlocked_player();
  manage("{\"locked\":[\"" PLAYER ".volume\"]}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "volume"));
  GLogLevelFlags fatal = g_log_set_always_fatal(G_LOG_FATAL_MASK);
  GLogFunc before = g_log_set_default_handler(count_warning, NULL);
  manage("{\"locked\":[");
  WAIT_UNTIL(g_atomic_int_get(&warnings) > 0);
  g_assert_false(g_settings_is_writable(settings, "volume"));
  manage("{\"locked\":[\"" PLAYER ".theme\"]}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "theme"));
  g_assert_true(g_settings_is_writable(settings, "volume"));
  g_assert_cmpint(g_atomic_int_get(&warnings), ==, 1);
  g_log_set_default_handler(before, NULL);
  g_log_set_always_fatal(fatal);
  g_object_unref(settings);
}

static gboolean is_allowed(const char *path) {
  GSettingsBackend *backend = g_settings_backend_get_default();
  GPermission *permission = G_SETTINGS_BACKEND_GET_CLASS(backend)->get_permission(backend, path);
  gboolean result = g_permission_get_allowed(permission);
  g_assert_cmpint(result, ==, G_SETTINGS_BACKEND_GET_CLASS(backend)->get_writable(backend, path));
  g_object_unref(permission), g_object_unref(backend);
  return result;
}

static void permissions_are_those_of_locks(void) {
  GSettings *settings = unlocked_player();
  g_assert_true(is_allowed("/"));
  manage("{\"locked\":[\"" PLAYER ".volume\"],\"lockedPrefixes\":[\"" PLAYER ".equalizer.\"]}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "volume"));
  g_assert_false(is_allowed("/org/example/kept/player/volume"));
  g_assert_true(is_allowed("/org/example/kept/player/theme"));
  g_assert_true(is_allowed("/org/example/kept/player/"));
  g_assert_false(is_allowed("/org/example/kept/player/equalizer/"));
  g_assert_true(is_allowed("/"));
  manage("{\"lockedPrefixes\":[\"\"]}");
  WAIT_UNTIL(!g_settings_is_writable(settings, "theme"));
  g_assert_false(is_allowed("/"));
  g_object_unref(settings);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/locks/locks and unlocks are signalled", locks_and_unlocks_are_signalled);
  g_test_add_func("/locks/a lock on a setting that is not set is signalled too",
    a_lock_on_a_setting_that_is_not_set_is_signalled_too);
  g_test_add_func("/locks/a lock hides the value of the user", a_lock_hides_the_value_of_the_user);
  g_test_add_func("/locks/a locked key cannot be set", a_locked_key_cannot_be_set);
  g_test_add_func("/locks/a reset removes the value below the lock", a_reset_removes_the_value_below_the_lock);
  g_test_add_func(
    "/locks/a reset of a locked setting is applied with others", a_reset_of_a_locked_setting_is_applied_with_others);
  g_test_add_func("/locks/resets below locks are one commit", resets_below_locks_are_one_commit);
  g_test_add_func("/locks/resetting recursively resets unlocked keys", resetting_recursively_resets_unlocked_keys);
  g_test_add_func("/locks/locked prefixes lock paths", locked_prefixes_lock_paths);
  g_test_add_func("/locks/nothing is applied if one setting is locked", nothing_is_applied_if_one_setting_is_locked);
  g_test_add_func("/locks/a lock that comes while changes wait keeps them from being applied",
    a_lock_that_comes_while_changes_wait_keeps_them_from_being_applied);
  g_test_add_func("/locks/bound properties follow locks", bound_properties_follow_locks);
  g_test_add_func("/locks/a damaged file leaves the locks as they were", a_damaged_file_leaves_the_locks_as_they_were);
  g_test_add_func("/locks/permissions are those of locks", permissions_are_those_of_locks);
  return run_tests();
}
