/* kill -9 of a process in the middle of a commit, while children that it has forked live on and do nothing: no lock
 * outlives it, so others write, and the next process that opens the store does so at once. */
#include "outside.h"

#include <inttypes.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CHILDREN = 3, TIMEOUT_MS = 60000 };

static struct shared {
  int64_t begun, acknowledged, forked, children[CHILDREN];
} *shared;

static const char *folder;

static void *write_numbers(void *store) {
  for (;;) {
    int64_t number = add(&shared->begun, 1);
    expect_ok(kept_set_int64(store, "number", number, &why), "write");
    store_word(&shared->acknowledged, number);
  }
  return NULL;
}

static void fork_and_write(void *unused) {
  pthread_t thread;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  if (pthread_create(&thread, NULL, write_numbers, store) != 0) fail("no thread");
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child < 0) fail("no child");
    while (child == 0) pause();
    store_word(&shared->children[i], child);
    add(&shared->forked, 1);
  }
  pthread_join(thread, NULL);
}

static void write_next(void *unused) {
  int64_t number = 0;
  kept_store *store = open_store(folder, KEPT_SHARED, TIMEOUT_MS);
  expect_ok(kept_get_int64(store, "number", &number, &why), "read");
  if (number < load(&shared->acknowledged) || number > load(&shared->begun)) {
    fail("found %" PRId64 ", though %" PRId64 " was acknowledged", number, load(&shared->acknowledged));
  }
  expect_ok(kept_set_int64(store, "number", number, &why), "write the same value");
  expect_ok(kept_set_int64(store, "other", number, &why), "write while children of the dead live");
  kept_close(store);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  /* The children of the victim become those of this process, which ends them. */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) {
    *shared = (struct shared){ 0 };
    folder = fresh_folder();
    pid_t victim = start(fork_and_write, NULL);
    await_word(&shared->forked, CHILDREN, "nothing was forked");
    await_word(&shared->acknowledged, 1, "nothing was written");
    if (!stop_at(victim, COMMITTING, folder, &random)) fail("the writer never held the lock");
    kill_now(victim);
    finish(start(write_next, NULL));
    for (int i = 0; i < CHILDREN; i++) kill_now((pid_t)load(&shared->children[i]));
  }
  return end_torture("%u writers killed that had %d children each", rounds, CHILDREN);
}
