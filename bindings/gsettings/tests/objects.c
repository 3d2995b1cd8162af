/* Several objects of one program: on one path, on nested paths, with a path of their own, and bound to properties. */
#include "settings_test.h"

#include <string.h>

static void objects_on_nested_paths_get_only_their_own_changes(void) {
  GSettings *outer = g_settings_new("org.example.kept.player"),
            *inner = g_settings_new("org.example.kept.player.equalizer");
  GString *outside = record(outer, "changed"), *inside = record(inner, "changed");
  g_settings_set_int(outer, "volume", 3);
  g_settings_set_int(inner, "bass", 4);
  g_settings_set_int(inner, "volume", 5);
  set_elsewhere("org.example.kept.player.volume", "6");
  set_elsewhere("org.example.kept.player.equalizer.volume", "7");
  set_elsewhere("org.example.kept.player.equalizer.bass", "8");
  wait_for_earlier_changes();
  g_assert_cmpstr(outside->str, ==, "changed::volume changed::volume ");
  g_assert_cmpstr(inside->str, ==, "changed::bass changed::volume changed::volume changed::bass ");
  assert_int_setting(outer, "volume", 6);
  assert_int_setting(inner, "volume", 7);
  g_object_unref(inner), g_object_unref(outer);
}

static void children_have_the_settings_of_their_path(void) {
  GSettings *outer = g_settings_new("org.example.kept.player"), *child = g_settings_get_child(outer, "equalizer");
  g_settings_set_int(child, "bass", 9);
  g_assert_cmpstr(stored("org.example.kept.player.equalizer.bass"), ==, "9");
  g_object_unref(child), g_object_unref(outer);
}

static void relocatable_schemas_have_settings_at_each_path(void) {
  static const char *const paths[] = { "/org/example/kept/profiles/:first/", "/org/example/kept/profiles/v1.2/",
    "/org/example/kept/profiles/50%/", "/org/example/kept/profiles/Ä 😀/" };
  static const char *const keys[] = { "org.example.kept.profiles.:first.name", "org.example.kept.profiles.v1%2E2.name",
    "org.example.kept.profiles.50%25.name", "org.example.kept.profiles.Ä 😀.name" };
  for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) {
    GSettings *settings = g_settings_new_with_path("org.example.kept.profile", paths[i]);
    GString *changes = record(settings, "changed");
    assert_text(settings, "name", "nobody");
    g_settings_set_string(settings, "name", paths[i]);
    char *json = g_strdup_printf("\"%s\"", paths[i]);
    g_assert_cmpstr(stored(keys[i]), ==, json);
    set_elsewhere(keys[i], "\"other\"");
    wait_for_earlier_changes();
    assert_text(settings, "name", "other");
    g_assert_cmpstr(changes->str, ==, "changed::name changed::name ");
    g_free(json);
    g_object_unref(settings);
  }
}

static void a_hundred_objects_on_one_path_each_get_a_change_once(void) {
  enum { count = 100 };
  GSettings *objects[count];
  GString *changes[count];
  for (int i = 0; i < count; i++) {
    objects[i] = g_settings_new("org.example.kept.player");
    changes[i] = record(objects[i], "changed");
  }
  set_elsewhere("org.example.kept.player.count", "77");
  wait_for_earlier_changes();
  g_settings_set_uint(objects[3], "count", 78);
  wait_for_earlier_changes();
  for (int i = 0; i < count; i++) {
    g_assert_cmpstr(changes[i]->str, ==, "changed::count changed::count ");
    g_assert_cmpuint(g_settings_get_uint(objects[i], "count"), ==, 78);
    g_object_unref(objects[i]);
  }
}

/* An object with a property that settings can be bound to. */
static void bindings_go_both_ways_and_end(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  GSimpleAction *action = g_simple_action_new("act", NULL), *other = g_simple_action_new("act", NULL);
  g_settings_set_boolean(settings, "muted", FALSE);
  g_settings_bind(settings, "muted", action, "enabled", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind(settings, "muted", other, "enabled", G_SETTINGS_BIND_DEFAULT | G_SETTINGS_BIND_INVERT_BOOLEAN);
  g_assert_false(g_action_get_enabled(G_ACTION(action)));
  g_assert_true(g_action_get_enabled(G_ACTION(other)));
  guint64 revision = store_revision();
  g_simple_action_set_enabled(action, TRUE);
  g_assert_cmpstr(stored("org.example.kept.player.muted"), ==, "true");
  g_assert_false(g_action_get_enabled(G_ACTION(other)));
  g_simple_action_set_enabled(other, TRUE);
  g_assert_false(g_action_get_enabled(G_ACTION(action)));
  g_assert_cmpuint(store_revision(), ==, revision + 2);
  set_elsewhere("org.example.kept.player.muted", "true");
  wait_for_earlier_changes();
  g_assert_true(g_action_get_enabled(G_ACTION(action)));
  g_assert_false(g_action_get_enabled(G_ACTION(other)));
  g_object_unref(other), g_object_unref(action), g_object_unref(settings);
}

/* Each of two objects sets its own setting when the other's changes, as two windows do that keep one state. */
static void two_bindings_in_a_circle_come_to_rest(void) {
  GSettings *first = g_settings_new("org.example.kept.player"), *second = g_settings_new("org.example.kept.player");
  GSimpleAction *action = g_simple_action_new("act", NULL);
  g_settings_set_boolean(first, "muted", FALSE);
  g_settings_bind(first, "muted", action, "enabled", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind(second, "muted", action, "enabled", G_SETTINGS_BIND_DEFAULT);
  for (int i = 0; i < 20; i++) {
    set_elsewhere("org.example.kept.player.muted", i % 2 ? "false" : "true");
    g_simple_action_set_enabled(action, i % 3 != 0);
    wait_for_earlier_changes();
  }
  set_elsewhere("org.example.kept.player.muted", "true");
  wait_for_earlier_changes();
  guint64 revision = store_revision();
  wait_for_earlier_changes();
  g_assert_cmpuint(store_revision(), ==, revision + 1);
  g_assert_true(g_action_get_enabled(G_ACTION(action)));
  g_object_unref(action), g_object_unref(second), g_object_unref(first);
}

static void actions_follow_a_setting(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  GAction *action = g_settings_create_action(settings, "volume");
  set_elsewhere("org.example.kept.player.volume", "41");
  wait_for_earlier_changes();
  GVariant *state = g_action_get_state(action);
  g_assert_cmpint(g_variant_get_int32(state), ==, 41);
  g_action_change_state(action, g_variant_new_int32(42));
  g_assert_cmpstr(stored("org.example.kept.player.volume"), ==, "42");
  g_variant_unref(state);
  g_object_unref(action), g_object_unref(settings);
}

static void set_back(GSettings *settings, const char *key, gpointer unused) {
  if (g_settings_get_int(settings, key) > 10) g_settings_set_int(settings, key, 10);
}

static void a_handler_can_set_the_setting_that_changed(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  g_signal_connect(settings, "changed::volume", G_CALLBACK(set_back), NULL);
  g_settings_set_int(settings, "volume", 20);
  assert_int_setting(settings, "volume", 10);
  set_elsewhere("org.example.kept.player.volume", "30");
  wait_for_earlier_changes();
  g_assert_cmpstr(stored("org.example.kept.player.volume"), ==, "10");
  g_object_unref(settings);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func(
    "/objects/objects on nested paths get only their own changes", objects_on_nested_paths_get_only_their_own_changes);
  g_test_add_func("/objects/children have the settings of their path", children_have_the_settings_of_their_path);
  g_test_add_func(
    "/objects/relocatable schemas have settings at each path", relocatable_schemas_have_settings_at_each_path);
  g_test_add_func(
    "/objects/100 objects on one path each get a change once", a_hundred_objects_on_one_path_each_get_a_change_once);
  g_test_add_func("/objects/bindings go both ways, and end", bindings_go_both_ways_and_end);
  g_test_add_func("/objects/two bindings in a circle come to rest", two_bindings_in_a_circle_come_to_rest);
  g_test_add_func("/objects/actions follow a setting", actions_follow_a_setting);
  g_test_add_func("/objects/a handler can set the setting that changed", a_handler_can_set_the_setting_that_changed);
  return run_tests();
}
