/* The wake-up of a process that waits: one that sleeps receives a commit within a fraction of a second, and not when it
 * would have looked anyway. And what a killed writer leaves is synced by a process that only waits. */
#include "torture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

/* A process that waits while there is something to sync looks each second. On a busy machine a wake-up may be late,
 * but not every one in a row. */
enum { COMMITS = 6, PROMPT_MS = 400, SYNCING_MS = 60000 };

static struct shared {
  int64_t begun, written, received, listens, stop;
} *shared;

static const char *folder;
static int64_t fastest_ns;

static void receive(void *unused, const kept_notice *notice) {
  int64_t number = 0;
  if (kept_notice_new(notice, 0) == NULL) return;
  expect_ok(kept_value_int64(kept_notice_new(notice, 0), &number, &why), "read a notice");
  store_word(&shared->received, number);
}

static void listen(void *unused) {
  kept_subscription *subscription = NULL;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  expect_ok(kept_observe(store, "number", KEPT_OBSERVE_KEY, receive, NULL, NULL, &subscription, &why), "observe");
  store_word(&shared->listens, 1);
  await_word(&shared->stop, 1, "the round did not end");
  kept_unobserve(subscription);
  kept_close(store);
}

/* Writes when it is told to. */
static void write_on(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  for (int64_t number = 1;; number++) {
    await_word(&shared->begun, number, "the round did not end");
    expect_ok(kept_set_int64(store, "number", number, &why), "write");
    store_word(&shared->written, number);
  }
}

/* The words of the pulse, see PulseWords.swift. */
enum { PUBLISHED = 64, SYNCED = 64 + 2 * 64 };

static void await_syncing(int64_t milliseconds, const char *what) {
  const char *path = file_of(folder, "pulse");
  int file = open(path, O_RDONLY | O_CLOEXEC);
  char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (file < 0 || page == MAP_FAILED) fail("there is no pulse");
  int64_t published = load((int64_t *)(page + PUBLISHED)), end = now_ns() + milliseconds * INT64_C(1000000);
  while (load((int64_t *)(page + SYNCED)) < published) {
    if (now_ns() > end) fail("%s", what);
    let_pass(50);
  }
  munmap(page, 4096);
}

static void play_round(uint64_t *random) {
  *shared = (struct shared){ 0 };
  folder = fresh_folder();
  pid_t listener = start(listen, NULL), writer = start(write_on, NULL);
  await_word(&shared->listens, 1, "the store could not be opened");
  /* The first commit after a sync, which also wakes for the next one; and the second, which wakes observers alone. */
  int64_t fastest[2] = { INT64_MAX, INT64_MAX };
  for (int64_t number = 1; number <= COMMITS; number++) {
    /* So that the listener sleeps, sometimes after everything was synced. */
    let_pass(20000 + random_below(random, number == 3 ? 1500000 : 50000));
    int64_t since = now_ns();
    store_word(&shared->begun, number);
    await_word(&shared->received, number, "a commit was not delivered");
    int64_t *least = &fastest[number % 2], taken = now_ns() - since;
    if (taken < *least) *least = taken;
  }
  for (int i = 0; i < 2; i++) {
    if (fastest[i] > PROMPT_MS * INT64_C(1000000))
      fail("the fastest of %d notices took %" PRId64 " ms", COMMITS / 2, fastest[i] / 1000000);
    if (fastest[i] > fastest_ns) fastest_ns = fastest[i];
  }
  if (round_now % 2) {
    /* Once more, just when the earlier commits are synced. */
    await_syncing(SYNCING_MS, "no process has synced");
    store_word(&shared->begun, COMMITS + 1);
    await_word(&shared->written, COMMITS + 1, "nothing was written");
  } else {
    store_word(&shared->begun, INT64_MAX);
    let_pass(random_below(random, 1500000));
  }
  kill_now(writer);
  if (round_now % 2) let_pass(50000);
  else await_syncing(SYNCING_MS, "no process has synced what a killed writer left");
  store_word(&shared->stop, 1);
  finish(listener);
  await_syncing(0, "the last process has closed the store, and not synced it");
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_round);
  return end_torture("the fastest of %d notices took %" PRId64 " us at most", COMMITS / 2, fastest_ns / 1000);
}
