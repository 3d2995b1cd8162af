/* whole FOLDER OPERATION COUNT: runs one operation on all of a store's COUNT keys, for callgrind to count instructions.
 * Before that it does the same with another store, uncounted, so that the work of first use is not included. */
#include "../rivals/c/copies/copier.h"
#include "../rivals/c/fatal.h"
#include "../rivals/c/filling.h"
#include "../rivals/c/folders.h"
#include "../rivals/c/variants.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

/* Whether this is the run that counts. */
static bool is_counted;

static void count_or_stop(void) {
  if (is_counted) CALLGRIND_TOGGLE_COLLECT;
}

typedef struct operation {
  /* Makes the store, closed, so that no state of the filling is left. Returns the argument of `run`; free() it. */
  char *(*prepare)(const char *folder, size_t count);
  void (*run)(life *life, const char *argument);
} operation;

static char *prepare_texts(const char *folder, size_t count) {
  kept.close(open_filled(&kept, folder, false, (contents){ .keys = count, .length = 20 }));
  return folder_path(folder, "export.json");
}

/* An empty store, and a file of texts. */
static char *prepare_import(const char *folder, size_t count) {
  char *exported = folder_make(folder, "exported"), *file = prepare_texts(exported, count);
  life life = { .store = kept.open(exported, false) };
  kept_copier.acts[EXPORT](&life, file);
  kept.close(life.store);
  free(exported);
  kept.create(folder);
  return file;
}

static char *prepare_declarations(const char *folder, size_t count) {
  create_declared(folder, count, BOUNDED_INTEGER);
  return declaration_list(count, BOUNDED_INTEGER);
}

static void declare_again(life *life, const char *list) {
  kept_error error;
  expect_done(kept_declare_list(life->store, list, &error), &error, "declare");
}

static void list_declarations(life *life, const char *unused) {
  char *json;
  kept_error error;
  (void)unused;
  expect_done(kept_declarations_json(life->store, "", &json, &error), &error, "list declarations");
  kept_free(json);
}

/* Declared keys that have values, which listing them compares. */
static char *prepare_declared_values(const char *folder, size_t count) {
  kept_error error;
  create_declared(folder, count, BOUNDED_INTEGER);
  kept_store *store = kept.open(folder, false), *all;
  expect_done(kept_begin(store, NULL, &all, &error), &error, "begin");
  for (size_t at = 0; at < count; at++)
    expect_done(kept_set_int64(all, keys_of(count)->sorted[at].text, 1, &error), &error, "set");
  expect_done(kept_commit(all, NULL, &error), &error, "commit");
  kept.close(store);
  return NULL;
}

static void list_keys(life *life, const char *unused) {
  char *json;
  kept_error error;
  (void)unused;
  expect_done(kept_list_json(life->store, "", &json, &error), &error, "list keys");
  kept_free(json);
}

static operation operation_named(const char *name) {
  if (strcmp(name, "snapshot") == 0) return (operation){ prepare_texts, kept_copier.acts[SNAPSHOT] };
  if (strcmp(name, "export") == 0) return (operation){ prepare_texts, kept_copier.acts[EXPORT] };
  if (strcmp(name, "import") == 0) return (operation){ prepare_import, kept_copier.acts[IMPORT] };
  if (strcmp(name, "declare_again") == 0) return (operation){ prepare_declarations, declare_again };
  if (strcmp(name, "list_declarations") == 0) return (operation){ prepare_declarations, list_declarations };
  if (strcmp(name, "list_keys") == 0) return (operation){ prepare_declared_values, list_keys };
  die("there is no operation %s", name);
}

/* Callgrind counts only what this thread does: the library's own threads depend on time. */
static void run_once(operation operation, const char *parent, size_t count) {
  char *folder = folder_make(parent, "whole"), *argument = operation.prepare(folder, count);
  life life = { .folder = folder, .store = kept.open(folder, false), .walk = { .steps = count } };
  count_or_stop();
  operation.run(&life, argument);
  count_or_stop();
  kept.close(life.store);
  folder_remove(folder);
  free(argument);
  free(folder);
}

int main(int count, char **arguments) {
  if (count != 4) die("usage: whole FOLDER OPERATION COUNT");
  operation operation = operation_named(arguments[2]);
  size_t keys = strtoul(arguments[3], NULL, 10);
  run_once(operation, arguments[1], keys);
  is_counted = true;
  run_once(operation, arguments[1], keys);
  return 0;
}
