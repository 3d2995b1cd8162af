/* Many processes open a store at once that was left behind: by writers that were killed, or as a loss of power leaves
 * it, perhaps without the pulse, and with a torn frame at the end. One of them recovers
 * it, the others wait for that; all read the acknowledged values, write, and find the writes of all of them. */
#include "torture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Frames begin at this byte of a journal. */
enum { OPENERS = 32, LEAST = 30, FRAMES = 512 };

static struct shared {
  int64_t begun, acknowledged, ready, go, written, go_on;
} *shared;

static const char *folder;
static unsigned killed, lost_power, without_pulse;

static void write_until_killed(void *unused) {
  static char text[140000];
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  memset(text, 'x', sizeof text);
  for (;;) {
    int64_t number = add(&shared->begun, 1);
    kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
    kept_store *both = NULL;
    options.durability = number % 8 == 0 ? KEPT_DURABLE : KEPT_SHARED;
    expect_ok(kept_begin(store, &options, &both, &why), "begin");
    expect_ok(kept_set_int64(both, "left", number, &why), "write");
    expect_ok(kept_set_bytes(both, "bytes", text, number % 16 == 0 ? sizeof text : 1000, &why), "write");
    expect_ok(kept_set_int64(both, "right", number, &why), "write");
    expect_ok(kept_commit(both, NULL, &why), "commit");
    store_word(&shared->acknowledged, number);
  }
}

/* Opens the store at the same time as all others. */
static void open_with_others(void *own) {
  char key[32];
  int64_t left = 0, right = 0, number = 0;
  add(&shared->ready, 1);
  await_word(&shared->go, 1, "the others were not ready");
  kept_store *store = open_store(folder, KEPT_SHARED, PATIENCE_SECONDS * 1000);
  expect_ok(kept_get_int64(store, "left", &left, &why), "read");
  expect_ok(kept_get_int64(store, "right", &right, &why), "read");
  if (left != right) fail("half a transaction: %" PRId64 " and %" PRId64, left, right);
  if (left < load(&shared->acknowledged) || left > load(&shared->begun)) {
    fail("found %" PRId64 ", though %" PRId64 " was there", left, load(&shared->acknowledged));
  }
  snprintf(key, sizeof key, "opener%d", (int)(intptr_t)own);
  expect_ok(kept_set_int64(store, key, left, &why), "write");
  add(&shared->written, 1);
  await_word(&shared->go_on, 1, "the others have not written");
  for (int i = 0; i < OPENERS; i++) {
    snprintf(key, sizeof key, "opener%d", i);
    expect_ok(kept_get_int64(store, key, &number, &why), "read what another opener wrote");
    if (number != left) fail("opener %d found %" PRId64 ", and this one %" PRId64, i, number, left);
  }
  kept_close(store);
}

/** Unsynced data is lost from some byte of the journal on: behind all frames lies a part of one. */
static void tear_end(uint64_t *random) {
  const char *path = last_of(folder, "journal");
  unsigned char torn[64] = { sizeof torn };
  size_t length = 0, at = FRAMES;
  char *bytes = read_file(path, &length);
  for (uint32_t frame; bytes && at + 4 <= length && (memcpy(&frame, bytes + at, 4), frame != 0);) at += frame & ~7u;
  for (size_t i = 4; i < sizeof torn; i++) torn[i] = (unsigned char)random_below(random, 256);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (bytes == NULL || pwrite(file, torn, sizeof torn, (off_t)at) != sizeof torn) fail("the journal cannot be torn");
  close(file);
  free(bytes);
}

static void play_round(uint64_t *random) {
  pid_t openers[OPENERS];
  *shared = (struct shared){ 0 };
  folder = fresh_folder();
  pid_t writer = start(write_until_killed, NULL);
  await_word(&shared->acknowledged, LEAST + (int64_t)random_below(random, 100), "nothing was written");
  kill_now(writer);
  killed++;
  if (random_below(random, 2)) {
    /* The page cache of this machine is the disk of that one, so nothing synced is lost. */
    lost_power++;
    if (random_below(random, 2)) unlink(file_of(folder, "pulse")), without_pulse++;
    tear_end(random);
  }
  for (int i = 0; i < OPENERS; i++) openers[i] = start(open_with_others, (void *)(intptr_t)i);
  await_word(&shared->ready, OPENERS, "the openers did not start");
  store_word(&shared->go, 1);
  await_word(&shared->written, OPENERS, "not all could open the store and write");
  store_word(&shared->go_on, 1);
  for (int i = 0; i < OPENERS; i++) finish(openers[i]);
  if (access(file_of(folder, "quarantine"), F_OK) == 0) fail("the store was salvaged");
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_round);
  return end_torture("%d processes opened %u stores at once, %u of them without power, %u without a pulse", OPENERS,
    killed, lost_power, without_pulse);
}
