/* Loading a library into a fresh process: the program `load`, in the same folder, loads it and prints the time. */
#include "fatal.h"
#include "rows.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *library_of(const engine *engine) {
  Dl_info place;
  if (!engine->library || !dladdr(engine->library, &place)) die("%s has no library", engine->name);
  return place.dli_fname;
}

/* The command that loads an engine's library. */
static void *prepare(const row *row, const candidate *candidate, const char *folder) {
  (void)row, (void)folder;
  char self[PATH_MAX] = "", *command;
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) die("cannot find the path of this program");
  if (asprintf(&command, "'%s/load' '%s'", dirname(self), library_of(candidate->engine)) < 0) die("no memory");
  return command;
}

static uint64_t load_once(const char *command) {
  uint64_t took;
  FILE *answer = popen(command, "r");
  if (!answer || fscanf(answer, "%" SCNu64, &took) != 1 || pclose(answer) != 0) die("this failed: %s", command);
  return took;
}

static uint64_t turn(void *command, size_t operations) {
  uint64_t took = 0;
  while (operations--) took += load_once(command);
  return took;
}

const task loading = { prepare, turn, free };
