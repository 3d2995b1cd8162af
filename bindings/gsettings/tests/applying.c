/* Several settings at once: g_settings_delay() and g_settings_apply(). */
#include "settings_test.h"

#include <string.h>

static GSettings *delayed(const char *schema) {
  GSettings *settings = g_settings_new(schema);
  reset_all(settings);
  g_settings_delay(settings);
  return settings;
}

static void nothing_is_stored_before_it_is_applied(void) {
  GSettings *settings = delayed("org.example.kept.player");
  guint64 revision = store_revision();
  g_settings_set_int(settings, "volume", 1);
  g_settings_set_string(settings, "theme", "dark");
  assert_int_setting(settings, "volume", 1);
  g_assert_true(g_settings_get_has_unapplied(settings));
  g_assert_cmpstr(stored("org.example.kept.player.volume"), ==, "absent");
  g_assert_cmpuint(store_revision(), ==, revision);
  g_settings_revert(settings);
  assert_int_setting(settings, "volume", 50);
  g_assert_false(g_settings_get_has_unapplied(settings));
  g_assert_cmpuint(store_revision(), ==, revision);
  g_object_unref(settings);
}

static void an_apply_is_one_transaction(void) {
  GSettings *settings = delayed("org.example.kept.player");
  g_settings_set_int(settings, "volume", 1);
  g_settings_set_string(settings, "theme", "dark");
  g_settings_set_boolean(settings, "muted", TRUE);
  guint64 revision = store_revision();
  g_settings_apply(settings);
  g_assert_cmpuint(store_revision(), ==, revision + 1);
  g_assert_cmpstr(stored("org.example.kept.player.volume"), ==, "1");
  g_assert_cmpstr(stored("org.example.kept.player.theme"), ==, "\"dark\"");
  g_assert_false(g_settings_get_has_unapplied(settings));
  g_settings_reset(settings, "theme");
  g_settings_set_int(settings, "volume", 2);
  g_settings_apply(settings);
  g_assert_cmpuint(store_revision(), ==, revision + 2);
  g_assert_cmpstr(stored("org.example.kept.player.theme"), ==, "absent");
  g_object_unref(settings);
}

static void an_apply_is_one_event_with_all_keys(void) {
  GSettings *settings = delayed("org.example.kept.player"), *other = g_settings_new("org.example.kept.player");
  GString *own = record(settings, "change-event"), *others = record(other, "change-event");
  g_settings_set_int(settings, "volume", 1);
  g_settings_set_boolean(settings, "muted", TRUE);
  g_settings_set_double(settings, "speed", 0.25);
  g_assert_cmpstr(own->str, ==, "change-event:volume change-event:muted change-event:speed ");
  g_assert_cmpstr(others->str, ==, "");
  g_settings_apply(settings);
  g_assert_cmpstr(others->str, ==, "change-event:muted,speed,volume ");
  g_assert_cmpstr(own->str, ==, "change-event:volume change-event:muted change-event:speed ");
  wait_for_earlier_changes();
  g_assert_cmpstr(others->str, ==, "change-event:muted,speed,volume ");
  g_assert_cmpstr(own->str, ==, "change-event:volume change-event:muted change-event:speed ");
  g_object_unref(other), g_object_unref(settings);
}

static void others_see_all_of_it_or_nothing(void) {
  GSettings *settings = delayed("org.example.kept.player");
  kept_subscription *subscription;
  kept_notice *notice = NULL;
  g_settings_set_int(settings, "volume", 10);
  g_settings_set_int(settings, "loudness", 10);
  g_assert_cmpint(kept_observe(other_handle(), "org.example.kept.player.", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_POLLED,
                    NULL, NULL, NULL, &subscription, NULL),
    ==, KEPT_OK);
  g_settings_apply(settings);
  while (notice == NULL) g_assert_cmpint(kept_subscription_take(subscription, &notice, NULL), ==, KEPT_OK);
  g_assert_cmpuint(kept_notice_count(notice), ==, 2);
  g_assert_cmpuint(kept_notice_first_revision(notice), ==, kept_notice_revision(notice));
  kept_notice_free(notice);
  kept_unobserve(subscription);
  g_object_unref(settings);
}

static void three_hundred_settings_are_applied_at_once(void) {
  GSettings *settings = delayed("org.example.kept.many"), *other = g_settings_new("org.example.kept.many");
  GString *changes = record(other, "changed");
  for (int i = 1; i <= 300; i++) {
    char *key = g_strdup_printf("key-%d", i);
    g_settings_set_int(settings, key, i);
    g_free(key);
  }
  guint64 revision = store_revision();
  g_settings_apply(settings);
  g_assert_cmpuint(store_revision(), ==, revision + 1);
  assert_int_setting(other, "key-300", 300);
  for (int i = 1; i <= 300; i++) {
    char *change = g_strdup_printf("changed::key-%d ", i);
    g_assert_nonnull(strstr(changes->str, change));
    g_free(change);
  }
  g_object_unref(other), g_object_unref(settings);
}

static void a_change_of_others_shows_below_unapplied_ones(void) {
  GSettings *settings = delayed("org.example.kept.player");
  GString *changes = record(settings, "changed");
  g_settings_set_int(settings, "volume", 1);
  set_elsewhere("org.example.kept.player.volume", "2");
  set_elsewhere("org.example.kept.player.theme", "\"light\"");
  wait_for_earlier_changes();
  WAIT_UNTIL(strstr(changes->str, "changed::theme") != NULL);
  assert_int_setting(settings, "volume", 1);
  assert_text(settings, "theme", "light");
  g_settings_revert(settings);
  assert_int_setting(settings, "volume", 2);
  g_object_unref(settings);
}

static void applying_nothing_changes_nothing(void) {
  GSettings *settings = delayed("org.example.kept.player");
  guint64 revision = store_revision();
  g_settings_apply(settings);
  g_assert_cmpuint(store_revision(), ==, revision);
  g_object_unref(settings);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/applying/nothing is stored before it is applied", nothing_is_stored_before_it_is_applied);
  g_test_add_func("/applying/an apply is one transaction", an_apply_is_one_transaction);
  g_test_add_func("/applying/an apply is one event with all keys", an_apply_is_one_event_with_all_keys);
  g_test_add_func("/applying/others see all of it or nothing", others_see_all_of_it_or_nothing);
  g_test_add_func("/applying/300 settings are applied at once", three_hundred_settings_are_applied_at_once);
  g_test_add_func(
    "/applying/a change of others shows below unapplied ones", a_change_of_others_shows_below_unapplied_ones);
  g_test_add_func("/applying/applying nothing changes nothing", applying_nothing_changes_nothing);
  return run_tests();
}
