/* Callbacks that are left by longjmp(), as by a C++ exception or a program's own error handling: kept.h documents the
 * result. No lock that other threads and processes need stays held. */
#include "recorder.h"
#include "suite.h"

#include <poll.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static jmp_buf outside;

static void leave(void) { longjmp(outside, 1); }

/** Leaves `call` in the middle, and restores the thread's cancellation state. */
#define LEAVE(call) \
  do { \
    if (setjmp(outside) == 0) { \
      call; \
      CHECK(!"it was left"); \
    } \
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL); \
  } while (0)

/** Blocks forever if a lock is still held: a write, and a fork, which waits for every thread that is inside Kept. */
static void expect_no_lock(kept_store *store) {
  kept_store *transaction = NULL;
  int64_t found = 0;
  EXPECT(KEPT_OK, kept_set_int64(store, "after", 5, &why));
  EXPECT(KEPT_OK, kept_get_int64(store, "after", &found, &why));
  CHECK_INT(5, found);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  pid_t child = fork();
  if (child == 0) leave_fork(0);
  CHECK_INT(0, end_of(child));
}

static int leave_list(void *context, const char *key) {
  leave();
  return 0;
}

TEST(a_list_that_is_left_holds_no_lock) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  LEAVE(kept_list(store, "", leave_list, NULL, NULL));
  expect_no_lock(store);
  EXPECT(KEPT_OK, kept_remove_all(store, "", NULL, &why));
  kept_close(store);
}

static int leave_progress(void *context, uint64_t done, uint64_t total) {
  leave();
  return 0;
}

TEST(an_export_or_import_that_is_left_changes_nothing) {
  const char *folder = fresh_folder();
  mkdir(folder, 0700);
  kept_store *store = fresh_store();
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT, quiet = KEPT_TRANSFER_OPTIONS_INIT;
  char *text = NULL;
  options.progress = leave_progress;
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  LEAVE(kept_export_json(store, &options, &text, NULL));
  CHECK(text == NULL);
  const char *path = file_of(folder, "export");
  LEAVE(kept_export_file(store, path, &options, NULL));
  CHECK(access(path, F_OK) != 0);
  options.flags = quiet.flags = KEPT_TRANSFER_FLAT;
  LEAVE(kept_import(store, "{\"key\":2}", 9, &options, NULL, NULL));
  CHECK_TEXT("1", json_of(store, "key"));
  expect_no_lock(store);
  EXPECT(KEPT_OK, kept_import(store, "{\"key\":2}", 9, &quiet, NULL, &why));
  quiet.flags = options.flags = 0;
  EXPECT(KEPT_OK, kept_export_file(store, path, &quiet, &why));
  for (volatile int i = 0; i < 3; i++) {
    LEAVE(kept_import_file(store, path, &options, NULL, NULL));
    CHECK_TEXT("2", json_of(store, "key"));
    expect_no_lock(store);
    EXPECT(KEPT_OK, kept_import_file(store, path, &quiet, NULL, &why));
  }
  kept_close(store);
}

static void leave_notice(void *context, const kept_notice *notice) { leave(); }

/** Waits until a callback is due: another thread may not have signalled it yet when the set returned. */
static void await_due(kept_store *store) {
  struct pollfd watched = { -1, POLLIN, 0 };
  EXPECT(KEPT_OK, kept_store_fd(store, &watched.fd, &why));
  CHECK_INT(1, poll(&watched, 1, 60000));
}

static void dispatch_until(kept_store *store, recorder *recorder, int notices) {
  while (recorder->notices < notices) {
    await_due(store);
    EXPECT(KEPT_OK, kept_store_dispatch(store, 0, NULL, &why));
  }
}

TEST(a_subscription_whose_callback_is_left_is_silent_and_ends) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.delivery = KEPT_BY_HOST;
  kept_store *store = open_with(fresh_location(), &options);
  kept_subscription *left = NULL, *initial = NULL;
  recorder *other = new_recorder();
  EXPECT(KEPT_OK, kept_observe(store, "key", 0, leave_notice, NULL, NULL, &left, &why));
  LEAVE(kept_observe(store, "key", KEPT_OBSERVE_INITIAL, leave_notice, NULL, NULL, &initial, NULL));
  CHECK(initial != NULL);
  record(other, store, "key", 0);
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  await_due(store);
  LEAVE(kept_store_dispatch(store, 1, NULL, NULL));
  dispatch_until(store, other, 1);
  CHECK_TEXT("S key:->1;", recorded(other, 1));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 2, &why));
  dispatch_until(store, other, 2);
  CHECK_TEXT("S key:->1;S key:1>2;", recorded(other, 2));
  expect_no_lock(store);
  kept_unobserve(left);
  kept_unobserve(initial);
  kept_close(store);
}

static kept_status leave_step(void *context, kept_store *transaction, kept_error *error) {
  kept_set_int64(transaction, "key", 2, NULL);
  leave();
  return KEPT_OK;
}

static kept_status step_on(void *context, kept_store *transaction, kept_error *error) {
  return kept_set_int64(transaction, "key", 3, error);
}

TEST(a_migration_that_is_left_changes_nothing) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  kept_migration step = { 1, 0, "left", leave_step, NULL };
  uint32_t version = 7;
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  LEAVE(kept_migrate(store, &step, 1, KEPT_MIGRATE_NO_BACKUP, NULL, NULL, NULL));
  CHECK_TEXT("1", json_of(store, "key"));
  EXPECT(KEPT_OK, kept_schema_version(store, &version, &why));
  CHECK_UINT(0, version);
  expect_no_lock(store);
  step.run = step_on;
  EXPECT(KEPT_UNSUPPORTED, kept_migrate(store, &step, 1, KEPT_MIGRATE_NO_BACKUP, NULL, NULL, &why));
  kept_close(store);
  store = open_at(location);
  EXPECT(KEPT_OK, kept_migrate(store, &step, 1, KEPT_MIGRATE_NO_BACKUP, NULL, NULL, &why));
}

static void leave_report(void *context, const kept_error *error) { leave(); }

TEST(an_opening_that_is_left_can_be_begun_again) {
  const char *location = fresh_location();
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = open_at(location), *unopened = NULL;
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  const char *layer = fresh_file("{ broken");
  options.system = layer;
  options.report = leave_report;
  LEAVE(kept_open(location, &options, &unopened, NULL));
  CHECK(unopened == NULL);
  expect_no_lock(store);
  options.report = NULL;
  kept_close(open_with(location, &options));
  kept_close(store);
}
