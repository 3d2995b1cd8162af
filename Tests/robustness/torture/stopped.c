/* A writer that is stopped while it holds the write lock: other writers fail with "busy" within their timeout, readers
 * are not affected, the store can be opened, and when the writer continues, so do all others.
 *
 * One state is different: between the two copies of a header that SQLite writes when a commit becomes visible, no
 * process can begin to read. A process that opens the store then, or reads a value that is not in memory, fails with
 * "busy" within its timeout. */
#include "outside.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

/* SQLite sleeps between its attempts, so a write may give up a little early. No thread waits for several timeouts in a
 * row. */
enum { TIMEOUT_MS = 1500, EARLY_MS = 100, LATEST_MS = 3 * TIMEOUT_MS / 2 };
/* A reader that waited for the writer would wait for the whole timeout, since the writer does not continue. */
enum { THREADS = 8, READS = 2000, SLOWEST_READ_MS = TIMEOUT_MS - EARLY_MS };

static struct shared {
  int64_t acknowledged, begun, released, stop, met_lock, done;
} *shared;

static const char *folder;
static unsigned halved;

static int64_t milliseconds_since(int64_t begin) { return (now_ns() - begin) / 1000000; }

/* The writer that is stopped */

static void write_until_stopped(void *context) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  while (!load(&shared->stop)) {
    int64_t number = add(&shared->begun, 1);
    expect_ok(kept_set_int64(store, "number", number, &why), "write");
    store_word(&shared->acknowledged, number);
  }
  kept_close(store);
}

/* The others */

static kept_store *others;

/* Several threads at once: they wait for the lock, not for each other's timeouts. */
static void *meet_lock(void *own) {
  char key[32];
  int64_t begin = now_ns();
  snprintf(key, sizeof key, "other%d", *(int *)own);
  kept_status status = kept_set_int64(others, key, begin, &why);
  int64_t took = milliseconds_since(begin);
  if (status != KEPT_BUSY) fail("a write answered \"%s\" while another writer was stopped", kept_status_text(status));
  if (took < TIMEOUT_MS - EARLY_MS || took > LATEST_MS) {
    fail("thread %d waited %" PRId64 " ms to learn that the store is busy", *(int *)own, took);
  }
  return NULL;
}

static void write_as_others(void *context) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  others = open_store(folder, KEPT_SHARED, TIMEOUT_MS);
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, meet_lock, &numbers[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  store_word(&shared->met_lock, 1);
  await_word(&shared->released, 1, "the writer was not let go on");
  kept_status status;
  int64_t begin = now_ns();
  do status = kept_set_int64(others, "other", begin, &why);
  while (status == KEPT_BUSY && milliseconds_since(begin) < PATIENCE_SECONDS * 1000);
  expect_ok(status, "write after the writer went on");
  kept_close(others);
}

/* Reading */

/* Opened while the writer was stopped, or after it continued. */
static void read_meanwhile(void *context) {
  kept_store *store = open_store(folder, KEPT_SHARED, TIMEOUT_MS);
  for (int i = 0; i < READS; i++) {
    int64_t number = 0, least = load(&shared->acknowledged), begin = now_ns();
    expect_ok(kept_get_int64(store, "number", &number, &why), "read");
    if (milliseconds_since(begin) > SLOWEST_READ_MS) fail("a read waited %" PRId64 " ms", milliseconds_since(begin));
    if (number < least || number > load(&shared->begun)) fail("a stale read: %" PRId64 " of %" PRId64, number, least);
  }
  kept_close(store);
  add(&shared->done, 1);
}

static void expect_busy(kept_status status, const char *what, int64_t begin) {
  if (status != KEPT_BUSY) fail("%s answered \"%s\" at half a header", what, kept_status_text(status));
  if (milliseconds_since(begin) > LATEST_MS) fail("%s was busy after %" PRId64 " ms", what, milliseconds_since(begin));
}

/* The store was opened before. Its cache may be out of date, so it queries SQLite. */
static void read_at_half_a_header(void *context) {
  kept_store *store = open_store(folder, KEPT_SHARED, TIMEOUT_MS);
  int64_t number = 0;
  add(&shared->done, 1);
  await_word(&shared->done, 2, "the writer did not stop at half a header");
  int64_t begin = now_ns();
  expect_busy(kept_get_int64(store, "number", &number, &why), "a read", begin);
  add(&shared->done, 1);
  await_word(&shared->released, 1, "the writer was not let go on");
  int64_t least = load(&shared->acknowledged);
  expect_ok(kept_get_int64(store, "number", &number, &why), "read after the writer went on");
  if (number < least) fail("a stale read: %" PRId64 " of %" PRId64, number, least);
  kept_close(store);
}

static void open_at_half_a_header(void *context) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.busy_timeout_ms = TIMEOUT_MS;
  int64_t begin = now_ns();
  expect_busy(kept_open(folder, &options, &store, &why), "opening", begin);
  add(&shared->done, 1);
  await_word(&shared->released, 1, "the writer was not let go on");
  kept_close(open_store(folder, KEPT_SHARED, TIMEOUT_MS));
}

/* Rounds */

static pid_t start_writer(void) {
  folder = fresh_folder();
  *shared = (struct shared){ 0 };
  pid_t writer = start(write_until_stopped, NULL);
  await_word(&shared->acknowledged, 100, "nothing was written");
  return writer;
}

static void let_go_on(pid_t writer) {
  int64_t before = load(&shared->acknowledged);
  kill(writer, SIGCONT);
  await_word(&shared->acknowledged, before + 1, "the stopped writer did not go on");
  store_word(&shared->released, 1);
}

static void end(pid_t writer) {
  finish(start(read_meanwhile, NULL));
  store_word(&shared->stop, 1);
  finish(writer);
}

/* Stops the writer where it holds the lock and readers can begin. */
static void stop_writing(pid_t writer, uint64_t *random) {
  do {
    kill(writer, SIGCONT);
    if (!stop_at(writer, COMMITTING, folder, random)) fail("the writer never held the lock");
  } while (is_in_state(WRITING, folder) || is_in_state(HALF_A_HEADER, folder) || is_in_state(RESTARTING_LOG, folder));
}

static void play_round(uint64_t *random) {
  pid_t writer = start_writer();
  stop_writing(writer, random);
  pid_t reader = start(read_meanwhile, NULL), other = start(write_as_others, NULL);
  finish(reader);
  await_word(&shared->met_lock, 1, "the others did not learn that the store is busy");
  let_go_on(writer);
  finish(other);
  end(writer);
}

/* About one stop in two hundred hits it, so not every round reaches it. */
static void play_half_a_header(uint64_t *random) {
  pid_t writer = start_writer(), reader = start(read_at_half_a_header, NULL);
  await_word(&shared->done, 1, "the store could not be opened");
  if (!stop_at(writer, HALF_A_HEADER, folder, random)) {
    kill_now(reader);
  } else {
    halved++;
    add(&shared->done, 1);
    pid_t opener = start(open_at_half_a_header, NULL);
    await_word(&shared->done, 4, "the store was not busy in time at half a header");
    let_go_on(writer);
    finish(reader);
    finish(opener);
  }
  end(writer);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) {
    if (round_now % 4 == 3) play_half_a_header(&random);
    else play_round(&random);
  }
  return end_torture(
    "%u writers stopped while %d threads waited for each, %u of them at half a header", rounds, THREADS, halved);
}
