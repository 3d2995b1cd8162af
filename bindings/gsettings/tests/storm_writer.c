/* A program of GSettings in a storm: writes its own key and those that it shares, observes all, and is killed.
 *
 *   gsettings_storm_writer NAME NEXT SEED LOG [lose|reorder]
 *
 * Sets its key NAME to NAME:<number> with numbers from NEXT on, and in every third change, as one, a shared key to the
 * same. LOG has a line "try KEY VALUE" before each, "ack KEY VALUE" after, and "saw KEY VALUE" for each signal. A line
 * on standard input ends the writing, the end of standard input the program. `lose` and `reorder` are faults that the
 * test must find: changes that are not made, and signals that are noted in another order. */
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

enum { shared_keys = 4, lost_from = 40, reordered = 10 };

static struct {
  const char *name, *fault;
  GRand *random;
  GSettings *settings, *delayed;
  int log;
  guint next, written, seen;
  gboolean has_stopped;
  /* What `reorder` holds back. */
  char *held_key, *held_value;
} program;

static void note(const char *verb, const char *key, const char *value) {
  char *line = g_strdup_printf("%s %s %s\n", verb, key, value);
  if (write(program.log, line, strlen(line)) < 0) g_error("The log cannot be written");
  g_free(line);
}

static gboolean has_fault(const char *name) { return g_strcmp0(program.fault, name) == 0; }

static gboolean hold_back(const char *key, const char *value) {
  if (!has_fault("reorder") || program.held_key != NULL || ++program.seen % reordered != 0) return FALSE;
  program.held_key = g_strdup(key), program.held_value = g_strdup(value);
  return TRUE;
}

static void on_changed(GSettings *settings, const char *key, gpointer data) {
  char *value = g_settings_get_string(settings, key);
  if (!hold_back(key, value)) note("saw", key, value);
  if (g_strcmp0(key, program.held_key) == 0 && strcmp(value, program.held_value) != 0) {
    note("saw", key, program.held_value);
    g_clear_pointer(&program.held_key, g_free);
    g_clear_pointer(&program.held_value, g_free);
  }
  g_free(value);
}

static void set_own(const char *value) {
  note("try", program.name, value);
  gboolean is_set =
    (has_fault("lose") && program.written >= lost_from) || g_settings_set_string(program.settings, program.name, value);
  if (is_set) note("ack", program.name, value);
}

static void set_both(const char *shared, const char *value) {
  note("try", program.name, value);
  note("try", shared, value);
  g_settings_set_string(program.delayed, program.name, value);
  g_settings_set_string(program.delayed, shared, value);
  if (has_fault("lose") && program.written >= lost_from) g_settings_revert(program.delayed);
  else g_settings_apply(program.delayed);
  note("ack", program.name, value);
  note("ack", shared, value);
}

static gboolean write_next(gpointer data) {
  if (program.has_stopped) {
    note("stopped", "", "");
    return G_SOURCE_REMOVE;
  }
  char *value = g_strdup_printf("%s:%u", program.name, program.next++);
  char *shared = g_strdup_printf("shared%d", g_rand_int_range(program.random, 0, shared_keys));
  if (g_rand_int_range(program.random, 0, 3) == 0) set_both(shared, value);
  else set_own(value);
  program.written++;
  g_free(shared), g_free(value);
  g_timeout_add((guint)g_rand_int_range(program.random, 1, 25), write_next, NULL);
  return G_SOURCE_REMOVE;
}

static gboolean on_input(GIOChannel *channel, GIOCondition condition, gpointer loop) {
  char byte;
  gsize count = 0;
  g_io_channel_read_chars(channel, &byte, 1, &count, NULL);
  if (count == 0) g_main_loop_quit(loop);
  program.has_stopped = TRUE;
  return count > 0;
}

static void note_present(void) {
  GSettingsSchema *schema;
  g_object_get(program.settings, "settings-schema", &schema, NULL);
  char **keys = g_settings_schema_list_keys(schema);
  for (gsize i = 0; keys[i] != NULL; i++) on_changed(program.settings, keys[i], NULL);
  g_strfreev(keys);
  g_settings_schema_unref(schema);
}

int main(int count, char **arguments) {
  if (count < 5) g_error("gsettings_storm_writer NAME NEXT SEED LOG [lose|reorder]");
  program.name = arguments[1];
  program.next = (guint)g_ascii_strtoull(arguments[2], NULL, 10);
  program.random = g_rand_new_with_seed((guint32)g_ascii_strtoull(arguments[3], NULL, 10));
  program.log = open(arguments[4], O_WRONLY | O_APPEND | O_CREAT, 0600);
  program.fault = arguments[5];
  program.settings = g_settings_new("org.example.storm");
  program.delayed = g_settings_new("org.example.storm");
  g_settings_delay(program.delayed);
  g_signal_connect(program.settings, "changed", G_CALLBACK(on_changed), NULL);
  note_present();

  GMainLoop *loop = g_main_loop_new(NULL, FALSE);
  GIOChannel *input = g_io_channel_unix_new(STDIN_FILENO);
  g_io_channel_set_encoding(input, NULL, NULL);
  g_io_channel_set_buffered(input, FALSE);
  g_io_add_watch(input, G_IO_IN | G_IO_HUP, on_input, loop);
  g_idle_add(write_next, NULL);
  g_main_loop_run(loop);
  g_main_loop_unref(loop);
  g_io_channel_unref(input);
  g_object_unref(program.delayed), g_object_unref(program.settings);
  g_rand_free(program.random);
  return 0;
}
