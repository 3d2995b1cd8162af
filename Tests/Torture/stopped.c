/* A writer that is stopped while it holds the write lock: others are told that the store is busy, in the time that they
 * gave; readers notice nothing; and when it goes on, so does everybody. */
#include "outside.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

/* SQLite naps between its tries, so a write may give up a little early; the rest is for a machine with much to do. */
enum { TIMEOUT_MS = 200, EARLY_MS = 100, LATE_MS = 2000, THREADS = 6, READS = 2000, SLOWEST_READ_MS = 150 };

static struct shared {
  int64_t acknowledged, begun, released, stop, met_lock, done;
} *shared;

static const char *folder;

static int64_t milliseconds_since(int64_t begin) { return (now_ns() - begin) / 1000000; }

/* The writer that will be stopped */

static void write_until_stopped(void *context) {
  kept_error error;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  (void)context;
  while (!load(&shared->stop)) {
    int64_t number = add(&shared->begun, 1);
    expect_ok(kept_set_int64(store, "number", number, &error), "write", &error);
    store_word(&shared->acknowledged, number);
  }
  kept_close(store);
}

/* The others */

static kept_store *others;

/* Several threads at once: what they wait for is the lock, not each other's time-outs. */
static void *meet_lock(void *own) {
  char key[32];
  kept_error error;
  int64_t begin = now_ns();
  snprintf(key, sizeof key, "other%d", *(int *)own);
  kept_status status = kept_set_int64(others, key, begin, &error);
  int64_t took = milliseconds_since(begin);
  if (status != KEPT_BUSY) fail("a write answered \"%s\" while another writer was stopped", kept_status_text(status));
  if (took < TIMEOUT_MS - EARLY_MS || took > 2 * TIMEOUT_MS + LATE_MS) {
    fail("thread %d was told after %" PRId64 " ms that the store is busy", *(int *)own, took);
  }
  return NULL;
}

static void write_as_others(void *context) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  kept_error error;
  (void)context;
  others = open_store(folder, KEPT_SHARED, TIMEOUT_MS);
  int64_t begin = now_ns();
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, meet_lock, &numbers[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  /* One waits in vain, and the rest together after it; not one after the other. */
  if (milliseconds_since(begin) > 3 * TIMEOUT_MS + 500) {
    fail("%d threads took %" PRId64 " ms to be told that the store is busy", THREADS, milliseconds_since(begin));
  }
  store_word(&shared->met_lock, 1);
  await_word(&shared->released, 1, "the writer was not let go on");
  kept_status status;
  do status = kept_set_int64(others, "other", begin, &error);
  while (status == KEPT_BUSY && milliseconds_since(begin) < PATIENCE_SECONDS * 1000);
  expect_ok(status, "write after the writer went on", &error);
  kept_close(others);
}

/* Opened before and after the writer was stopped alike. */
static void read_meanwhile(void *context) {
  kept_error error;
  kept_store *store = open_store(folder, KEPT_SHARED, TIMEOUT_MS);
  (void)context;
  for (int i = 0; i < READS; i++) {
    int64_t number = 0, least = load(&shared->acknowledged), begin = now_ns();
    expect_ok(kept_get_int64(store, "number", &number, &error), "read", &error);
    if (milliseconds_since(begin) > SLOWEST_READ_MS) fail("a read waited %" PRId64 " ms", milliseconds_since(begin));
    if (number < least || number > load(&shared->begun)) fail("a stale read: %" PRId64 " of %" PRId64, number, least);
  }
  kept_close(store);
  add(&shared->done, 1);
}

static void play_round(uint64_t *random) {
  folder = fresh_folder();
  *shared = (struct shared){ 0 };
  pid_t writer = start(write_until_stopped, NULL);
  await_word(&shared->acknowledged, 100, "nothing was written");
  /* Half of the rounds: only there does a reader find the generation odd. */
  if (!stop_at(writer, round_now % 2 ? WRITING : ODD_GENERATION, folder, random))
    fail("the writer never held the lock");
  /* An odd generation may outlive the lock for an instant; then the others would rightly write. */
  while (!stands_at(WRITING, folder)) {
    kill(writer, SIGCONT);
    if (!stop_at(writer, WRITING, folder, random)) fail("the writer never held the lock");
  }
  pid_t reader = start(read_meanwhile, NULL), other = start(write_as_others, NULL);
  finish(reader);
  await_word(&shared->met_lock, 1, "the others were not told that the store is busy");
  int64_t before = load(&shared->acknowledged);
  kill(writer, SIGCONT);
  await_word(&shared->acknowledged, before + 1, "the stopped writer did not go on");
  store_word(&shared->released, 1);
  finish(other);
  finish(start(read_meanwhile, NULL));
  store_word(&shared->stop, 1);
  finish(writer);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 8);
  shared = share(sizeof *shared);
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) play_round(&random);
  return end_torture("%u stopped writers, %d threads waiting for each", rounds, THREADS);
}
