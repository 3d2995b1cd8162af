/* A program that declares 10,000 keys when it starts: for the first time, again, and listing them. The store is
 * reopened each time, so that nothing is in memory; reopening is not counted. */
#include "clock.h"
#include "fatal.h"
#include "folders.h"
#include "rows.h"
#include "variants.h"

#include <stdlib.h>
#include <string.h>

#define COUNT 10000

typedef struct state {
  operation operation;
  char *folder, *list;
} state;

static void *prepare(const row *row, const candidate *candidate, const char *folder) {
  (void)candidate;
  state *prepared = malloc(sizeof *prepared);
  if (!prepared) die("no memory");
  *prepared = (state){ row->operation, strdup(folder), declaration_list(COUNT, BOUNDED_INTEGER) };
  if (row->operation != DECLARE_FIRST) create_declared(folder, COUNT, BOUNDED_INTEGER);
  return prepared;
}

static void list_declarations(kept_store *store) {
  kept_error error;
  char *json;
  expect_done(kept_declarations_json(store, "", &json, &error), &error, "list declarations");
  kept_free(json);
}

static uint64_t turn_once(state *state) {
  kept_error error;
  char *fresh = state->operation == DECLARE_FIRST ? folder_make(state->folder, "fresh") : strdup(state->folder);
  kept_store *store = open_kept(fresh, NULL);
  uint64_t began = clock_ns();
  if (state->operation == LIST_DECLARATIONS) list_declarations(store);
  else expect_done(kept_declare_list(store, state->list, &error), &error, "declare");
  uint64_t took = clock_ns() - began;
  kept_close(store);
  free(fresh);
  return took;
}

static uint64_t turn(void *state, size_t operations) {
  uint64_t took = 0;
  while (operations--) took += turn_once(state);
  return took;
}

static void finish(void *state_) {
  state *state = state_;
  free(state->folder);
  free(state->list);
  free(state);
}

const task declaring = { prepare, turn, finish };
