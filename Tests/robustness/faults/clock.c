/* A wall clock that is set back.
 *
 * While the library waits: timeouts and helper threads must use a monotonic clock. A call for the wall clock returns a
 * time one hour ahead of the system's, as if the clock were set back by an hour right afterwards.
 *
 * Before each commit, by 40 days, over three centuries: observers, revisions, conditions, checkpoints and recovery must
 * not notice, and each notice has the time that the clock showed at its commit. */
#include "expectations.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <kept.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { second = 1000000000 };

/** What the wall clock shows, in nanoseconds since 1970; 0 for an hour more than the system's. */
static int64_t shown;

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int status = real(clock, time);
  if (status != 0 || clock != CLOCK_REALTIME) return status;
  int64_t now = load(&shown);
  time->tv_sec = now == 0 ? time->tv_sec + 3600 : now / second;
  if (now != 0) time->tv_nsec = now % second;
  if (time->tv_nsec < 0) time->tv_sec -= 1, time->tv_nsec += second;
  return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int received;

/** Takes until the other observer was called. */
static void receive_slowly(void *context, const kept_notice *notice) {
  pthread_mutex_lock(&lock);
  while (!received) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static void receive(void *context, const kept_notice *notice) {
  pthread_mutex_lock(&lock);
  received = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void an_observer_is_called_beside_a_slow_one(kept_store *store) {
  kept_subscription *slow, *quick;
  expect_ok(kept_observe(store, "key", 0, receive_slowly, NULL, NULL, &slow, &why), "observe slowly");
  expect_ok(kept_observe(store, "key", 0, receive, NULL, NULL, &quick, &why), "observe");
  expect_ok(kept_set_int64(store, "key", 1, &why), "set");
  pthread_mutex_lock(&lock);
  while (!received) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

struct migrating {
  pthread_t thread;
  kept_store *store;
  int began, may_end;
};

static kept_status wait_to_end(void *context, kept_store *transaction, kept_error *error) {
  struct migrating *migrating = context;
  pthread_mutex_lock(&lock);
  migrating->began = 1;
  pthread_cond_broadcast(&changed);
  while (!migrating->may_end) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return KEPT_OK;
}

static void *migrate(void *context) {
  struct migrating *migrating = context;
  kept_migration step = { 1, 0, "wait", wait_to_end, context };
  expect_ok(kept_migrate(migrating->store, &step, 1, KEPT_MIGRATE_NO_BACKUP, NULL, NULL, &why), "migrate");
  return NULL;
}

static void a_migration_waits_for_another_no_longer_than_its_time_out(kept_store *store) {
  struct migrating migrating = { .store = store };
  kept_migration step = { 1, 0, "the same", wait_to_end, &migrating };
  if (pthread_create(&migrating.thread, NULL, migrate, &migrating) != 0) fail("no thread");
  pthread_mutex_lock(&lock);
  while (!migrating.began) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  kept_status status = kept_migrate(store, &step, 1, KEPT_MIGRATE_NO_BACKUP, NULL, NULL, &why);
  expect_status(KEPT_BUSY, status, "migrate while another thread does");
  pthread_mutex_lock(&lock);
  migrating.may_end = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(migrating.thread, NULL);
}

static void play(void *folder) {
  kept_store *store = open_store(folder, KEPT_SHARED, 20);
  an_observer_is_called_beside_a_slow_one(store);
  a_migration_waits_for_another_no_longer_than_its_time_out(store);
  kept_close(store);
}

/* Each commit is earlier than the one before */

/** From 2099 on. */
static int64_t time_of(uint64_t revision) {
  return (INT64_C(4070908800) - (int64_t)revision * 40 * 86400) * second + (int64_t)revision;
}

/* Commits by another process, fewer than a journal holds, so that none is missed; then by the one that recovers; then
 * more than a journal holds. */
enum { commits = 900, more_commits = 100, large_commits = 1500, large = 10000 };

static struct shared {
  const char *folder;
  int64_t observing, written;
} *shared;

/** What an observer has received. */
struct received {
  uint32_t origin;
  uint64_t revision;
};

static void check_notice(void *context, const kept_notice *notice) {
  struct received *received = context;
  uint64_t first = kept_notice_first_revision(notice), last = kept_notice_revision(notice);
  int64_t value = 0;
  pthread_mutex_lock(&lock);
  if (first != received->revision + 1) fail("revision %" PRIu64 " follows %" PRIu64, first, received->revision);
  if (received->origin == KEPT_ORIGIN_STORE && first != last) fail("own commits were merged");
  if (kept_notice_origin(notice) != received->origin) fail("a wrong origin: %u", kept_notice_origin(notice));
  if (kept_notice_may_have_missed(notice)) fail("changes were missed");
  expect_ok(kept_value_int64(kept_notice_new(notice, 0), &value, &why), "read a notice");
  if ((uint64_t)value != last) fail("the value is %" PRId64 " at revision %" PRIu64, value, last);
  if (kept_notice_time(notice) != time_of(last)) {
    fail("revision %" PRIu64 " is of %" PRId64 ", and was committed at %" PRId64, last, kept_notice_time(notice),
      time_of(last));
  }
  received->revision = last;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void await_revision(struct received *received, uint64_t revision) {
  pthread_mutex_lock(&lock);
  while (received->revision < revision) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

/** Commits the revision as the value. */
static void commit(kept_store *store, uint64_t revision) {
  store_word(&shown, time_of(revision));
  expect_ok(kept_set_int64(store, "key", (int64_t)revision, &why), "set");
}

static void write_ever_earlier(void *context) {
  await_word(&shared->observing, 1, "no process observes");
  kept_store *store = open_store(shared->folder, KEPT_SHARED, 5000);
  for (uint64_t revision = 1; revision <= commits; revision++) commit(store, revision);
  store_word(&shared->written, 1);
  for (;;) pause();
}

static void observe_another_process(void *context) {
  struct received received = { KEPT_ORIGIN_OTHER, 0 };
  kept_subscription *subscription;
  store_word(&shown, second);
  kept_store *store = open_store(shared->folder, KEPT_SHARED, 5000);
  expect_ok(kept_observe(store, "key", 0, check_notice, &received, NULL, &subscription, &why), "observe");
  store_word(&shared->observing, 1);
  await_revision(&received, commits);
  kept_close(store);
}

static void expect_at(kept_store *store, const char *key, uint64_t revision) {
  uint64_t found = 0;
  expect_ok(kept_revision_of(store, key, &found, &why), "read the revision");
  if (found != revision) fail("%s is of revision %" PRIu64 " instead of %" PRIu64, key, found, revision);
  expect_ok(kept_store_revision(store, &found, &why), "read the revision");
  if (found != revision) fail("the store is at revision %" PRIu64 " instead of %" PRIu64, found, revision);
}

/** Commits twice, with the second revision as the value. */
static uint64_t compare_and_set(kept_store *store, uint64_t revision) {
  kept_store *transaction = NULL;
  char json[32];
  uint64_t made = 0;
  int64_t value = 0;
  expect_ok(kept_begin(store, NULL, &transaction, &why), "begin");
  expect_ok(kept_get_int64(transaction, "key", &value, &why), "read");
  expect_ok(kept_set_int64(transaction, "key", -1, &why), "set in a transaction");
  commit(store, revision + 1);
  store_word(&shown, time_of(revision + 2));
  expect_status(KEPT_CONFLICT, kept_commit(transaction, NULL, &why), "commit after another commit");
  snprintf(json, sizeof json, "%" PRIu64, revision + 2);
  expect_status(KEPT_CONFLICT, kept_set_json_if(store, "key", json, revision, &made, &why), "set by revision");
  expect_ok(kept_set_json_if(store, "key", json, revision + 1, &made, &why), "set by revision");
  if (made != revision + 2) fail("the revision is %" PRIu64 " instead of %" PRIu64, made, revision + 2);
  return made;
}

static void recover_and_go_on(void *context) {
  static char text[large];
  struct received received = { KEPT_ORIGIN_STORE, commits };
  kept_subscription *subscription;
  kept_store *store = open_store(shared->folder, KEPT_SHARED, 5000);
  expect_at(store, "key", commits);
  expect_ok(kept_observe(store, "key", 0, check_notice, &received, NULL, &subscription, &why), "observe");
  uint64_t revision = commits;
  while (revision < commits + more_commits) revision = compare_and_set(store, revision);
  await_revision(&received, revision);
  memset(text, 'x', sizeof text);
  for (int i = 0; i < large_commits; i++) {
    store_word(&shown, time_of(++revision));
    text[i] = 'y';
    expect_ok(kept_set_string(store, "large", text, sizeof text, &why), "set a long text");
  }
  expect_at(store, "large", revision);
  kept_close(store);
  store = open_store(shared->folder, KEPT_SHARED, 5000);
  expect_at(store, "large", revision);
  kept_close(store);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  finish(start(play, (void *)fresh_folder()));
  shared = share(sizeof *shared);
  shared->folder = fresh_folder();
  pid_t observer = start(observe_another_process, NULL), writer = start(write_ever_earlier, NULL);
  finish(observer);
  await_word(&shared->written, 1, "a process has not committed");
  kill_now(writer);
  finish(start(recover_and_go_on, NULL));
  return end_torture("2 waits and %d commits with a clock that was set back", commits + more_commits + large_commits);
}
