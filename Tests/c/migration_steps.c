/* Steps of a migration that fail, that try what a step cannot do, and that do not confirm. */
#include "migrating.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static kept_status fail_with_a_sentence(void *context, kept_store *transaction, kept_error *error) {
  kept_set_bool(transaction, "half done", true, NULL);
  snprintf(error->message, sizeof error->message, "%s", (const char *)context);
  return KEPT_FAILED;
}

static kept_status fail_without_a_word(void *context, kept_store *transaction, kept_error *error) {
  return *(kept_status *)context;
}

/* Failing */

TEST(a_failing_step_is_named_and_changes_nothing) {
  kept_store *store = played();
  char reason[] = "the old file is missing; put it back";
  kept_migration steps[] = { moved, { 2, 0, "read the old file", fail_with_a_sentence, reason } };
  EXPECT(KEPT_FAILED, migrate(store, steps, 2, 0, NULL));
  CHECK(strstr(why.message, "version 2, \"read the old file\"") != NULL && strstr(why.message, reason) != NULL);
  CHECK_TEXT("7", json_of(store, "volume"));
  CHECK_TEXT("absent", json_of(store, "half done"));
  CHECK_UINT(0, version_of(store));
}

TEST(a_step_may_return_any_status) {
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
  kept_store **later = context;
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_commit(transaction, NULL, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "b", 2, &why));
  *later = transaction;
  return KEPT_OK;
}

TEST(a_step_cannot_end_or_outlive_its_transaction) {
  kept_store *store = played(), *later = NULL;
  EXPECT(KEPT_OK, migrate(store, &(kept_migration){ 1, 0, "end it", end_it, &later }, 1, 0, NULL));
  CHECK_TEXT("1", json_of(store, "a"));
  CHECK_TEXT("2", json_of(store, "b"));
  EXPECT(KEPT_CLOSED, kept_set_int64(later, "a", 2, &why));
  EXPECT(KEPT_CLOSED, kept_commit(later, NULL, &why));
}

static kept_status roll_back(void *unused, kept_store *transaction, kept_error *error) {
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  kept_rollback(transaction);
  EXPECT(KEPT_CLOSED, kept_set_int64(transaction, "b", 2, &why));
  return KEPT_OK;
}

TEST(a_step_that_rolls_back_fails) {
  kept_store *store = played();
  EXPECT(KEPT_UNSUPPORTED, migrate(store, &(kept_migration){ 1, 0, "roll back", roll_back, NULL }, 1, 0, NULL));
  CHECK_TEXT("absent", json_of(store, "a"));
  CHECK_UINT(0, version_of(store));
}

static kept_status close_it(void *context, kept_store *transaction, kept_error *error) {
  kept_close(context);
  return kept_set_int64(transaction, "a", 1, error);
}

TEST(a_step_that_closes_the_store_changes_nothing) {
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

TEST(after_a_fork_in_a_step_the_parent_continues_it) {
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

FOLDER_TEST(a_child_that_returns_from_a_step_leaves_the_backup) {
  const char *location = fresh_folder();
  kept_store *store = played_at(location);
  pid_t child = -1;
  char *backup = NULL;
  kept_migration step = { 1, 0, "fork", fork_and_return, &child };
  kept_status migrated = kept_migrate(store, &step, 1, 0, NULL, &backup, &why);
  if (child == 0) leave_fork(-migrated);
  CHECK_INT(KEPT_OK, migrated);
  CHECK_INT(-KEPT_FORKED, end_of(child));
  CHECK_INT(0, access(backup, F_OK));
  kept_free(backup);
}

TEST(a_key_that_cannot_be_renamed_in_a_transaction_stays) {
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
    kept_declare_list(transaction,
      "{\"type\":\"object\",\"properties\":{\"Z\":{\"type\":\"string\"},"
      "\"a\":{\"type\":\"string\"}}}",
      &why));
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

TEST(a_step_that_does_not_confirm_has_failed_whatever_it_returns) {
  kept_store *store = played();
  kept_status answers[] = { KEPT_OK, KEPT_LOCKED };
  kept_migration step = { 1, 0, "confirm", answer_what_stands_there, NULL };
  EXPECT(KEPT_FAILED, migrate(store, &step, 1, KEPT_MIGRATE_CONFIRMED, NULL));
  CHECK(strstr(why.message, "version 1, \"confirm\"") != NULL);
  CHECK(strstr(why.message, "the step did not finish") != NULL);
  step.context = &answers[1];
  EXPECT(KEPT_LOCKED, migrate(store, &step, 1, KEPT_MIGRATE_CONFIRMED, NULL));
  CHECK_TEXT("absent", json_of(store, "a"));
  CHECK_UINT(0, version_of(store));
  step.context = &answers[0];
  EXPECT(KEPT_OK, migrate(store, &step, 1, KEPT_MIGRATE_CONFIRMED, NULL));
  CHECK_TEXT("1", json_of(store, "a"));
  CHECK_UINT(1, version_of(store));
}
