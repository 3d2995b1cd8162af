/* A writer that is stopped while it holds the write lock, or while it makes a checkpoint: readers are not affected, and
 * the store can be opened. Other writers fail with "busy" within their timeout in the first case, and go on in the
 * second. When the writer continues, so do all others. */
#include "outside.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

/* No thread waits for several timeouts in a row, and a busy machine may add two seconds. */
enum { TIMEOUT_MS = 4500, EARLY_MS = 100, LATEST_MS = 3 * TIMEOUT_MS / 2 };
/* A reader that waited for the writer would wait for the whole timeout, since the writer does not continue. */
enum { THREADS = 8, READS = 2000, SLOWEST_READ_MS = TIMEOUT_MS - EARLY_MS };
enum { TEXT = 60000 };

static struct shared {
  int64_t acknowledged, begun, released, stop, met_lock, done;
} *shared;

static const char *folder;
static bool makes_checkpoints;
static unsigned checkpointing;

static int64_t milliseconds_since(int64_t begin) { return (now_ns() - begin) / 1000000; }

/* The writer that is stopped */

/* No process can write while the journals have 64 MiB, which they may reach on a busy machine before the checkpoint. */
static bool journal_has_room(void) {
  struct stat journal;
  return stat(last_of(folder, "journal"), &journal) == 0 && journal.st_size < 8 << 20;
}

static void write_until_stopped(void *context) {
  static char text[TEXT];
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  while (!load(&shared->stop)) {
    int64_t number = add(&shared->begun, 1);
    expect_ok(kept_set_int64(store, "number", number, &why), "write");
    if (makes_checkpoints && journal_has_room()) {
      expect_ok(kept_set_bytes(store, "text", text, TEXT - number % 2, &why), "write a text");
    }
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

static void write_meanwhile(void *context) {
  kept_store *store = open_store(folder, KEPT_SHARED, TIMEOUT_MS);
  for (int i = 0; i < READS; i++) {
    int64_t begin = now_ns();
    expect_ok(kept_set_int64(store, "other", i, &why), "write while another process makes a checkpoint");
    if (milliseconds_since(begin) > SLOWEST_READ_MS) fail("a write waited %" PRId64 " ms", milliseconds_since(begin));
  }
  kept_close(store);
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

static void play_round(uint64_t *random) {
  pid_t writer = start_writer();
  if (!stop_at(writer, COMMITTING, folder, random)) fail("the writer never held the lock");
  pid_t reader = start(read_meanwhile, NULL), other = start(write_as_others, NULL);
  finish(reader);
  await_word(&shared->met_lock, 1, "the others did not learn that the store is busy");
  let_go_on(writer);
  finish(other);
  end(writer);
}

/* Not every attempt to stop it there succeeds. */
static void play_checkpoint(uint64_t *random) {
  pid_t writer = start_writer();
  if (stop_at(writer, CHECKPOINTING, folder, random)) {
    checkpointing++;
    pid_t reader = start(read_meanwhile, NULL), other = start(write_meanwhile, NULL);
    finish(reader);
    finish(other);
    let_go_on(writer);
  }
  end(writer);
}

static void play_any_round(uint64_t *random) {
  makes_checkpoints = round_now % 4 == 3;
  if (makes_checkpoints) play_checkpoint(random);
  else play_round(random);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_any_round);
  return end_torture("%u writers stopped while %d threads waited for each, or others wrote, %u of them in a checkpoint",
    rounds, THREADS, checkpointing);
}
