#define _GNU_SOURCE
#include "settings_test.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

static const char *folder;
static gboolean is_own_folder;

void set_up(int *argc, char ***argv) {
  g_setenv("GIO_EXTRA_MODULES", MODULES, TRUE);
  g_setenv("GSETTINGS_SCHEMA_DIR", SCHEMAS, TRUE);
  g_setenv("GSETTINGS_BACKEND", "kept", FALSE);
  g_setenv("LC_ALL", "C.UTF-8", TRUE);
  /* A subprocess of a test has the folder of its parent. */
  folder = g_getenv("SETTINGS_TEST_FOLDER");
  is_own_folder = folder == NULL;
  if (is_own_folder) {
    folder = g_dir_make_tmp("kept-settings-XXXXXX", NULL);
    g_assert_nonnull(folder);
    g_setenv("SETTINGS_TEST_FOLDER", folder, TRUE);
    g_setenv("XDG_CONFIG_HOME", folder, TRUE);
    g_unsetenv("KEPT_GSETTINGS_STORE");
    g_setenv("KEPT_GSETTINGS_MANAGED", file_named("managed.json"), TRUE);
    g_setenv("KEPT_GSETTINGS_SYSTEM", file_named("system.json"), TRUE);
  }
  g_test_init(argc, argv, NULL);
}

int run_tests(void) {
  int result = g_test_run();
  if (is_own_folder) remove_tree(folder);
  return result;
}

const char *file_named(const char *name) {
  char *path = g_build_filename(folder, name, NULL);
  const char *kept = g_intern_string(path);
  g_free(path);
  return kept;
}

void remove_folder(const char *path) {
  char *aside = g_strconcat(path, ".removed", NULL);
  if (g_rename(path, aside) == 0) remove_tree(aside);
  g_free(aside);
}

kept_store *other_handle(void) {
  static kept_store *store;
  kept_error error = { .message = "" };
  if (store == NULL) kept_open("gsettings", NULL, &store, &error);
  g_assert_cmpstr(error.message, ==, "");
  return store;
}

void set_elsewhere(const char *key, const char *json) {
  kept_error error = { .message = "" };
  kept_set_json(other_handle(), key, json, &error);
  g_assert_cmpstr(error.message, ==, "");
}

const char *stored(const char *key) {
  static char *json;
  kept_free(json);
  json = NULL;
  kept_status status = kept_get_json(other_handle(), key, &json, NULL);
  return json != NULL ? json : kept_status_text(status);
}

guint64 store_revision(void) {
  uint64_t revision = 0;
  g_assert_cmpint(kept_store_revision(other_handle(), &revision, NULL), ==, KEPT_OK);
  return revision;
}

void reset_all(GSettings *settings) {
  GSettingsSchema *schema;
  g_object_get(settings, "settings-schema", &schema, NULL);
  char **keys = g_settings_schema_list_keys(schema);
  for (char **key = keys; *key != NULL; key++) g_settings_reset(settings, *key);
  g_strfreev(keys);
  g_settings_schema_unref(schema);
}

char *gsettings_command(const char *first, ...) {
  GPtrArray *arguments = g_ptr_array_new();
  g_ptr_array_add(arguments, "gsettings");
  va_list rest;
  va_start(rest, first);
  for (const char *argument = first; argument != NULL; argument = va_arg(rest, const char *))
    g_ptr_array_add(arguments, (char *)argument);
  va_end(rest);
  g_ptr_array_add(arguments, NULL);
  char *output = NULL, *errors = NULL;
  int status = 0;
  GError *error = NULL;
  g_spawn_sync(
    NULL, (char **)arguments->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &errors, &status, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(errors, ==, "");
  g_assert_cmpint(status, ==, 0);
  g_ptr_array_unref(arguments);
  g_free(errors);
  return g_strchomp(output);
}

static gboolean wake(gpointer unused) { return G_SOURCE_CONTINUE; }

void run_main_context(void) {
  guint second = g_timeout_add(1000, wake, NULL);
  g_main_context_iteration(NULL, TRUE);
  g_source_remove(second);
}

static void record_key(GSettings *settings, const char *key, gpointer record_) {
  g_string_append_printf(record_, "changed::%s ", key);
}

static void record_writable(GSettings *settings, const char *key, gpointer record_) {
  g_string_append_printf(record_, "writable-changed::%s ", key);
}

static gboolean record_event(GSettings *settings, const GQuark *keys, int count, gpointer record_) {
  g_string_append(record_, "change-event:");
  for (int i = 0; i < count; i++) g_string_append_printf(record_, "%s%s", i > 0 ? "," : "", g_quark_to_string(keys[i]));
  g_string_append_c(record_, ' ');
  return FALSE;
}

static void free_record(gpointer record_, GClosure *closure) { g_string_free(record_, TRUE); }

GString *record(GSettings *settings, const char *signal) {
  GString *record = g_string_new(NULL);
  GCallback callback = g_str_has_prefix(signal, "writable") ? G_CALLBACK(record_writable)
    : strcmp(signal, "change-event") == 0                   ? G_CALLBACK(record_event)
                                                            : G_CALLBACK(record_key);
  g_signal_connect_data(settings, signal, callback, record, free_record, 0);
  return record;
}

void wait_for_earlier_changes(void) {
  static int count;
  /* Changes are announced in the order of their commits. */
  GSettings *settings = g_settings_new("org.example.kept.marker");
  char *number = g_strdup_printf("%d", ++count);
  GString *changes = record(settings, "changed");
  set_elsewhere("org.example.kept.marker.number", number);
  WAIT_UNTIL(changes->len > 0);
  assert_int_setting(settings, "number", count);
  g_free(number);
  g_object_unref(settings);
}
