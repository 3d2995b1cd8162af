/* A store that cannot be opened or written: programs warn once, go on, and set nothing. Each test
 * is a process of its own. */
#define _GNU_SOURCE
#include "settings_test.h"

#include <glib/gstdio.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAYER "org.example.kept.player"
enum { nobody = 65534 };

static gint warnings;

static void count_warning(const char *domain, GLogLevelFlags level, const char *message, gpointer unused) {
  if (level & G_LOG_LEVEL_DEBUG) return;
  g_printerr("%s: %s\n", domain, message);
  g_atomic_int_inc(&warnings);
}

/* Runs a test in a process that counts warnings. */
static void run(gconstpointer body) {
  if (g_test_subprocess()) {
    g_log_set_always_fatal(G_LOG_FATAL_MASK);
    g_log_set_default_handler(count_warning, NULL);
    ((void (*)(void))body)();
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  if (g_test_trap_reached_timeout() || !g_test_trap_has_passed()) g_test_fail();
}

static void have_home(const char *home) {
  g_mkdir(home, 0755);
  g_setenv("XDG_CONFIG_HOME", home, TRUE);
}

/* Reads work, writes return FALSE and change nothing, and one warning says why. */
static void assert_is_read_only(int expected) {
  GSettings *settings = g_settings_new(PLAYER);
  GString *changes = record(settings, "changed");
  g_assert_cmpint(warnings, ==, 0);
  assert_int_setting(settings, "volume", expected);
  for (int i = 0; i < 3; i++) g_assert_false(g_settings_set_int(settings, "volume", 7));
  g_settings_reset(settings, "volume");
  assert_int_setting(settings, "volume", expected);
  g_assert_cmpstr(changes->str, ==, "");
  g_settings_delay(settings);
  g_settings_set_int(settings, "volume", 8);
  g_settings_apply(settings);
  g_settings_revert(settings);
  assert_int_setting(settings, "volume", expected);
  g_assert_cmpint(warnings, ==, 1);
  g_object_unref(settings);
}

/* Nothing of the user is known, and perhaps not the administrator's locks: programs read defaults, no change is
 * reported as made, because it would be lost, and one warning says why. */
static void assert_has_defaults(void) {
  GSettings *settings = g_settings_new(PLAYER);
  GString *changes = record(settings, "changed");
  g_assert_cmpint(warnings, ==, 1);
  assert_int_setting(settings, "volume", 50);
  g_assert_false(g_settings_is_writable(settings, "volume"));
  g_assert_false(g_settings_set_int(settings, "volume", 7));
  g_settings_reset(settings, "volume");
  g_assert_cmpstr(changes->str, ==, "");
  g_settings_delay(settings);
  g_settings_set_int(settings, "volume", 8);
  g_settings_apply(settings);
  g_settings_revert(settings);
  g_settings_sync();
  assert_int_setting(settings, "volume", 50);
  g_assert_cmpint(warnings, ==, 1);
  g_object_unref(settings);
}

static void a_file_in_place_of_the_folder(void) {
  have_home(file_named("file-home"));
  put_file(file_named("file-home/kept"), "this is a file");
  assert_has_defaults();
}

static void a_store_that_is_a_file(void) {
  have_home(file_named("store-home"));
  g_mkdir(file_named("store-home/kept"), 0700);
  put_file(file_named("store-home/kept/gsettings.kept"), "this is a file");
  assert_has_defaults();
}

static void a_store_with_an_invalid_name(void) {
  g_setenv("KEPT_GSETTINGS_STORE", "..", TRUE);
  assert_has_defaults();
}

static void a_managed_file_that_is_damaged(void) {
  have_home(file_named("managed-home"));
  put_file(file_named("damaged.json"), "{\"locked\":[");
  g_setenv("KEPT_GSETTINGS_MANAGED", file_named("damaged.json"), TRUE);
  assert_has_defaults();
}

static void a_managed_file_that_others_can_write(void) {
  have_home(file_named("writable-home"));
  put_file(file_named("writable.json"), "{\"locked\":[\"" PLAYER ".volume\"]}");
  g_chmod(file_named("writable.json"), 0666);
  g_setenv("KEPT_GSETTINGS_MANAGED", file_named("writable.json"), TRUE);
  assert_has_defaults();
}

static void a_damaged_store(void) {
  have_home(file_named("damaged-home"));
  g_mkdir(file_named("damaged-home/kept"), 0700);
  g_mkdir(file_named("damaged-home/kept/gsettings.kept"), 0700);
  char *garbage = g_strnfill(8192, 'x');
  put_file(file_named("damaged-home/kept/gsettings.kept/values"), garbage);
  g_chmod(file_named("damaged-home/kept/gsettings.kept/values"), 0600);
  g_free(garbage);
  GSettings *settings = g_settings_new(PLAYER);
  g_assert_cmpint(warnings, ==, 1);
  assert_int_setting(settings, "volume", 50);
  g_assert_true(g_settings_set_int(settings, "volume", 7));
  assert_int_setting(settings, "volume", 7);
  g_assert_cmpint(warnings, ==, 1);
  g_object_unref(settings);
}

/* Locked keys stay locked where the user's settings cannot be read. */
static void locks_without_a_store(void) {
  have_home(file_named("locks-home"));
  put_file(file_named("locks-home/kept"), "this is a file");
  put_file(file_named("locks.json"), "{\"values\":{\"" PLAYER ".volume\":30}}");
  put_file(file_named("defaults.json"), "{\"values\":{\"" PLAYER ".theme\":\"site\"}}");
  g_setenv("KEPT_GSETTINGS_MANAGED", file_named("locks.json"), TRUE);
  g_setenv("KEPT_GSETTINGS_SYSTEM", file_named("defaults.json"), TRUE);
  GSettings *settings = g_settings_new(PLAYER);
  assert_int_setting(settings, "volume", 30);
  assert_text(settings, "theme", "site");
  g_assert_false(g_settings_is_writable(settings, "volume"));
  g_assert_false(g_settings_set_int(settings, "volume", 7));
  g_assert_false(g_settings_is_writable(settings, "theme"));
  g_assert_false(g_settings_set_string(settings, "theme", "own"));
  assert_text(settings, "theme", "site");
  g_assert_cmpint(warnings, ==, 1);
  g_object_unref(settings);
}

/* The cause is gone: the next set opens the store. */
static void a_store_that_can_be_opened_later(void) {
  have_home(file_named("later-home"));
  put_file(file_named("later-home/kept"), "this is a file");
  GSettings *settings = g_settings_new(PLAYER);
  GString *changes = record(settings, "changed");
  g_assert_false(g_settings_set_int(settings, "volume", 7));
  g_unlink(file_named("later-home/kept"));
  g_assert_true(g_settings_set_int(settings, "volume", 8));
  assert_int_setting(settings, "volume", 8);
  g_assert_true(g_settings_is_writable(settings, "volume"));
  WAIT_UNTIL(strstr(changes->str, "changed::volume ") != NULL);
  g_assert_cmpint(warnings, ==, 1);
  g_object_unref(settings);
}

static void run_as_root(gconstpointer body) {
  if (geteuid() == 0) run(body);
  else g_test_skip("this needs to be root at first, to become another user");
}

/* A program of a user who may read no more than anyone. */
static void become_nobody(void) {
  g_chmod(g_getenv("SETTINGS_TEST_FOLDER"), 0755);
  /* The modules are looked for while their folder can be read. */
  g_vfs_get_default();
  g_settings_schema_source_get_default();
  g_assert_cmpint(setgid(nobody), ==, 0);
  g_assert_cmpint(setuid(nobody), ==, 0);
}

static void a_user_without_a_home(void) {
  become_nobody();
  g_unsetenv("XDG_CONFIG_HOME"), g_unsetenv("HOME");
  assert_has_defaults();
}

static void a_home_that_cannot_be_written(void) {
  become_nobody();
  g_unsetenv("XDG_CONFIG_HOME");
  g_setenv("HOME", g_getenv("SETTINGS_TEST_FOLDER"), TRUE);
  assert_has_defaults();
}

static void a_home_that_does_not_exist(void) {
  become_nobody();
  g_setenv("XDG_CONFIG_HOME", "/nonexistent/home", TRUE);
  assert_has_defaults();
}

static void set_in_a_store(const char *key, gint64 value) {
  kept_store *store;
  kept_error error = { .message = "" };
  kept_open("gsettings", NULL, &store, &error);
  g_assert_cmpstr(error.message, ==, "");
  g_assert_cmpint(kept_set_int64(store, key, value, NULL), ==, KEPT_OK);
  kept_close(store);
}

static void a_store_of_another_user(void) {
  have_home(file_named("other-home"));
  set_in_a_store(PLAYER ".volume", 11);
  g_chmod(file_named("other-home/kept"), 0755);
  g_chmod(file_named("other-home/kept/gsettings.kept"), 0755);
  GDir *entries = g_dir_open(file_named("other-home/kept/gsettings.kept"), 0, NULL);
  for (const char *name; (name = g_dir_read_name(entries)) != NULL;) {
    char *path = g_build_filename(file_named("other-home/kept/gsettings.kept"), name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) g_chmod(path, 0644);
    g_free(path);
  }
  g_dir_close(entries);
  become_nobody();
  assert_is_read_only(11);
}

/* A file system of 2 MiB that ends with the process. FALSE if it may not mount one. */
static gboolean mount_small_disk(const char *path) {
  g_mkdir(path, 0755);
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
    mount("tmpfs", path, "tmpfs", 0, "size=2m,mode=755") == 0;
}

static void run_with_disk(gconstpointer body) {
  int status = 0;
  pid_t probe = g_test_subprocess() ? 0 : fork();
  if (probe == 0 && !g_test_subprocess()) _exit(mount_small_disk(file_named("probe")) ? 0 : 1);
  if (probe > 0) waitpid(probe, &status, 0);
  if (status == 0) run(body);
  else g_test_skip("this needs the right to mount a file system");
}

static void fill(const char *path) {
  FILE *file = fopen(path, "w");
  char block[4096] = { 0 };
  g_assert_nonnull(file);
  setbuf(file, NULL);
  while (fwrite(block, sizeof block, 1, file) == 1);
  fclose(file);
}

static void a_disk_that_was_full_before(void) {
  g_assert_true(mount_small_disk(file_named("full")));
  g_setenv("XDG_CONFIG_HOME", file_named("full"), TRUE);
  fill(file_named("full/filler"));
  assert_has_defaults();
}

/* The stored values are read, as on dconf, small ones are set in the room that the store has, and no lost value is
 * reported as set. */
static void a_store_on_a_disk_that_was_full_before(void) {
  g_assert_true(mount_small_disk(file_named("full-store")));
  g_setenv("XDG_CONFIG_HOME", file_named("full-store"), TRUE);
  set_in_a_store(PLAYER ".volume", 11);
  fill(file_named("full-store/filler"));
  GSettings *settings = g_settings_new(PLAYER);
  g_assert_cmpint(warnings, ==, 0);
  assert_int_setting(settings, "volume", 11);
  char *large = g_strnfill(1 << 20, 'x');
  g_assert_false(g_settings_set_string(settings, "theme", large));
  assert_text(settings, "theme", "plain");
  g_assert_cmpint(warnings, ==, 1);
  g_assert_true(g_settings_set_int(settings, "volume", 12));
  assert_int_setting(settings, "volume", 12);
  g_unlink(file_named("full-store/filler"));
  g_assert_true(g_settings_set_string(settings, "theme", "kept"));
  g_assert_cmpint(warnings, ==, 1);
  g_free(large);
  g_object_unref(settings);
  kept_store *store;
  gint64 volume = 0;
  g_assert_cmpint(kept_open("gsettings", NULL, &store, NULL), ==, KEPT_OK);
  g_assert_cmpint(kept_get_int64(store, PLAYER ".volume", &volume, NULL), ==, KEPT_OK);
  g_assert_cmpint(volume, ==, 12);
  kept_close(store);
}

static void a_disk_that_becomes_full(void) {
  g_assert_true(mount_small_disk(file_named("filled")));
  g_setenv("XDG_CONFIG_HOME", file_named("filled"), TRUE);
  GSettings *settings = g_settings_new(PLAYER);
  GString *changes = record(settings, "changed");
  g_assert_true(g_settings_set_string(settings, "theme", "kept"));
  fill(file_named("filled/filler"));
  char *large = g_strnfill(1 << 20, 'x');
  for (int i = 0; i < 5; i++) g_assert_false(g_settings_set_string(settings, "theme", large));
  assert_text(settings, "theme", "kept");
  g_assert_cmpstr(changes->str, ==, "changed::theme ");
  g_assert_cmpint(warnings, ==, 1);
  g_unlink(file_named("filled/filler"));
  g_assert_true(g_settings_set_string(settings, "theme", "again"));
  assert_text(settings, "theme", "again");
  fill(file_named("filled/filler"));
  g_assert_false(g_settings_set_string(settings, "theme", large));
  g_assert_cmpint(warnings, ==, 2);
  g_free(large);
  g_object_unref(settings);
}

static void a_value_over_the_limit(void) {
  have_home(file_named("limit-home"));
  GSettings *settings = g_settings_new(PLAYER);
  char *large = g_strnfill((16 << 20) + 1, 'x');
  g_assert_false(g_settings_set_string(settings, "theme", large));
  g_free(large);
  g_assert_cmpint(warnings, ==, 1);
  assert_text(settings, "theme", "plain");
  g_assert_true(g_settings_set_string(settings, "theme", "small"));
  g_object_unref(settings);
}

static void a_name_over_the_limit(void) {
  have_home(file_named("name-home"));
  char *name = g_strnfill(1100, 'x'), *path = g_strdup_printf("/org/example/%s/", name);
  GSettings *settings = g_settings_new_with_path("org.example.kept.profile", path);
  assert_text(settings, "name", "nobody");
  g_assert_null(g_settings_get_user_value(settings, "name"));
  g_assert_false(g_settings_set_string(settings, "name", "long"));
  assert_text(settings, "name", "nobody");
  g_assert_cmpint(warnings, ==, 1);
  g_free(path), g_free(name);
  g_object_unref(settings);
}

#define ADD_RUN(name, body, run) g_test_add_data_func("/unreachable/" name, (gconstpointer)(body), run)
#define ADD(name, body) ADD_RUN(name, body, run)

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  ADD("a file in place of the folder leaves defaults", a_file_in_place_of_the_folder);
  ADD("a store that is a file leaves defaults", a_store_that_is_a_file);
  ADD("a store with an invalid name leaves defaults", a_store_with_an_invalid_name);
  ADD("a managed file that is damaged locks everything", a_managed_file_that_is_damaged);
  ADD("a managed file that others can write locks everything", a_managed_file_that_others_can_write);
  ADD("a damaged store is salvaged with a warning", a_damaged_store);
  ADD("locks hold without a store", locks_without_a_store);
  ADD("a store that can be opened later is", a_store_that_can_be_opened_later);
  ADD_RUN("a user without a home has defaults", a_user_without_a_home, run_as_root);
  ADD_RUN("a home that cannot be written leaves defaults", a_home_that_cannot_be_written, run_as_root);
  ADD_RUN("a home that does not exist leaves defaults", a_home_that_does_not_exist, run_as_root);
  ADD_RUN("a store of another user is read", a_store_of_another_user, run_as_root);
  ADD_RUN("a disk that was full before leaves defaults", a_disk_that_was_full_before, run_with_disk);
  ADD_RUN("a store on a disk that was full before is used", a_store_on_a_disk_that_was_full_before, run_with_disk);
  ADD_RUN("a disk that becomes full gives one warning", a_disk_that_becomes_full, run_with_disk);
  ADD("a value over the limit is refused", a_value_over_the_limit);
  ADD("a name over the limit has its default", a_name_over_the_limit);
  return run_tests();
}
