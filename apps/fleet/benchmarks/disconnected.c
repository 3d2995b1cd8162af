/* disconnected FOLDER get|set COUNT: reads or writes COUNT values of FOLDER/store with the managed layer that
 * kept-fleet follows into FOLDER, for callgrind to count instructions. Before that it uses each key once, uncounted. */
#include "../../../benchmarks/rivals/c/fatal.h"

#include <kept.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#define KEYS 1000u

static char names[KEYS][24];

static void check(kept_status status, const kept_error *error) {
  if (status != KEPT_OK) die("Kept: %s (%s)", error->message, kept_status_text(status));
}

static void set(kept_store *store, unsigned long number) {
  kept_error error;
  check(kept_set_int64(store, names[number % KEYS], (int64_t)number, &error), &error);
}

static void get(kept_store *store, unsigned long number) {
  int64_t value;
  kept_error error;
  check(kept_get_int64(store, names[number % KEYS], &value, &error), &error);
}

int main(int count, char **arguments) {
  if (count != 4) die("usage: disconnected FOLDER get|set COUNT");
  char path[512], managed[512];
  snprintf(path, sizeof path, "%s/store", arguments[1]);
  snprintf(managed, sizeof managed, "%s/managed.json", arguments[1]);
  unsigned long operations = strtoul(arguments[3], NULL, 10);
  void (*operation)(kept_store *, unsigned long) = strcmp(arguments[2], "get") == 0 ? get : set;
  for (unsigned number = 0; number < KEYS; number++) snprintf(names[number], sizeof names[number], "key.%u", number);
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = managed;
  kept_store *store;
  kept_error error;
  check(kept_open(path, &options, &store, &error), &error);
  for (unsigned long number = 0; number < KEYS; number++) set(store, number);
  for (unsigned long number = 0; number < KEYS; number++) operation(store, number);
  CALLGRIND_TOGGLE_COLLECT;
  for (unsigned long number = 0; number < operations; number++) operation(store, number);
  CALLGRIND_TOGGLE_COLLECT;
  kept_close(store);
  return 0;
}
