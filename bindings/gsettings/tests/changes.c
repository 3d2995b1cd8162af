/* What others change: other handles in this process, other processes, programs that know nothing of GSettings. */
#include "settings_test.h"

#include <string.h>

static void a_change_through_another_handle_arrives(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  GString *changes = record(settings, "changed::volume"), *events = record(settings, "change-event");
  set_elsewhere("org.example.kept.player.volume", "12");
  WAIT_UNTIL(changes->len > 0);
  assert_int_setting(settings, "volume", 12);
  wait_for_earlier_changes();
  g_assert_cmpstr(changes->str, ==, "changed::volume ");
  g_assert_cmpstr(events->str, ==, "change-event:volume ");
  g_object_unref(settings);
}

static void a_change_of_another_process_arrives(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  GString *changes = record(settings, "changed");
  g_free(gsettings_command("set", "org.example.kept.player", "theme", "'dark'", NULL));
  /* It is stored when the other process has ended, and read at once. */
  assert_text(settings, "theme", "dark");
  WAIT_UNTIL(changes->len > 0);
  g_free(gsettings_command("reset", "org.example.kept.player", "theme", NULL));
  assert_text(settings, "theme", "plain");
  WAIT_UNTIL(changes->len > strlen("changed::theme "));
  wait_for_earlier_changes();
  g_assert_cmpstr(changes->str, ==, "changed::theme changed::theme ");
  g_object_unref(settings);
}

static void changes_in_one_transaction_are_one_event(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  GString *events = record(settings, "change-event");
  kept_store *transaction;
  g_assert_cmpint(kept_begin(other_handle(), NULL, &transaction, NULL), ==, KEPT_OK);
  kept_set_int64(transaction, "org.example.kept.player.volume", 99, NULL);
  kept_set_bool(transaction, "org.example.kept.player.muted", true, NULL);
  kept_set_bool(transaction, "org.example.kept.no-such-key", true, NULL);
  g_assert_cmpint(kept_commit(transaction, NULL, NULL), ==, KEPT_OK);
  wait_for_earlier_changes();
  g_assert_cmpstr(events->str, ==, "change-event:muted,volume ");
  g_object_unref(settings);
}

static void changes_arrive_in_the_order_of_the_calls(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  GString *changes = record(settings, "changed");
  for (int i = 1; i <= 50; i++) {
    char *number = g_strdup_printf("%d", i);
    set_elsewhere("org.example.kept.player.volume", number);
    gsize before = changes->len;
    WAIT_UNTIL(changes->len > before);
    assert_int_setting(settings, "volume", i);
    g_free(number);
  }
  g_object_unref(settings);
}

static void three_hundred_changes_at_once_arrive(void) {
  GSettings *settings = g_settings_new("org.example.kept.many");
  GString *changes = record(settings, "changed");
  kept_store *transaction;
  g_assert_cmpint(kept_begin(other_handle(), NULL, &transaction, NULL), ==, KEPT_OK);
  for (int i = 1; i <= 300; i++) {
    char *key = g_strdup_printf("org.example.kept.many.key-%d", i);
    kept_set_int64(transaction, key, i, NULL);
    g_free(key);
  }
  g_assert_cmpint(kept_commit(transaction, NULL, NULL), ==, KEPT_OK);
  wait_for_earlier_changes();
  for (int i = 1; i <= 300; i++) {
    char *change = g_strdup_printf("changed::key-%d ", i);
    g_assert_nonnull(strstr(changes->str, change));
    g_free(change);
  }
  assert_int_setting(settings, "key-300", 300);
  g_object_unref(settings);
}

/* GSettings reads beyond the end of a name that is not a name of a key. */
static void keys_that_no_setting_can_have_do_no_harm(void) {
  static const char *const keys[] = { ".", "..", "org.example.kept.player.", "org.example.kept.player",
    "org.example.kept.player..", "org..example", "org.example.kept.player.volume.", ".org.example.kept.player.volume",
    "a/b", "/org/example/kept/player/volume", "%", "org.example.kept.player.%2F", "org.example.kept.player.Volume",
    "org.example.kept.", "ä", "\n", "org.example.kept.player.%FF", NULL };
  GSettings *settings = g_settings_new("org.example.kept.player");
  GString *changes = record(settings, "changed");
  for (gsize i = 0; keys[i] != NULL; i++) set_elsewhere(keys[i], "[1,2,3]");
  for (gsize i = 0; keys[i] != NULL; i++) kept_remove(other_handle(), keys[i], NULL);
  wait_for_earlier_changes();
  g_assert_cmpstr(changes->str, ==, "");
  g_object_unref(settings);
}

static void a_change_while_an_object_ends_does_no_harm(void) {
  for (int i = 0; i < 200; i++) {
    GSettings *settings = g_settings_new("org.example.kept.player");
    record(settings, "changed");
    set_elsewhere("org.example.kept.player.volume", i % 2 ? "1" : "2");
    if (i % 3 == 0) g_main_context_iteration(NULL, FALSE);
    g_object_unref(settings);
  }
  wait_for_earlier_changes();
}

static void objects_that_are_made_later_get_changes_too(void) {
  for (int i = 0; i < 20; i++) {
    GSettings *settings = g_settings_new("org.example.kept.player");
    GString *changes = record(settings, "changed");
    set_elsewhere("org.example.kept.player.loudness", i % 2 ? "1" : "2");
    WAIT_UNTIL(changes->len > 0);
    g_assert_cmpstr(changes->str, ==, "changed::loudness ");
    assert_int_setting(settings, "loudness", i % 2 ? 1 : 2);
    g_object_unref(settings);
  }
}

static void an_object_gets_changes_after_others_have_ended(void) {
  GSettings *settings = g_settings_new("org.example.kept.player"), *other = g_settings_new("org.example.kept.player");
  GString *changes = record(settings, "changed");
  g_object_unref(other);
  set_elsewhere("org.example.kept.player.theme", "\"later\"");
  WAIT_UNTIL(changes->len > 0);
  g_assert_cmpstr(changes->str, ==, "changed::theme ");
  g_object_unref(settings);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/changes/a change through another handle arrives", a_change_through_another_handle_arrives);
  g_test_add_func("/changes/a change of another process arrives", a_change_of_another_process_arrives);
  g_test_add_func("/changes/changes in one transaction are one event", changes_in_one_transaction_are_one_event);
  g_test_add_func("/changes/changes arrive in the order of the calls", changes_arrive_in_the_order_of_the_calls);
  g_test_add_func("/changes/300 changes at once arrive", three_hundred_changes_at_once_arrive);
  g_test_add_func("/changes/keys that no setting can have do no harm", keys_that_no_setting_can_have_do_no_harm);
  g_test_add_func("/changes/a change while an object ends does no harm", a_change_while_an_object_ends_does_no_harm);
  g_test_add_func("/changes/objects that are made later get changes too", objects_that_are_made_later_get_changes_too);
  g_test_add_func(
    "/changes/an object gets changes after others have ended", an_object_gets_changes_after_others_have_ended);
  return run_tests();
}
