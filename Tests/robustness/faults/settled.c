/* A store is restored as a backup while the process that uses it commits and settles: before the first call of the
 * system that reads the store, before the second, and so on. Acknowledged commits are restored, and never half a
 * commit; commits that move from the journal into the database during this are not taken for lost. */
#include "expectations.h"
#include "failing.h"

#include <inttypes.h>
#include <stdio.h>

static struct shared {
  int64_t written, go_on, settled, calls, restored;
} *shared;

static const char *folder;
static long point;
static bool is_closed;

/* Settles by closing the store, or by a backup while it stays open. */
static void use(void *unused) {
  char backup[4400];
  snprintf(backup, sizeof backup, "%s.backup", folder);
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(set_both(store, 2, KEPT_SHARED), "write");
  store_word(&shared->written, 1);
  await_word(&shared->go_on, 1, "the store was not read");
  expect_ok(set_both(store, 3, KEPT_SHARED), "write");
  if (is_closed) kept_close(store);
  else expect_ok(kept_backup(store, backup, KEPT_BACKUP_REPLACE, NULL, &why), "back up");
  store_word(&shared->settled, 1);
  if (is_closed) return;
  await_word(&shared->restored, 1, "nothing was restored");
  kept_close(store);
}

static void let_settle(void) {
  store_word(&shared->go_on, 1);
  await_word(&shared->settled, 1, "nothing was settled");
}

static void restore(void *unused) {
  kept_store *store = open_store("memory:", KEPT_SHARED, 5000);
  plan_call(let_settle, CALL_OPEN | CALL_READ | CALL_MAP, point);
  kept_status status = kept_restore(store, folder, NULL, &why);
  store_word(&shared->calls, calls_met());
  end_failure();
  if (status != KEPT_OK) fail("settled before call %ld, the store cannot be restored: %s", point, why.message);
  int64_t found = get_both(store);
  if (found < 2 || found > 3) fail("settled before call %ld, %" PRId64 " was restored", point, found);
  store_word(&shared->restored, found);
  kept_close(store);
}

static void play_point(void) {
  folder = fresh_folder();
  failing_folder(folder);
  make_store(folder);
  *shared = (struct shared){ 0 };
  pid_t user = start(use, NULL);
  await_word(&shared->written, 1, "nothing was written");
  finish(start(restore, NULL));
  store_word(&shared->go_on, 1);
  finish(user);
}

int main(int argc, char **argv) {
  long tries = 0, later = 0;
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  for (round_now = 0; round_now < rounds; round_now++) {
    for (int way = 0; way < 2; way++) {
      is_closed = way == 0;
      /* How many calls it takes to read a store that is not in motion. */
      point = 1 << 20;
      play_point();
      long calls = load(&shared->calls);
      if (calls == 0) fail("the store was read without a call");
      for (point = 1; point <= calls; point++, tries++) {
        play_point();
        later += load(&shared->restored) == 3;
      }
    }
  }
  return end_torture(
    "settled before %ld calls that read a store, and restored the commits made then %ld times", tries, later);
}
