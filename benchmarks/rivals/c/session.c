/* Compiles the schemas and starts this program again under dbus-run-session. */
#include "session.h"

#include "fatal.h"
#include "folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void compile(const char *folder, const char *schemas) {
  char *path = folder_path(folder, "bench.gschema.xml"), *command;
  FILE *file = fopen(path, "w");
  if (!file) die("cannot write %s", path);
  fprintf(file, "<schemalist>%s</schemalist>", schemas);
  fclose(file);
  if (asprintf(&command, "glib-compile-schemas '%s'", folder) < 0 || system(command) != 0) die("no schema");
  free(command);
  free(path);
}

void enter_session(const char *folder, char **arguments, const char *schemas) {
  if (getenv("BENCH_SESSION")) return;
  compile(folder, schemas);
  /* dconf rewrites its whole database at each change, including what another program has left there. */
  char *left = folder_path(folder, "dconf");
  folder_remove(left);
  free(left);
  setenv("BENCH_SESSION", "1", 1);
  setenv("GSETTINGS_BACKEND", "dconf", 1);
  setenv("GSETTINGS_SCHEMA_DIR", folder, 1);
  setenv("XDG_CONFIG_HOME", folder, 1);
  /* A separate folder: dconf has a file of the same name there. */
  char *runtime = folder_make(folder, "runtime");
  setenv("XDG_RUNTIME_DIR", runtime, 1);
  free(runtime);
  size_t count = 0;
  while (arguments[count]) count++;
  char **whole = calloc(count + 3, sizeof *whole);
  if (!whole) die("no memory");
  whole[0] = "dbus-run-session";
  whole[1] = "--";
  memcpy(whole + 2, arguments, count * sizeof *whole);
  execvp(whole[0], whole);
  die("cannot run dbus-run-session");
}
