/* Threads that read while checkpoints replace the memory that they read from. A read returns a whole value that the key
 * had during the call, and writes nothing else into the caller's memory. */
#include "torture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers and short texts are read without a lock, long ones are copied while their memory is held. */
enum { NUMBER, SHORT, LONG, KINDS };
enum { READERS = 4, KEYS = 16 * KINDS, CHECKPOINTS = 8, WRITES = 24, BUFFER = 4000, UNTOUCHED = '~' };

/* After one of these, a checkpoint is due, which is made within a second. */
enum { FILLER = 70000 };

static const size_t lengths[KINDS][3] = { { 0 }, { 8, 20, 60 }, { 100, 1500, 3000 } };

static struct {
  int64_t begun, acknowledged;
} keys[KEYS];
static const char *folder;
static kept_store *store;
static int64_t stop, reads;

static const char *key_of(char *name, int key) {
  snprintf(name, 32, "key%d", key);
  return name;
}

/* Every fifth value of a key is none. */
static bool is_absent(int64_t number) { return number % 5 == 0; }

static size_t fill(char *text, int key, int64_t number) {
  size_t length = lengths[key % KINDS][number % 3];
  char digits[32];
  memset(text, 'a' + (int)(number % 26), length);
  snprintf(digits, sizeof digits, "%08" PRId64, number);
  memcpy(text, digits, 8);
  return length;
}

/* Writing */

static void write_key(int key) {
  static char text[BUFFER];
  char name[32];
  int64_t next = load(&keys[key].begun) + 1;
  store_word(&keys[key].begun, next);
  key_of(name, key);
  if (is_absent(next)) expect_ok(kept_remove(store, name, &why), "remove");
  else if (key % KINDS == NUMBER) expect_ok(kept_set_int64(store, name, next, &why), "write");
  else expect_ok(kept_set_string(store, name, text, fill(text, key, next), &why), "write");
  store_word(&keys[key].acknowledged, next);
}

static void make_checkpoint(int checkpoint) {
  static char filler[FILLER];
  char last[200];
  memset(filler, 'a' + checkpoint % 26, sizeof filler);
  snprintf(last, sizeof last, "%s", last_of(folder, "journal"));
  int64_t end = now_ns() + PATIENCE_SECONDS * INT64_C(1000000000);
  expect_ok(kept_set_string(store, "filler", filler, sizeof filler, &why), "write");
  while (access(last, F_OK) == 0) {
    if (now_ns() > end) fail("no checkpoint was made");
    let_pass(200);
  }
}

/* Reading */

/* The number of a text; -1 if no value of the key has these bytes. */
static int64_t number_of(const char *text, size_t length, int key) {
  char wanted[BUFFER], digits[9] = { 0 };
  memcpy(digits, text, length < 8 ? length : 8);
  int64_t number = strtoll(digits, NULL, 10);
  return number > 0 && length == fill(wanted, key, number) && memcmp(text, wanted, length) == 0 ? number : -1;
}

static void read_key(int key) {
  char name[32], text[BUFFER];
  int64_t number = 0, least = load(&keys[key].acknowledged);
  size_t length = 0, used = 0;
  memset(text, UNTOUCHED, sizeof text);
  kept_status status = key % KINDS == NUMBER
    ? kept_get_int64(store, key_of(name, key), &number, &why)
    : kept_get_string(store, key_of(name, key), text, sizeof text, &length, &why);
  int64_t most = load(&keys[key].begun);
  if (status == KEPT_ABSENT) {
    for (number = least; number <= most && !is_absent(number);) number++;
  } else {
    expect_ok(status, "read");
    if (key % KINDS != NUMBER) number = number_of(text, length, key), used = length + 1;
  }
  if (number < 0) fail("%s is torn: %zu bytes, %.20s", name, length, text);
  if (number < least || number > most)
    fail("%s: read %" PRId64 ", and had %" PRId64 " to %" PRId64, name, number, least, most);
  for (size_t at = used; at < sizeof text; at++)
    if (text[at] != UNTOUCHED) fail("byte %zu of the buffer was written, with %zu of %s", at, used, name);
  add(&reads, 1);
}

/* It is searched in the table of the checkpoint. */
static void read_unknown(uint64_t *random) {
  char name[32];
  int64_t number;
  snprintf(name, sizeof name, "unknown%" PRIu64, random_below(random, 1000000));
  if (kept_get_int64(store, name, &number, &why) != KEPT_ABSENT) fail("%s was found", name);
}

static void *read_on(void *own) {
  uint64_t random = seed * 5 + (uint64_t)(intptr_t)own + round_now;
  while (!load(&stop)) {
    if (random_below(&random, 8) == 0) read_unknown(&random);
    else read_key((int)random_below(&random, KEYS));
  }
  return NULL;
}

static void play(void *unused) {
  pthread_t threads[READERS];
  uint64_t random = seed + round_now;
  store = open_store(folder, KEPT_SHARED, 30000);
  for (int i = 0; i < READERS; i++)
    if (pthread_create(&threads[i], NULL, read_on, (void *)(intptr_t)i) != 0) fail("no thread could be started");
  for (int i = 0; i < CHECKPOINTS; i++) {
    for (int j = i % 2 ? WRITES : WRITES / 2; j > 0; j--) write_key((int)random_below(&random, KEYS));
    make_checkpoint(i);
  }
  store_word(&stop, 1);
  for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
  kept_close(store);
  printf("%" PRId64 " reads\n", load(&reads));
}

static void play_round(uint64_t *random) {
  folder = fresh_folder();
  finish(start(play, NULL));
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  play_rounds(play_round);
  return end_torture("%u checkpoints replaced the memory of %d readers", rounds * CHECKPOINTS, READERS);
}
