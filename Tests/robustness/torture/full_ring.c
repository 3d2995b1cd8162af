/* A full ring: the process that settles is stopped, killed, or slow, while it holds SQLite's write lock. Others write
 * until the ring is full, and are then refused with "busy" in time; reading and opening go on. When the process
 * continues or ends, so does writing, and nothing that was acknowledged is lost. */
#include "outside.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A value is in its frame. The ring has 1 MiB at first, and 8 MiB at most. */
enum { WRITERS = 3, LENGTH = 15000, MOST_RING = 8 << 20, TIMEOUT_MS = 200, LATEST_MS = 60000 };

static struct shared {
  int64_t stop, looked;
  struct writer {
    int number;
    int64_t begun, acknowledged, refused;
  } writers[WRITERS];
} *shared;

static const char *folder;
static unsigned stopped, killed, slowed;

static size_t fill(char *text, int64_t number) {
  memset(text, 'a' + (int)(number % 26), LENGTH);
  text[snprintf(text, 24, "%" PRId64 ".", number)] = '.';
  return LENGTH;
}

/* Writes the next number, again and again if it is refused. */
static void write_on(void *own) {
  static char text[LENGTH];
  struct writer *writer = own;
  char key[32];
  kept_store *store = open_store(folder, KEPT_SHARED, TIMEOUT_MS);
  snprintf(key, sizeof key, "writer%d", writer->number);
  while (!load(&shared->stop)) {
    int64_t number = load(&writer->acknowledged) + 1, since = now_ns();
    store_word(&writer->begun, number);
    kept_status status = kept_set_string(store, key, text, fill(text, number), &why);
    if (now_ns() - since > LATEST_MS * INT64_C(1000000)) fail("a write took %d s and more", LATEST_MS / 1000);
    if (status == KEPT_BUSY) {
      add(&writer->refused, 1);
      continue;
    }
    expect_ok(status, "write");
    store_word(&writer->acknowledged, number);
  }
  kept_close(store);
}

static void look(kept_store *store) {
  static char text[LENGTH + 1], wanted[LENGTH];
  for (int i = 0; i < WRITERS; i++) {
    char key[32];
    size_t length = 0;
    struct writer *writer = &shared->writers[i];
    int64_t least = load(&writer->acknowledged), number = 0;
    snprintf(key, sizeof key, "writer%d", i);
    kept_status status = kept_get_string(store, key, text, sizeof text, &length, &why);
    if (status != KEPT_ABSENT) {
      expect_ok(status, "read");
      number = strtoll(text, NULL, 10);
      fill(wanted, number);
      if (length != LENGTH || memcmp(text, wanted, LENGTH) != 0) fail("%s is torn", key);
    }
    if (number < least || number > load(&writer->begun)) {
      fail("%s is %" PRId64 ", though %" PRId64 " was acknowledged", key, number, least);
    }
  }
  add(&shared->looked, 1);
}

static void look_once(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  look(store);
  kept_close(store);
}

/* By one that stays, and by those that come. */
static void look_on(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  while (!load(&shared->stop)) {
    look(store);
    look_once(NULL);
    let_pass(5000);
  }
  kept_close(store);
}

/* Waits until every writer but the first has met a full ring. */
static void await_refusals(void) {
  int64_t looked = load(&shared->looked);
  for (int i = 1; i < WRITERS; i++) {
    struct writer *writer = &shared->writers[i];
    for (int64_t end = now_ns() + LATEST_MS * INT64_C(1000000); load(&writer->refused) < 2; let_pass(100)) {
      if (load(&writer->acknowledged) > MOST_RING / LENGTH || now_ns() > end) fail("the ring was never full");
    }
  }
  await_word(&shared->looked, looked + 4, "no process could read while the ring was full");
}

/* Halts and resumes the process that settles, until the largest ring would have been full. */
static void slow_down(pid_t settler, uint64_t *random) {
  int64_t enough = load(&shared->writers[1].acknowledged) + MOST_RING / LENGTH / WRITERS;
  for (int64_t end = now_ns() + INT64_C(10000000000); load(&shared->writers[1].acknowledged) < enough;) {
    kill(settler, SIGCONT);
    let_pass(random_below(random, 3000));
    kill(settler, SIGSTOP);
    let_pass(random_below(random, 30000));
    if (now_ns() > end) break;
  }
}

static void play_round(uint64_t *random) {
  pid_t processes[WRITERS];
  memset(shared, 0, sizeof *shared);
  folder = fresh_folder();
  for (int i = 0; i < WRITERS; i++) shared->writers[i].number = i;
  processes[0] = start(write_on, &shared->writers[0]);
  await_word(&shared->writers[0].acknowledged, 10, "nothing was written");
  if (!stop_at(processes[0], WRITING, folder, random)) fail("the writer never settled");
  for (int i = 1; i < WRITERS; i++) processes[i] = start(write_on, &shared->writers[i]);
  pid_t reader = start(look_on, NULL);
  unsigned kind = round_now % 3;
  if (kind == 2) slow_down(processes[0], random), slowed++;
  else await_refusals();
  if (kind == 1) kill_now(processes[0]), killed++;
  else kill(processes[0], SIGCONT);
  stopped += kind == 0;
  for (int i = kind == 1 ? 1 : 0; i < WRITERS; i++) {
    int64_t before = load(&shared->writers[i].acknowledged);
    await_word(&shared->writers[i].acknowledged, before + 20, "writing did not go on");
  }
  /* Half of the time no process closes the store. */
  bool all_die = random_below(random, 2) == 0;
  if (!all_die) store_word(&shared->stop, 1);
  for (int i = kind == 1 ? 1 : 0; i < WRITERS; i++) all_die ? kill_now(processes[i]) : finish(processes[i]);
  all_die ? kill_now(reader) : finish(reader);
  finish(start(look_once, NULL));
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_round);
  return end_torture(
    "the settling process was stopped %u times, killed %u times, and slow %u times", stopped, killed, slowed);
}
