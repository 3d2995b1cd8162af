/* GSettings on dconf, in a session bus of its own. */
#define G_SETTINGS_ENABLE_BACKEND
#include "channel.h"

#include "../complaint.h"
#include "../folders.h"

#include <gio/gio.h>
#include <gio/gsettingsbackend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCHEMA "org.example.hearing"

static void compile_schema(const char *folder) {
  char *path = folder_path(folder, SCHEMA ".gschema.xml"), *command;
  FILE *file = fopen(path, "w");
  if (!file) complain("cannot write %s", path);
  fputs("<schemalist><schema id='" SCHEMA "' path='/org/example/hearing/'><key name='clock' type='x'>"
        "<default>0</default></key></schema></schemalist>", file);
  fclose(file);
  if (asprintf(&command, "glib-compile-schemas '%s'", folder) < 0 || system(command) != 0) complain("no schema");
  free(command);
  free(path);
}

void enter_session(const char *folder, char **arguments) {
  if (getenv("BENCH_SESSION")) return;
  compile_schema(folder);
  setenv("BENCH_SESSION", "1", 1);
  setenv("GSETTINGS_BACKEND", "dconf", 1);
  setenv("GSETTINGS_SCHEMA_DIR", folder, 1);
  setenv("XDG_CONFIG_HOME", folder, 1);
  /* Another folder: dconf has a file of the same name there. */
  char *runtime = folder_make(folder, "runtime");
  setenv("XDG_RUNTIME_DIR", runtime, 1);
  free(runtime);
  size_t count = 0;
  while (arguments[count]) count++;
  char **whole = calloc(count + 3, sizeof *whole);
  if (!whole) complain("no memory");
  whole[0] = "dbus-run-session";
  whole[1] = "--";
  memcpy(whole + 2, arguments, count * sizeof *whole);
  execvp(whole[0], whole);
  complain("cannot run dbus-run-session");
}

/* GSettings falls back on memory without a word where dconf is not installed. */
static void *open_settings(const char *folder) {
  (void)folder;
  const char *backend = G_OBJECT_TYPE_NAME(g_settings_backend_get_default());
  if (strcmp(backend, "DConfSettingsBackend") != 0) complain("GSettings would use %s in place of dconf", backend);
  return g_settings_new(SCHEMA);
}

static void note(GSettings *settings, const char *key, gpointer samples) {
  heard(samples, (uint64_t)g_settings_get_int64(settings, key));
}

static void hear(const char *folder, samples *samples) {
  GSettings *settings = open_settings(folder);
  g_signal_connect(settings, "changed::clock", G_CALLBACK(note), samples);
  g_settings_get_int64(settings, "clock");
  atomic_store(&samples->is_ready, 1);
  g_main_loop_run(g_main_loop_new(NULL, FALSE));
}

static void write_value(void *settings, uint64_t value) {
  if (!g_settings_set_int64(settings, "clock", (int64_t)value)) complain("GSettings cannot set");
}

const channel gsettings_channel = {"GSettings", "contestant", hear, open_settings, write_value};
