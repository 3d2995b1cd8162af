/* Kept has a function for each. */
#include "copier.h"

#include "../fatal.h"
#include "../variants.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "section-" /* of every key, except the one that the concurrent writer sets */

static void take_snapshot(life *life, const char *path) {
  kept_store *snapshot;
  kept_error error;
  (void)path;
  expect_done(kept_snapshot(life->store, "", &snapshot, &error), &error, "take a snapshot");
  kept_snapshot_end(snapshot);
}

static void export_all(life *life, const char *path) {
  kept_error error;
  expect_done(kept_export_file(life->store, path, NULL, &error), &error, "export");
}

static void import_file(life *life, const char *path, uint32_t flags) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  kept_error error;
  options.flags = flags;
  expect_done(kept_import_file(life->store, path, &options, NULL, &error), &error, "import");
}

static void import_all(life *life, const char *path) { import_file(life, path, 0); }

static void import_replacing(life *life, const char *path) { import_file(life, path, KEPT_TRANSFER_REPLACE); }

static void back_up(life *life, const char *path) {
  kept_error error;
  expect_done(kept_backup(life->store, path, 0, NULL, &error), &error, "back up");
}

typedef struct names {
  char **names;
  size_t count;
} names;

static int keep_name(void *names_, const char *name) {
  names *names = names_;
  names->names[names->count++] = strdup(name);
  return 0;
}

/* As in a program that knows no key by name. */
static kept_status set_each(void *life_, kept_store *transaction, kept_error *error) {
  life *life = life_;
  names listed = { calloc(life->walk.count, sizeof(char *)), 0 };
  if (!listed.names) die("no memory for names");
  kept_status status = kept_list(transaction, PREFIX, keep_name, &listed, error);
  for (size_t at = 0; at < listed.count && status == KEPT_OK; at++) {
    status = kept_set_int64(transaction, listed.names[at], ++life->walk.stamp, error);
  }
  for (size_t at = 0; at < listed.count; at++) free(listed.names[at]);
  free(listed.names);
  return status;
}

static void migrate(life *life, const char *path) {
  const kept_migration step = { ++life->version, 0, "integers in place of texts", set_each, life };
  uint32_t result;
  kept_error error;
  (void)path;
  expect_done(kept_migrate(life->store, &step, 1, 0, &result, NULL, &error), &error, "migrate");
  if (result != KEPT_MIGRATED) die("Kept ran no step");
}

static void restore(life *life, const char *path) {
  kept_error error;
  expect_done(kept_restore(life->store, path, NULL, NULL, &error), &error, "restore");
}

const copier kept_copier = { &kept,
  {
    [SNAPSHOT] = take_snapshot,
    [EXPORT] = export_all,
    [IMPORT] = import_all,
    [BACKUP] = back_up,
    [MIGRATION] = migrate,
    [REPLACING_IMPORT] = import_replacing,
    [RESTORE] = restore,
  } };
