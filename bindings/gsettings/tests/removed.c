/* A store that is removed, moved or replaced while a program has it open. Each test is a process of its own. */
#define _GNU_SOURCE
#include "settings_test.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLAYER "org.example.kept.player"

static gint warnings;

static void count_warning(const char *domain, GLogLevelFlags level, const char *message, gpointer unused) {
  if (level & G_LOG_LEVEL_DEBUG) return;
  g_printerr("%s: %s\n", domain, message);
  g_atomic_int_inc(&warnings);
}

/* Runs a test in a process that counts warnings, with a store of its own. */
static void run(gconstpointer body) {
  if (g_test_subprocess()) {
    g_log_set_always_fatal(G_LOG_FATAL_MASK);
    g_log_set_default_handler(count_warning, NULL);
    char *name = g_strdup_printf("home-%d", (int)getpid());
    g_mkdir(file_named(name), 0700);
    g_setenv("XDG_CONFIG_HOME", file_named(name), TRUE);
    g_free(name);
    ((void (*)(void))body)();
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  if (g_test_trap_reached_timeout() || !g_test_trap_has_passed()) g_test_fail();
}

static void run_program(const char *first, ...) {
  GPtrArray *arguments = g_ptr_array_new();
  va_list rest;
  va_start(rest, first);
  for (const char *next = first; next != NULL; next = va_arg(rest, const char *))
    g_ptr_array_add(arguments, (char *)next);
  va_end(rest);
  g_ptr_array_add(arguments, NULL);
  g_assert_true(
    g_spawn_sync(NULL, (char **)arguments->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
  g_ptr_array_unref(arguments);
}

static char *store_folder(void) {
  return g_build_filename(g_getenv("XDG_CONFIG_HOME"), "kept", "gsettings.kept", NULL);
}

static void remove_store(void) {
  char *folder = g_build_filename(g_getenv("XDG_CONFIG_HOME"), "kept", NULL);
  remove_folder(folder);
  g_free(folder);
}

/* Exchanges two files or folders. Nothing is absent in between, where the program under test would make a new store. */
static void exchange(const char *one, const char *other) {
  g_assert_cmpint(renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE), ==, 0);
}

/* What another program reads. */
#define assert_elsewhere(key, expected) \
  G_STMT_START { \
    char *found_elsewhere = gsettings_command("get", PLAYER, key, NULL); \
    g_assert_cmpstr(found_elsewhere, ==, expected); \
    g_free(found_elsewhere); \
  } \
  G_STMT_END

/* A program that has set a volume of 3. */
static GSettings *player(void) {
  GSettings *settings = g_settings_new(PLAYER);
  g_assert_true(g_settings_set_int(settings, "volume", 3));
  assert_elsewhere("volume", "3");
  return settings;
}

static void a_set_is_in_the_new_store(void) {
  GSettings *settings = player();
  for (int i = 0; i < 5; i++) {
    remove_store();
    /* The same value too: it is not there any more. */
    g_assert_true(g_settings_set_int(settings, "volume", 7 + i / 2));
    char *number = g_strdup_printf("%d", 7 + i / 2);
    assert_elsewhere("volume", number);
    g_free(number);
  }
  g_free(gsettings_command("set", PLAYER, "volume", "12", NULL));
  assert_int_setting(settings, "volume", 12);
  g_assert_cmpint(g_atomic_int_get(&warnings), ==, 0);
  g_object_unref(settings);
}

static void a_set_is_in_the_new_store_at_a_path(void) {
  char *folder = store_folder();
  g_setenv("KEPT_GSETTINGS_STORE", folder, TRUE);
  a_set_is_in_the_new_store();
  g_free(folder);
}

/* The path is that of the start, wherever the program goes. */
static void a_set_is_in_the_new_store_at_a_relative_path(void) {
  g_assert_cmpint(g_chdir(g_getenv("XDG_CONFIG_HOME")), ==, 0);
  g_setenv("KEPT_GSETTINGS_STORE", "kept/gsettings.kept", TRUE);
  GSettings *settings = player();
  char *folder = store_folder();
  g_setenv("KEPT_GSETTINGS_STORE", folder, TRUE);
  g_assert_cmpint(g_chdir("/"), ==, 0);
  a_set_is_in_the_new_store();
  g_free(folder);
  g_object_unref(settings);
}

static void an_apply_is_in_the_new_store(void) {
  GSettings *settings = player();
  g_settings_delay(settings);
  g_settings_set_int(settings, "volume", 8);
  g_settings_set_string(settings, "theme", "dark");
  remove_store();
  g_settings_apply(settings);
  assert_elsewhere("volume", "8");
  assert_elsewhere("theme", "'dark'");
  g_assert_cmpint(g_atomic_int_get(&warnings), ==, 0);
  g_object_unref(settings);
}

static void all_settings_are_announced(void) {
  GSettings *settings = player();
  GString *changes = record(settings, "changed::theme"), *locks = record(settings, "writable-changed::theme");
  g_assert_true(g_settings_set_string(settings, "theme", "dark"));
  g_string_truncate(changes, 0);
  remove_store();
  g_assert_true(g_settings_set_int(settings, "volume", 7));
  WAIT_UNTIL(changes->len > 0 && locks->len > 0);
  assert_text(settings, "theme", "plain");
  g_object_unref(settings);
}

static void a_program_that_only_waits_sees_the_new_store(void) {
  GSettings *settings = player();
  GString *changes = record(settings, "changed::volume");
  for (int i = 1; i <= 3; i++) {
    remove_store();
    char *number = g_strdup_printf("%d", 100 + i);
    g_free(gsettings_command("set", PLAYER, "volume", number, NULL));
    WAIT_UNTIL(changes->len > 0 && g_settings_get_int(settings, "volume") == 100 + i);
    g_free(number);
    /* It follows the new store. */
    g_string_truncate(changes, 0);
    g_free(gsettings_command("set", PLAYER, "volume", "50", NULL));
    WAIT_UNTIL(changes->len > 0 && g_settings_get_int(settings, "volume") == 50);
    g_string_truncate(changes, 0);
  }
  g_assert_cmpint(g_atomic_int_get(&warnings), ==, 0);
  g_object_unref(settings);
}

static void a_program_that_only_reads_sees_the_new_store(void) {
  GSettings *settings = player();
  remove_store();
  g_free(gsettings_command("set", PLAYER, "volume", "9", NULL));
  gint64 end = g_get_monotonic_time() + G_TIME_SPAN_MINUTE;
  while (g_settings_get_int(settings, "volume") != 9 && g_get_monotonic_time() < end) g_thread_yield();
  assert_int_setting(settings, "volume", 9);
  g_assert_cmpint(g_atomic_int_get(&warnings), ==, 0);
  g_object_unref(settings);
}

static void a_program_that_only_reads_is_told_of_damage(void) {
  GSettings *settings = player();
  char *folder = store_folder(), *aside = g_strconcat(folder, ".aside", NULL);
  char *checkpoint = g_build_filename(aside, "values", NULL);
  g_assert_cmpint(g_mkdir(aside, 0700), ==, 0);
  g_assert_true(g_file_set_contents(checkpoint, "damaged", -1, NULL));
  exchange(aside, folder);
  WAIT_UNTIL(g_settings_get_int(settings, "volume") != 3);
  g_assert_cmpint(g_atomic_int_get(&warnings), ==, 1);
  g_free(checkpoint), g_free(aside), g_free(folder);
  g_object_unref(settings);
}

static void another_store_in_its_place_is_used(void) {
  GSettings *settings = player();
  char *folder = store_folder(), *aside = g_strconcat(folder, ".aside", NULL);
  g_assert_cmpint(g_rename(folder, aside), ==, 0);
  g_free(gsettings_command("set", PLAYER, "theme", "'other'", NULL));
  g_assert_true(g_settings_set_int(settings, "volume", 4));
  assert_text(settings, "theme", "other");
  assert_elsewhere("volume", "4");
  /* Back again. */
  exchange(aside, folder);
  g_assert_true(g_settings_set_boolean(settings, "muted", TRUE));
  assert_int_setting(settings, "volume", 3);
  assert_text(settings, "theme", "plain");
  assert_elsewhere("muted", "true");
  g_free(aside), g_free(folder);
  g_object_unref(settings);
}

/* Removes the pulse last: when it is gone, programs open the store again, and a part of it would be damage. */
static void empty(const char *folder) {
  run_program("find", folder, "-mindepth", "1", "-not", "-name", "pulse", "-delete", NULL);
  run_program("find", folder, "-mindepth", "1", "-delete", NULL);
}

static void a_folder_that_is_emptied_is_filled_again(void) {
  GSettings *settings = player();
  char *folder = store_folder();
  empty(folder);
  g_assert_true(g_settings_set_int(settings, "volume", 4));
  assert_elsewhere("volume", "4");
  g_free(folder);
  g_object_unref(settings);
}

static void a_program_that_only_waits_sees_a_store_in_the_same_folder(void) {
  GSettings *settings = player();
  GString *changes = record(settings, "changed::volume");
  char *folder = store_folder();
  empty(folder);
  g_free(gsettings_command("set", PLAYER, "volume", "9", NULL));
  WAIT_UNTIL(changes->len > 0 && g_settings_get_int(settings, "volume") == 9);
  g_assert_true(g_settings_set_int(settings, "volume", 10));
  assert_elsewhere("volume", "10");
  g_free(folder);
  g_object_unref(settings);
}

/* What a user has put aside stays as it was put aside. */
static void a_store_that_was_moved_is_left_alone(void) {
  GSettings *settings = player();
  char *folder = store_folder(), *moved = g_strconcat(folder, ".old", NULL);
  g_assert_cmpint(g_rename(folder, moved), ==, 0);
  g_assert_true(g_settings_set_int(settings, "volume", 7));
  assert_elsewhere("volume", "7");
  g_setenv("KEPT_GSETTINGS_STORE", moved, TRUE);
  assert_elsewhere("volume", "3");
  g_free(folder), g_free(moved);
  g_object_unref(settings);
}

static void syncing_resetting_and_making_objects_work(void) {
  GSettings *settings = player();
  remove_store();
  g_settings_sync();
  g_assert_true(g_settings_set_int(settings, "volume", 4));
  assert_elsewhere("volume", "4");
  remove_store();
  g_settings_reset(settings, "volume");
  assert_int_setting(settings, "volume", 50);
  g_assert_true(g_settings_set_int(settings, "volume", 5));
  remove_store();
  g_object_unref(settings);
  settings = g_settings_new(PLAYER);
  g_assert_true(g_settings_set_int(settings, "volume", 6));
  assert_elsewhere("volume", "6");
  g_assert_cmpint(g_atomic_int_get(&warnings), ==, 0);
  g_object_unref(settings);
}

/* Where no store can be made, a set fails, and is stored as soon as one can. */
static void a_set_fails_while_there_can_be_no_store(void) {
  GSettings *settings = player();
  GString *changes = record(settings, "changed");
  char *kept = g_build_filename(g_getenv("XDG_CONFIG_HOME"), "kept", NULL), *aside = g_strconcat(kept, ".aside", NULL);
  put_file(aside, "this is a file");
  exchange(aside, kept);
  for (int i = 0; i < 3; i++) g_assert_false(g_settings_set_int(settings, "volume", 4));
  g_settings_delay(settings);
  g_settings_set_int(settings, "volume", 5);
  g_settings_apply(settings);
  g_settings_revert(settings);
  g_assert_cmpint(g_atomic_int_get(&warnings), >=, 1);
  g_assert_cmpint(g_unlink(kept), ==, 0);
  GSettings *other = g_settings_new(PLAYER);
  g_assert_true(g_settings_set_int(other, "volume", 6));
  assert_elsewhere("volume", "6");
  g_string_truncate(changes, 0);
  g_free(gsettings_command("set", PLAYER, "volume", "7", NULL));
  WAIT_UNTIL(g_settings_get_int(settings, "volume") == 7);
  g_free(aside), g_free(kept);
  g_object_unref(other), g_object_unref(settings);
}

static void locks_hold_in_the_new_store(void) {
  put_file(g_getenv("KEPT_GSETTINGS_MANAGED"), "{\"values\":{\"" PLAYER ".theme\":\"site\"}}");
  GSettings *settings = player();
  remove_store();
  g_assert_false(g_settings_is_writable(settings, "theme"));
  g_assert_false(g_settings_set_string(settings, "theme", "own"));
  g_assert_true(g_settings_set_int(settings, "volume", 4));
  g_assert_false(g_settings_is_writable(settings, "theme"));
  g_assert_false(g_settings_set_string(settings, "theme", "own"));
  assert_text(settings, "theme", "site");
  put_file(g_getenv("KEPT_GSETTINGS_MANAGED"), "{}");
  WAIT_UNTIL(g_settings_is_writable(settings, "theme"));
  g_assert_true(g_settings_set_string(settings, "theme", "own"));
  assert_elsewhere("theme", "'own'");
  g_object_unref(settings);
}

static gpointer set_often(gpointer end) {
  GSettings *settings = g_settings_new(PLAYER);
  for (int i = 0; !g_atomic_int_get((gint *)end); i++) {
    g_settings_set_int(settings, "volume", i % 100);
    g_settings_get_int(settings, "volume");
  }
  g_object_unref(settings);
  return NULL;
}

static void many_threads_set_during_a_removal(void) {
  GSettings *settings = player();
  GThread *threads[3];
  gint end = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++) threads[i] = g_thread_new(NULL, set_often, &end);
  for (int i = 0; i < 20; i++) {
    char *folder = store_folder();
    run_program("rm", "-rf", folder, NULL);
    g_free(folder);
    /* `rm` leaves a part of a store that another thread is making. The next program to open it reports the damage. */
    WAIT_UNTIL(g_settings_set_string(settings, "theme", i % 2 ? "a" : "b"));
    kept_store *other = NULL;
    folder = store_folder();
    g_assert_cmpint(kept_open(folder, NULL, &other, NULL), >=, KEPT_OK);
    g_free(folder);
    char *found = NULL;
    g_assert_cmpint(kept_get_json(other, PLAYER ".theme", &found, NULL), ==, KEPT_OK);
    g_assert_cmpstr(found, ==, i % 2 ? "\"a\"" : "\"b\"");
    kept_free(found);
    kept_close(other);
  }
  g_atomic_int_set(&end, TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++) g_thread_join(threads[i]);
  g_object_unref(settings);
}

static gpointer remove_often(gpointer end) {
  char *folder = store_folder();
  /* Without a process for each removal: it has to fall between the opening of a store and the look at its files. */
  while (!g_atomic_int_get((gint *)end)) {
    GDir *names = g_dir_open(folder, 0, NULL);
    for (const char *name; names != NULL && (name = g_dir_read_name(names)) != NULL;) {
      char *file = g_build_filename(folder, name, NULL);
      g_unlink(file);
      g_free(file);
    }
    if (names != NULL) g_dir_close(names);
    g_rmdir(folder);
    g_usleep(3000);
  }
  g_free(folder);
  return NULL;
}

static void a_set_works_after_removals_at_any_time(void) {
  GSettings *settings = player();
  for (int round = 0; round < 8; round++) {
    gint end = FALSE;
    GThread *thread = g_thread_new(NULL, remove_often, &end);
    for (gint64 until = g_get_monotonic_time() + 250000; g_get_monotonic_time() < until;)
      g_settings_set_int(settings, "volume", 5);
    g_atomic_int_set(&end, TRUE);
    g_thread_join(thread);
    /* The first one may find that the store was removed just before. */
    g_settings_set_int(settings, "volume", 6);
    g_assert_true(g_settings_set_int(settings, "volume", 7));
  }
  g_object_unref(settings);
}

#define ADD(name, body) g_test_add_data_func("/removed/" name, (gconstpointer)(body), run)

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  ADD("a set is in the new store", a_set_is_in_the_new_store);
  ADD("a set is in the new store at a path", a_set_is_in_the_new_store_at_a_path);
  ADD("a set is in the new store at a relative path", a_set_is_in_the_new_store_at_a_relative_path);
  ADD("an apply is in the new store", an_apply_is_in_the_new_store);
  ADD("all settings are announced", all_settings_are_announced);
  ADD("a program that only waits sees the new store", a_program_that_only_waits_sees_the_new_store);
  ADD("a program that only reads sees the new store", a_program_that_only_reads_sees_the_new_store);
  ADD("a program that only reads is told of damage", a_program_that_only_reads_is_told_of_damage);
  ADD("another store in its place is used", another_store_in_its_place_is_used);
  ADD("a folder that is emptied is filled again", a_folder_that_is_emptied_is_filled_again);
  ADD("a program that only waits sees a store in the same folder",
    a_program_that_only_waits_sees_a_store_in_the_same_folder);
  ADD("a store that was moved is left alone", a_store_that_was_moved_is_left_alone);
  ADD("syncing, resetting and making objects work", syncing_resetting_and_making_objects_work);
  ADD("a set fails while there can be no store", a_set_fails_while_there_can_be_no_store);
  ADD("locks hold in the new store", locks_hold_in_the_new_store);
  ADD("many threads set during a removal", many_threads_set_during_a_removal);
  ADD("a set works after removals at any time", a_set_works_after_removals_at_any_time);
  return run_tests();
}
