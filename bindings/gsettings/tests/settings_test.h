/* What the tests of the GSettings backend have in common. Each program keeps its settings in a folder of its own, which
 * is removed when it ends. */
#ifndef SETTINGS_TEST_H
#define SETTINGS_TEST_H

#include <gio/gio.h>
#include <kept.h>

#include "files.h"

/* Called first in main(): makes the folder, selects the backend unless the environment has, and calls
 * g_test_init(). */
void set_up(int *argc, char ***argv);
/* Runs the tests, and removes the folder. */
int run_tests(void);

/* A file in that folder; valid until the program ends. */
const char *file_named(const char *name);

/* Removes a folder, if it exists. It is moved first: a program that notices the removal makes a new store in its place,
 * and would lose a part of that, too. */
void remove_folder(const char *path);

/* Another handle on the store that the backend has open, as another Swift, C or Python program would have; never
 * closed. */
kept_store *other_handle(void);
/* Sets a key through it. */
void set_elsewhere(const char *key, const char *json);
/* What the store has for a key, as JSON, or the name of the status; valid until the next call. */
const char *stored(const char *key);
guint64 store_revision(void);

void reset_all(GSettings *settings);

/* Runs GLib's command `gsettings` with these arguments, which end with NULL, and returns what it printed; freed with
 * g_free(). */
char *gsettings_command(const char *first, ...) G_GNUC_NULL_TERMINATED;

/* Runs the default main context until a condition holds; the test fails if it does not within a minute. */
#define WAIT_UNTIL(condition) \
  G_STMT_START { \
    gint64 wait_end = g_get_monotonic_time() + G_TIME_SPAN_MINUTE; \
    while (!(condition) && g_get_monotonic_time() < wait_end) run_main_context(); \
    g_assert_true(condition); \
  } \
  G_STMT_END
/* Runs the default main context until something has happened in it, or for a second. */
void run_main_context(void);

/* What signals were emitted: "changed::volume ", "change-event:volume,theme ", "writable-changed::volume ". The text
 * is freed with the object. */
GString *record(GSettings *settings, const char *signal);

/* Waits until every change that was made before it has been announced to all objects. */
void wait_for_earlier_changes(void);

#define assert_int_setting(settings, key, expected) g_assert_cmpint(g_settings_get_int(settings, key), ==, expected)

#define assert_text(settings, key, expected) \
  G_STMT_START { \
    char *found_text = g_settings_get_string(settings, key); \
    g_assert_cmpstr(found_text, ==, expected); \
    g_free(found_text); \
  } \
  G_STMT_END

#endif
