/* Migrations: changing the shape of settings. */
#include "migrating.h"
#include "suite.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FOLDER_TEST(a_backup_from_before_is_in_the_folder) {
  const char *location = fresh_folder();
  kept_store *store = played_at(location);
  char *backup = NULL;
  EXPECT(KEPT_OK, kept_migrate(store, &moved, 1, 0, NULL, &backup, &why));
  const char *folder = file_of(location, "backups/");
  CHECK(backup && strncmp(backup, folder, strlen(folder)) == 0);
  EXPECT(KEPT_OK, kept_restore(store, backup, NULL, NULL, &why));
  CHECK_TEXT("7", json_of(store, "volume"));
  CHECK_UINT(0, version_of(store));
  kept_free(backup);
}

TEST(a_handle_writes_again_when_its_version_is_back) {
  const char *location = fresh_location(), *folder = fresh_folder();
  kept_store *store = played_at(location), *older = open_at(location);
  mkdir(folder, 0700);
  EXPECT(KEPT_OK, migrate(store, &moved, 1, 0, NULL));
  EXPECT(KEPT_OK, kept_backup(store, file_of(folder, "copy"), 0, NULL, &why));
  EXPECT(KEPT_OK, migrate(store, (kept_migration[]){ moved, doubled }, 2, 0, NULL));
  EXPECT(KEPT_OK, migrate(older, &moved, 1, KEPT_MIGRATE_READ_ONLY, NULL));
  EXPECT(KEPT_DENIED, kept_set_int64(older, "a", 1, &why));
  EXPECT(KEPT_OK, kept_restore(store, file_of(folder, "copy"), NULL, NULL, &why));
  EXPECT(KEPT_OK, migrate(older, &moved, 1, KEPT_MIGRATE_READ_ONLY, NULL));
  EXPECT(KEPT_OK, kept_set_int64(older, "a", 1, &why));
}

/* Another process, in the middle of a step */

static kept_status wait_in_it(void *context, kept_store *transaction, kept_error *error) {
  signal_parent();
  await_parent();
  return kept_rename(transaction, "volume", "audio.volume", error);
}

ROLE(migrate_slowly, location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, migrate(store, &(kept_migration){ 1, 0, "slow", wait_in_it, NULL }, 1, 0, NULL));
}

FOLDER_TEST(other_processes_carry_on_or_wait_with_a_timeout) {
  const char *location = fresh_folder();
  kept_options options = KEPT_OPTIONS_INIT;
  uint32_t result = 99;
  kept_close(played_at(location));
  child other = start_child("migrate_slowly", location);
  await_child(&other);
  options.busy_timeout_ms = 50;
  kept_store *store = open_with(location, &options);
  EXPECT(KEPT_OK, migrate(store, &moved, 1, KEPT_MIGRATE_CARRY_ON, &result));
  CHECK_UINT(KEPT_MIGRATED_ELSEWHERE, result);
  CHECK_TEXT("7", json_of(store, "volume"));
  EXPECT(KEPT_BUSY, migrate(store, &moved, 1, 0, NULL));
  release_child(&other);
  CHECK_INT(0, finish_child(&other));
  EXPECT(KEPT_OK, migrate(store, &moved, 1, 0, &result));
  CHECK_UINT(KEPT_MIGRATED_NOTHING, result);
}

FOLDER_TEST(a_killed_process_does_not_block_the_migration) {
  const char *location = fresh_folder();
  kept_close(played_at(location));
  child other = start_child("migrate_slowly", location);
  await_child(&other);
  kill_child(&other);
  kept_store *store = open_at(location);
  CHECK_UINT(0, version_of(store));
  EXPECT(KEPT_OK, migrate(store, &moved, 1, KEPT_MIGRATE_CARRY_ON, NULL));
  CHECK_TEXT("7", json_of(store, "audio.volume"));
}

/* Arguments */

TEST(invalid_migrations_are_refused) {
  kept_store *store = played();
  kept_migration step = moved;
  EXPECT(KEPT_INVALID, migrate(NULL, &step, 1, 0, NULL));
  EXPECT(KEPT_INVALID, migrate(store, NULL, 1, 0, NULL));
  EXPECT(KEPT_INVALID, migrate(store, &step, 0, 0, NULL));
  EXPECT(KEPT_INVALID, migrate(store, &step, 1, 16, NULL));
  EXPECT(KEPT_INVALID, migrate(store, &step, SIZE_MAX, 0, NULL));
  EXPECT(KEPT_INVALID, migrate(store, &step, SIZE_MAX / 2, 0, NULL));
  EXPECT(KEPT_INVALID, migrate(store, &step, SIZE_MAX / 2 + 1, 0, NULL));
  EXPECT(KEPT_INVALID, migrate(store, &step, 65537, 0, NULL));
  EXPECT(KEPT_INVALID, migrate(store, (kept_migration[]){ doubled, moved }, 2, 0, NULL));
  EXPECT(KEPT_INVALID, migrate(store, (kept_migration[]){ moved, moved }, 2, 0, NULL));
  step.version = 0;
  EXPECT(KEPT_INVALID, migrate(store, &step, 1, 0, NULL));
  step = moved, step.reserved = 1;
  EXPECT(KEPT_UNSUPPORTED, migrate(store, &step, 1, 0, NULL));
  step = moved, step.name = NULL;
  EXPECT(KEPT_INVALID, migrate(store, &step, 1, 0, NULL));
  step = moved, step.run = NULL;
  EXPECT(KEPT_INVALID, migrate(store, &step, 1, 0, NULL));
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    step = moved, step.name = bad_text(i);
    EXPECT(KEPT_INVALID, migrate(store, &step, 1, 0, NULL));
  }
  EXPECT(KEPT_INVALID, kept_schema_version(store, NULL, &why));
  EXPECT(KEPT_INVALID, kept_schema_version(NULL, NULL, &why));
  kept_store *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, migrate(transaction, &moved, 1, 0, NULL));
  kept_rollback(transaction);
  CHECK_UINT(0, version_of(store));
  kept_close(store);
  EXPECT(KEPT_CLOSED, migrate(store, &moved, 1, 0, NULL));
}

/* Renaming */

TEST(a_key_is_renamed_with_its_declaration) {
  kept_store *store = played(), *transaction = NULL;
  EXPECT(KEPT_OK, kept_declare_json(store, "volume", "{\"maximum\":10,\"type\":\"integer\"}", &why));
  EXPECT(KEPT_OK, kept_rename(store, "volume", "loudness", &why));
  CHECK_TEXT("7", json_of(store, "loudness"));
  CHECK_TEXT("absent", json_of(store, "volume"));
  EXPECT(KEPT_INVALID, kept_set_int64(store, "loudness", 11, &why));
  EXPECT(KEPT_ABSENT, kept_rename(store, "volume", "other", &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 1, &why));
  EXPECT(KEPT_INVALID, kept_rename(store, "a", "loudness", &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_rename(transaction, "a", "b", &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("1", json_of(store, "b"));
  for (size_t i = 0; bad_key(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_rename(store, bad_key(i), "c", &why));
    EXPECT(KEPT_INVALID, kept_rename(store, "b", bad_key(i), &why));
  }
  EXPECT(KEPT_INVALID, kept_rename(store, NULL, "c", &why));
  EXPECT(KEPT_INVALID, kept_rename(store, "b", NULL, &why));
  EXPECT(KEPT_INVALID, kept_rename(NULL, "b", "c", &why));
}
