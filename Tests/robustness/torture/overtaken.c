/* Readers that are overtaken all the time: checkpoints replace the journals while readers pause, come and go, and stop
 * in the middle of a read. No read is stale or torn, no transaction is seen in part, a condition on a key that was
 * written and removed in between does not hold, and observers receive the last value of each key. */
#include "torture.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The journals are replaced after 64 KiB. */
enum { WRITERS = 2, READERS = 3, KEYS = 40, LENGTH = 12000, READS = 60 };

static struct shared {
  int64_t stop, reads, conflicts, delivered;
  struct writer {
    int number;
    struct {
      int64_t begun, acknowledged;
    } keys[KEYS];
    int64_t pairs_begun, pairs;
  } writers[WRITERS];
} *shared;

static const char *folder;

static size_t fill(char *text, int64_t number) {
  memset(text, 'a' + (int)(number % 26), LENGTH);
  text[snprintf(text, 24, "%" PRId64 ".", number)] = '.';
  return LENGTH;
}

static const char *key_of(char *key, int writer, int number) {
  snprintf(key, 32, "writer%d.key%d", writer, number);
  return key;
}

/* Writers */

static void write_key(struct writer *writer, kept_store *store, int number) {
  static char text[LENGTH];
  char key[32];
  int64_t next = load(&writer->keys[number].begun) + 1;
  store_word(&writer->keys[number].begun, next);
  key_of(key, writer->number, number);
  expect_ok(kept_set_string(store, key, text, fill(text, next), &why), "write");
  store_word(&writer->keys[number].acknowledged, next);
}

/* Two keys that are always equal, and one that exists briefly. */
static void write_pair(struct writer *writer, kept_store *store) {
  char key[32];
  kept_store *both = NULL;
  int64_t next = add(&writer->pairs_begun, 1);
  expect_ok(kept_begin(store, NULL, &both, &why), "begin");
  snprintf(key, sizeof key, "writer%d.left", writer->number);
  expect_ok(kept_set_int64(both, key, next, &why), "write");
  snprintf(key, sizeof key, "writer%d.right", writer->number);
  expect_ok(kept_set_int64(both, key, next, &why), "write");
  expect_ok(kept_commit(both, NULL, &why), "commit");
  store_word(&writer->pairs, next);
  expect_ok(kept_set_int64(store, "ghost", next, &why), "write");
  kept_status status = kept_remove(store, "ghost", &why);
  if (status != KEPT_ABSENT) expect_ok(status, "remove");
}

static void write_on(void *own) {
  struct writer *writer = own;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  uint64_t random = seed + (uint64_t)writer->number + round_now;
  while (!load(&shared->stop)) {
    if (random_below(&random, 8) == 0) write_pair(writer, store);
    else write_key(writer, store, (int)random_below(&random, KEYS));
  }
  kept_close(store);
}

/* Readers */

static void read_key(kept_store *store, struct writer *writer, int number) {
  static char text[LENGTH + 1], wanted[LENGTH];
  char key[32];
  size_t length = 0;
  int64_t found = 0, least = load(&writer->keys[number].acknowledged);
  kept_status status = kept_get_string(store, key_of(key, writer->number, number), text, sizeof text, &length, &why);
  if (status != KEPT_ABSENT) {
    expect_ok(status, "read");
    found = strtoll(text, NULL, 10);
    fill(wanted, found);
    if (length != LENGTH || memcmp(text, wanted, LENGTH) != 0) fail("%s is torn", key);
  }
  if (found < least || found > load(&writer->keys[number].begun)) {
    fail("%s is %" PRId64 ", though %" PRId64 " was acknowledged", key, found, least);
  }
  add(&shared->reads, 1);
}

static int64_t number_at(kept_store *store, int writer, const char *side) {
  char key[32];
  int64_t number = 0;
  snprintf(key, sizeof key, "writer%d.%s", writer, side);
  kept_status status = kept_get_int64(store, key, &number, &why);
  if (status != KEPT_ABSENT) expect_ok(status, "read");
  return number;
}

static void read_pair(kept_store *store, struct writer *writer, uint64_t *random) {
  kept_store *snapshot = NULL;
  int64_t least = load(&writer->pairs);
  expect_ok(kept_snapshot(store, random_below(random, 2) ? "" : "writer", &snapshot, &why), "read all");
  int64_t left = number_at(snapshot, writer->number, "left"), right = number_at(snapshot, writer->number, "right");
  kept_snapshot_end(snapshot);
  if (left != right) fail("half a transaction: %" PRId64 " and %" PRId64, left, right);
  if (left < least || left > load(&writer->pairs_begun)) fail("a snapshot is stale: %" PRId64, left);
}

/* The ghost is absent whenever both have looked, and was there in between. */
static void expect_conflict(kept_store *store, uint64_t *random) {
  kept_store *transaction = NULL;
  int64_t ghost = 0;
  expect_ok(kept_begin(store, NULL, &transaction, &why), "begin");
  kept_status status = kept_get_int64(transaction, "ghost", &ghost, &why);
  int64_t pairs = load(&shared->writers[0].pairs);
  if (status == KEPT_ABSENT || status == KEPT_OK) {
    expect_ok(kept_set_int64(transaction, "conflict", 1, &why), "write");
    /* A pair, its ghost, and the next pair: so the ghost has come and gone. */
    while (load(&shared->writers[0].pairs) < pairs + 2 && !load(&shared->stop)) let_pass(100);
    let_pass(random_below(random, 20000));
    bool has_changed = load(&shared->writers[0].pairs) >= pairs + 2;
    status = kept_commit(transaction, NULL, &why);
    if (has_changed && status != KEPT_CONFLICT) fail("what a transaction has read has changed, and it was committed");
    add(&shared->conflicts, has_changed);
  } else {
    kept_rollback(transaction);
  }
  if (status != KEPT_CONFLICT) expect_ok(status, "commit");
}

static void read_on(void *own) {
  uint64_t random = seed * 3 + (uint64_t)(intptr_t)own + round_now;
  while (!load(&shared->stop)) {
    /* Values that are not in memory are read from checkpoints, while they are replaced. */
    kept_store *store = open_store(folder, KEPT_SHARED, 30000);
    for (int i = 0; i < READS && !load(&shared->stop); i++) {
      struct writer *writer = &shared->writers[random_below(&random, WRITERS)];
      uint64_t kind = random_below(&random, 10);
      if (kind < 7) read_key(store, writer, (int)random_below(&random, KEYS));
      else if (kind < 9) read_pair(store, writer, &random);
      else expect_conflict(store, &random);
      if (random_below(&random, 4) == 0) let_pass(random_below(&random, 20000));
    }
    kept_close(store);
  }
}

static void receive(void *own, const kept_notice *notice) {
  int64_t *last = own, number = 0;
  const kept_value *value = kept_notice_new(notice, 0);
  if (value != NULL) expect_ok(kept_value_int64(value, &number, &why), "read a value in a notice");
  if (number < load(last)) fail("delivered %" PRId64 " after %" PRId64, number, load(last));
  store_word(last, number);
  add(&shared->delivered, 1);
  /* While it is slow, journals come and go. */
  let_pass(5000);
}

static void observe(void *unused) {
  int64_t last[WRITERS] = { 0 };
  char key[32];
  kept_subscription *subscriptions[WRITERS];
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  for (int i = 0; i < WRITERS; i++) {
    snprintf(key, sizeof key, "writer%d.left", i);
    expect_ok(kept_observe(
                store, key, KEPT_OBSERVE_KEY | KEPT_OBSERVE_INITIAL, receive, &last[i], NULL, &subscriptions[i], &why),
      "observe");
  }
  await_word(&shared->stop, 2, "the writers did not end");
  for (int i = 0; i < WRITERS; i++) {
    await_word(&last[i], load(&shared->writers[i].pairs), "an observer did not receive the last value");
    kept_unobserve(subscriptions[i]);
  }
  kept_close(store);
}

static void play_round(uint64_t *random) {
  pid_t writers[WRITERS], readers[READERS];
  memset(shared, 0, sizeof *shared);
  folder = fresh_folder();
  for (int i = 0; i < WRITERS; i++) {
    shared->writers[i].number = i;
    writers[i] = start(write_on, &shared->writers[i]);
  }
  await_word(&shared->writers[0].pairs, 1, "nothing was written");
  for (int i = 0; i < READERS; i++) readers[i] = start(read_on, (void *)(intptr_t)i);
  pid_t observer = start(observe, NULL);
  /* One reader is stopped at any time, also between its look at a journal and at the next one. */
  for (int i = 0; i < 40; i++) {
    kill(readers[0], SIGSTOP);
    let_pass(random_below(random, 30000));
    kill(readers[0], SIGCONT);
    let_pass(random_below(random, 10000));
  }
  await_word(&shared->reads, 200, "nothing was read");
  store_word(&shared->stop, 1);
  for (int i = 0; i < WRITERS; i++) finish(writers[i]);
  store_word(&shared->stop, 2);
  for (int i = 0; i < READERS; i++) finish(readers[i]);
  finish(observer);
}

int main(int argc, char **argv) {
  int64_t reads = 0, conflicts = 0, delivered = 0;
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) {
    play_round(&random);
    reads += shared->reads, conflicts += shared->conflicts, delivered += shared->delivered;
  }
  return end_torture("%" PRId64 " reads, %" PRId64 " conflicts and %" PRId64 " notices while journals were replaced",
    reads, conflicts, delivered);
}
