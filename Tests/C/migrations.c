/* Migrations: changing the shape of settings. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static kept_store *played_at(const char *location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 7, &why));
  return store;
}

static kept_store *played(void) { return played_at(fresh_location()); }

/* Steps. The context holds what the tests check. */

static kept_status move(void *context, kept_store *transaction, kept_error *error) {
  (void)context;
  return kept_rename(transaction, "volume", "audio.volume", error);
}

static kept_status double_it(void *context, kept_store *transaction, kept_error *error) {
  int64_t volume = 0;
  kept_status status = kept_get_int64(transaction, "audio.volume", &volume, error);
  if (context) ++*(int *)context;
  return status < 0 ? status : kept_set_int64(transaction, "audio.volume", 2 * volume, error);
}

static kept_status fail_with_a_sentence(void *context, kept_store *transaction, kept_error *error) {
  kept_set_bool(transaction, "half done", true, NULL);
  snprintf(error->message, sizeof error->message, "%s", (const char *)context);
  return KEPT_FAILED;
}

static kept_status fail_without_a_word(void *context, kept_store *transaction, kept_error *error) {
  (void)transaction, (void)error;
  return *(kept_status *)context;
}

static const kept_migration moved = { 1, 0, "volume becomes audio.volume", move, NULL };
static const kept_migration doubled = { 2, 0, "percent", double_it, NULL };

static kept_status migrate(kept_store *store, const kept_migration *steps, size_t count, uint32_t flags,
                           uint32_t *result) {
  return kept_migrate(store, steps, count, flags | KEPT_MIGRATE_NO_BACKUP, result, NULL, &why);
}

static uint32_t version_of(kept_store *store) {
  uint32_t version = 99;
  EXPECT(KEPT_OK, kept_schema_version(store, &version, &why));
  return version;
}

/* Running */

static void steps_run_in_their_order_and_once(void) {
  kept_store *store = played();
  uint32_t result = 99;
  int runs = 0;
  kept_migration steps[] = { moved, { 2, 0, "percent", double_it, &runs } };
  CHECK_UINT(0, version_of(store));
  EXPECT(KEPT_OK, migrate(store, steps, 1, 0, &result));
  CHECK_UINT(KEPT_MIGRATED, result);
  CHECK_UINT(1, version_of(store));
  EXPECT(KEPT_OK, migrate(store, steps, 2, 0, &result));
  CHECK_UINT(KEPT_MIGRATED, result);
  EXPECT(KEPT_OK, migrate(store, steps, 2, 0, &result));
  CHECK_UINT(KEPT_MIGRATED_NOTHING, result);
  CHECK_TEXT("14", json_of(store, "audio.volume"));
  CHECK_UINT(2, version_of(store));
  CHECK_INT(1, runs);
}

static void a_new_store_gets_only_the_version(void) {
  kept_store *store = fresh_store();
  uint32_t result = 99;
  int runs = 0;
  kept_migration steps[] = { moved, { 2, 0, "percent", double_it, &runs } };
  EXPECT(KEPT_OK, migrate(store, steps, 2, 0, &result));
  CHECK_UINT(KEPT_MIGRATED_FRESH, result);
  CHECK_UINT(2, version_of(store));
  CHECK_INT(0, runs);
}

static void a_backup_from_before_is_in_the_folder(void) {
  const char *location = fresh_folder();
  kept_store *store = played_at(location);
  char *backup = NULL;
  EXPECT(KEPT_OK, kept_migrate(store, &moved, 1, 0, NULL, &backup, &why));
  const char *folder = file_of(location, "backups/");
  CHECK(backup && strncmp(backup, folder, strlen(folder)) == 0);
  EXPECT(KEPT_OK, kept_restore(store, backup, NULL, &why));
  CHECK_TEXT("7", json_of(store, "volume"));
  CHECK_UINT(0, version_of(store));
  kept_free(backup);
}

/* Failing */

static void a_failing_step_is_named_and_changes_nothing(void) {
  kept_store *store = played();
  char reason[] = "the old file is missing; put it back";
  kept_migration steps[] = { moved, { 2, 0, "read the old file", fail_with_a_sentence, reason } };
  EXPECT(KEPT_FAILED, migrate(store, steps, 2, 0, NULL));
  CHECK(strstr(why.message, "version 2, \"read the old file\"") != NULL && strstr(why.message, reason) != NULL);
  CHECK_TEXT("7", json_of(store, "volume"));
  CHECK_TEXT("absent", json_of(store, "half done"));
  CHECK_UINT(0, version_of(store));
}

static void a_step_may_return_any_status(void) {
  kept_store *store = played();
  kept_status status = 0;
  kept_migration step = { 1, 0, "answer", fail_without_a_word, &status };
  for (const kept_status *each = (kept_status[]){ KEPT_ABSENT, KEPT_LOCKED, -999, 0 }; *each; each++) {
    status = *each;
    EXPECT(status, migrate(store, &step, 1, 0, NULL));
    CHECK(strstr(why.message, "\"answer\"") != NULL);
  }
  CHECK_UINT(0, version_of(store));
  /* A warning is not a failure. */
  status = KEPT_SHADOWED;
  EXPECT(KEPT_OK, migrate(store, &step, 1, 0, NULL));
  CHECK_UINT(1, version_of(store));
}

static kept_status end_it(void *context, kept_store *transaction, kept_error *error) {
  (void)error;
  kept_store **later = context;
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_commit(transaction, NULL, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "b", 2, &why));
  *later = transaction;
  return KEPT_OK;
}

static void a_step_cannot_end_or_outlive_its_transaction(void) {
  kept_store *store = played(), *later = NULL;
  EXPECT(KEPT_OK, migrate(store, &(kept_migration){ 1, 0, "end it", end_it, &later }, 1, 0, NULL));
  CHECK_TEXT("1", json_of(store, "a"));
  CHECK_TEXT("2", json_of(store, "b"));
  EXPECT(KEPT_CLOSED, kept_set_int64(later, "a", 2, &why));
  EXPECT(KEPT_CLOSED, kept_commit(later, NULL, &why));
}

static kept_status roll_back(void *unused, kept_store *transaction, kept_error *error) {
  (void)unused, (void)error;
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  kept_rollback(transaction);
  EXPECT(KEPT_CLOSED, kept_set_int64(transaction, "b", 2, &why));
  return KEPT_OK;
}

static void a_step_that_rolls_back_fails(void) {
  kept_store *store = played();
  EXPECT(KEPT_UNSUPPORTED, migrate(store, &(kept_migration){ 1, 0, "roll back", roll_back, NULL }, 1, 0, NULL));
  CHECK_TEXT("absent", json_of(store, "a"));
  CHECK_UINT(0, version_of(store));
}

static kept_status migrate_within(void *context, kept_store *transaction, kept_error *error) {
  (void)transaction;
  const char *copy = ((const char **)context)[1];
  EXPECT(KEPT_UNSUPPORTED, kept_restore(((kept_store **)context)[0], copy, NULL, &why));
  return kept_migrate(((kept_store **)context)[0], &moved, 1, 0, NULL, NULL, error);
}

static void a_step_cannot_migrate_or_restore(void) {
  kept_store *store = played();
  const char *folder = fresh_folder();
  mkdir(folder, 0700);
  const char *copy = file_of(folder, "copy");
  const void *context[] = { store, copy };
  EXPECT(KEPT_OK, kept_backup(store, copy, 0, NULL, &why));
  kept_migration nested = { 1, 0, "nested", migrate_within, context };
  EXPECT(KEPT_UNSUPPORTED, migrate(store, &nested, 1, 0, NULL));
  EXPECT(KEPT_OK, migrate(store, &moved, 1, 0, NULL));
}

static kept_status close_it(void *context, kept_store *transaction, kept_error *error) {
  kept_close(context);
  return kept_set_int64(transaction, "a", 1, error);
}

static void a_step_that_closes_the_store_changes_nothing(void) {
  const char *location = fresh_location();
  kept_store *other = played_at(location), *store = open_at(location);
  EXPECT(KEPT_CLOSED, migrate(store, &(kept_migration){ 1, 0, "close", close_it, store }, 1, 0, NULL));
  CHECK_UINT(0, version_of(other));
  CHECK_TEXT("absent", json_of(other, "a"));
  EXPECT(KEPT_OK, migrate(other, &moved, 1, 0, NULL));
}

static kept_status fork_within(void *context, kept_store *transaction, kept_error *error) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) leave_fork(-kept_set_int64(transaction, "a", 1, NULL));
  waitpid(child, &status, 0);
  *(int *)context = WEXITSTATUS(status);
  return kept_set_int64(transaction, "a", 2, error);
}

static void after_a_fork_in_a_step_the_parent_continues_it(void) {
  const char *location = fresh_location();
  kept_store *store = played_at(location);
  int status = 0;
  EXPECT(KEPT_OK, migrate(store, &(kept_migration){ 1, 0, "fork", fork_within, &status }, 1, 0, NULL));
  CHECK_INT(-KEPT_FORKED, status);
  CHECK_TEXT("2", json_of(store, "a"));
  CHECK_UINT(1, version_of(store));
}

static kept_status fork_and_return(void *context, kept_store *transaction, kept_error *error) {
  *(pid_t *)context = fork();
  return kept_set_int64(transaction, "a", 2, error);
}

static void a_child_that_returns_from_a_step_leaves_the_backup(void) {
  const char *location = fresh_folder();
  kept_store *store = played_at(location);
  pid_t child = -1;
  int status = -1;
  char *backup = NULL;
  kept_migration step = { 1, 0, "fork", fork_and_return, &child };
  kept_status migrated = kept_migrate(store, &step, 1, 0, NULL, &backup, &why);
  if (child == 0) leave_fork(-migrated);
  CHECK_INT(KEPT_OK, migrated);
  CHECK_INT(child, waitpid(child, &status, 0));
  CHECK_INT(-KEPT_FORKED, WEXITSTATUS(status));
  CHECK_INT(0, access(backup, F_OK));
  kept_free(backup);
}

static void a_key_that_cannot_be_renamed_in_a_transaction_stays(void) {
  const char *managed = fresh_file("{\"locked\":[\"b\"]}");
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = managed;
  kept_store *store = open_with(fresh_location(), &options), *transaction = NULL;
  EXPECT(KEPT_OK, kept_declare_json(store, "a", "{\"type\":\"integer\"}", &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 7, &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_LOCKED, kept_rename(transaction, "a", "b", &why));
  CHECK_TEXT("7", json_of(transaction, "a"));
  EXPECT(KEPT_TYPE_CONFLICT,
         kept_declare_list(transaction, "{\"type\":\"object\",\"properties\":{\"Z\":{\"type\":\"string\"},"
                                        "\"a\":{\"type\":\"string\"}}}", &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "z", 1, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("7", json_of(store, "a"));
  char *declarations = NULL;
  EXPECT(KEPT_OK, kept_declarations_json(store, "", &declarations, &why));
  CHECK(strstr(declarations, "\"a\"") != NULL && strstr(declarations, "\"Z\"") == NULL);
  kept_free(declarations);
}

/* Confirming */

static kept_status answer_what_stands_there(void *context, kept_store *transaction, kept_error *error) {
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  if (context) error->status = *(kept_status *)context;
  return context ? KEPT_FAILED : KEPT_OK;
}

static void a_step_that_does_not_confirm_has_failed_whatever_it_returns(void) {
  kept_store *store = played();
  kept_status answers[] = { KEPT_OK, KEPT_LOCKED };
  kept_migration step = { 1, 0, "confirm", answer_what_stands_there, NULL };
  EXPECT(KEPT_FAILED, migrate(store, &step, 1, KEPT_MIGRATE_CONFIRMED, NULL));
  CHECK(strstr(why.message, "version 1, \"confirm\"") != NULL);
  CHECK(strstr(why.message, "left before it was done") != NULL);
  step.context = &answers[1];
  EXPECT(KEPT_LOCKED, migrate(store, &step, 1, KEPT_MIGRATE_CONFIRMED, NULL));
  CHECK_TEXT("absent", json_of(store, "a"));
  CHECK_UINT(0, version_of(store));
  step.context = &answers[0];
  EXPECT(KEPT_OK, migrate(store, &step, 1, KEPT_MIGRATE_CONFIRMED, NULL));
  CHECK_TEXT("1", json_of(store, "a"));
  CHECK_UINT(1, version_of(store));
}

/* Others */

static void a_later_store_is_refused_or_only_read(void) {
  const char *location = fresh_location();
  kept_store *store = played_at(location), *older = open_at(location);
  uint32_t result = 99;
  EXPECT(KEPT_OK, migrate(store, (kept_migration[]){ moved, doubled }, 2, 0, NULL));
  EXPECT(KEPT_UNSUPPORTED, migrate(older, &moved, 1, 0, NULL));
  EXPECT(KEPT_OK, migrate(older, &moved, 1, KEPT_MIGRATE_READ_ONLY, &result));
  CHECK_UINT(KEPT_MIGRATED_READ_ONLY, result);
  CHECK_TEXT("14", json_of(older, "audio.volume"));
  EXPECT(KEPT_DENIED, kept_set_int64(older, "a", 1, &why));
  EXPECT(KEPT_DENIED, kept_declare_json(older, "a", "{\"type\":\"string\"}", &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 1, &why));
  CHECK_TEXT("1", json_of(older, "a"));
}

static void a_handle_writes_again_when_its_version_is_back(void) {
  const char *location = fresh_location(), *folder = fresh_folder();
  kept_store *store = played_at(location), *older = open_at(location);
  mkdir(folder, 0700);
  EXPECT(KEPT_OK, migrate(store, &moved, 1, 0, NULL));
  EXPECT(KEPT_OK, kept_backup(store, file_of(folder, "copy"), 0, NULL, &why));
  EXPECT(KEPT_OK, migrate(store, (kept_migration[]){ moved, doubled }, 2, 0, NULL));
  EXPECT(KEPT_OK, migrate(older, &moved, 1, KEPT_MIGRATE_READ_ONLY, NULL));
  EXPECT(KEPT_DENIED, kept_set_int64(older, "a", 1, &why));
  EXPECT(KEPT_OK, kept_restore(store, file_of(folder, "copy"), NULL, &why));
  EXPECT(KEPT_OK, migrate(older, &moved, 1, KEPT_MIGRATE_READ_ONLY, NULL));
  EXPECT(KEPT_OK, kept_set_int64(older, "a", 1, &why));
}

/* Another process, in the middle of a step */

static kept_status wait_in_it(void *context, kept_store *transaction, kept_error *error) {
  (void)context;
  signal_parent();
  await_parent();
  return kept_rename(transaction, "volume", "audio.volume", error);
}

static void migrate_slowly(const char *location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, migrate(store, &(kept_migration){ 1, 0, "slow", wait_in_it, NULL }, 1, 0, NULL));
}

static void other_processes_carry_on_or_wait_with_a_timeout(void) {
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

static void a_killed_process_does_not_block_the_migration(void) {
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

static void invalid_migrations_are_refused(void) {
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

static void a_key_is_renamed_with_its_declaration(void) {
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

int main(int argc, char **argv) {
  const test tests[] = {
    TEST(steps_run_in_their_order_and_once),
    TEST(a_new_store_gets_only_the_version),
    FOLDER_TEST(a_backup_from_before_is_in_the_folder),
    TEST(a_failing_step_is_named_and_changes_nothing),
    TEST(a_step_may_return_any_status),
    TEST(a_step_cannot_end_or_outlive_its_transaction),
    TEST(a_step_that_rolls_back_fails),
    TEST(a_step_cannot_migrate_or_restore),
    TEST(a_step_that_closes_the_store_changes_nothing),
    TEST(after_a_fork_in_a_step_the_parent_continues_it),
    FOLDER_TEST(a_child_that_returns_from_a_step_leaves_the_backup),
    TEST(a_step_that_does_not_confirm_has_failed_whatever_it_returns),
    TEST(a_later_store_is_refused_or_only_read),
    TEST(a_handle_writes_again_when_its_version_is_back),
    FOLDER_TEST(other_processes_carry_on_or_wait_with_a_timeout),
    FOLDER_TEST(a_killed_process_does_not_block_the_migration),
    TEST(invalid_migrations_are_refused),
    TEST(a_key_is_renamed_with_its_declaration),
    TEST(a_key_that_cannot_be_renamed_in_a_transaction_stays),
    { NULL, NULL, 0 }
  };
  const role roles[] = { ROLE(migrate_slowly), { NULL, NULL } };
  return run_tests(argc, argv, tests, roles);
}
