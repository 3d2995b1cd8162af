/* kill -9 of a writer at any time: acknowledged writes remain, no partial transaction is visible, the store opens,
 * and other processes continue. */
#include "outside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITERS = 3, BLOB = 60000 };

/* A counter that is written repeatedly. Invariant: the stored number is between the two. */
typedef struct line {
  int64_t begun, acknowledged;
} line;

/* Three kinds of writes: one key, two keys in a transaction, and a large text, which causes checkpoints. */
enum { SINGLE, PAIR, TEXT, LINES };

static struct shared {
  int64_t stop;
  struct writer {
    int number;
    uint32_t durability;
    bool large;
    uint64_t random;
    int64_t acknowledged;
    line lines[LINES];
  } writers[WRITERS];
  line common; /* all writers increment two keys that are always equal */
} *shared;

static const char *folder;
static unsigned kills, committing, checkpointing, opening;

static const char *key_of(char *key, int writer, const char *kind) {
  snprintf(key, 32, "writer%d.%s", writer, kind);
  return key;
}

/* Writing */

static kept_status write_single(kept_store *store, int writer, int64_t number) {
  char key[32];
  return kept_set_int64(store, key_of(key, writer, "single"), number, &why);
}

static kept_status write_pair(kept_store *store, int writer, int64_t number) {
  char key[32];
  kept_store *both = NULL;
  expect_ok(kept_begin(store, NULL, &both, &why), "begin");
  expect_ok(kept_set_int64(both, key_of(key, writer, "left"), number, &why), "write the left");
  expect_ok(kept_set_int64(both, key_of(key, writer, "right"), number, &why), "write the right");
  return kept_commit(both, NULL, &why);
}

/* Every byte depends on the number. */
static void fill_text(char *text, int64_t number) {
  memset(text, 'a' + (int)(number % 26), BLOB);
  snprintf(text, 24, "%020" PRId64 "..", number);
  text[22] = '.';
}

static kept_status write_blob(kept_store *store, int writer, int64_t number) {
  char key[32], text[BLOB];
  fill_text(text, number);
  return kept_set_string(store, key_of(key, writer, "text"), text, BLOB, &why);
}

static int64_t number_at(kept_store *store, const char *key, kept_status *conflict) {
  int64_t number = 0;
  kept_status status = kept_get_int64(store, key, &number, &why);
  if (status == KEPT_CONFLICT && conflict != NULL) return *conflict = status, 0;
  if (status != KEPT_ABSENT) expect_ok(status, key);
  return number;
}

/* One attempt to increment both keys. They are equal inside the transaction too, unless it conflicts. */
static kept_status count_in_both(kept_store *store) {
  kept_store *both = NULL;
  kept_status status = KEPT_OK;
  expect_ok(kept_begin(store, NULL, &both, &why), "begin");
  int64_t left = number_at(both, "left", &status), right = number_at(both, "right", &status);
  if (status != KEPT_OK) return kept_rollback(both), status;
  expect_ok(kept_set_int64(both, "left", left + 1, &why), "count");
  expect_ok(kept_set_int64(both, "right", right + 1, &why), "count");
  status = kept_commit(both, NULL, &why);
  if (status == KEPT_OK && left != right) fail("a transaction saw %" PRId64 " and %" PRId64, left, right);
  return status;
}

static void count(struct writer *writer, kept_store *store) {
  add(&shared->common.begun, 1);
  kept_status status;
  do status = count_in_both(store);
  while (status == KEPT_CONFLICT && !load(&shared->stop));
  if (status == KEPT_CONFLICT) return;
  expect_ok(status, "count");
  add(&shared->common.acknowledged, 1);
  add(&writer->acknowledged, 1);
}

static void write_once(struct writer *writer, kept_store *store, int kind) {
  static kept_status (*const writes[LINES])(kept_store *, int, int64_t) = {
    write_single,
    write_pair,
    write_blob,
  };
  line *line = &writer->lines[kind];
  int64_t number = load(&line->begun) + 1;
  store_word(&line->begun, number);
  expect_ok(writes[kind](store, writer->number, number), "write");
  store_word(&line->acknowledged, number);
  add(&writer->acknowledged, 1);
}

static void write_until_stopped(void *context) {
  struct writer *writer = context;
  kept_store *store = open_store(folder, writer->durability, 30000);
  while (!load(&shared->stop)) {
    int kind = (int)random_below(&writer->random, LINES + 1);
    if (writer->large) kind = TEXT;
    if (kind == LINES) count(writer, store);
    else if (kind != TEXT || writer->large || random_below(&writer->random, 20) == 0) write_once(writer, store, kind);
  }
  kept_close(store);
}

/* Checking the state afterwards */

static void check_line(line *line, int64_t found, const char *what) {
  if (found < line->acknowledged || found > line->begun) {
    fail("%s is %" PRId64 ", though %" PRId64 " was acknowledged and %" PRId64 " begun", what, found,
      line->acknowledged, line->begun);
  }
  line->begun = line->acknowledged = found;
}

static int64_t number_of_text(kept_store *store, const char *key) {
  static char text[BLOB + 1], wanted[BLOB];
  size_t length = 0;
  kept_status status = kept_get_string(store, key, text, sizeof text, &length, &why);
  if (status == KEPT_ABSENT) return 0;
  expect_ok(status, key);
  int64_t number = strtoll(text, NULL, 10);
  fill_text(wanted, number);
  if (length != BLOB || memcmp(text, wanted, BLOB) != 0) fail("%s is torn", key);
  return number;
}

static void look(void *context) {
  char key[32];
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  for (int i = 0; i < WRITERS; i++) {
    line *lines = shared->writers[i].lines;
    check_line(&lines[SINGLE], number_at(store, key_of(key, i, "single"), NULL), key);
    int64_t left = number_at(store, key_of(key, i, "left"), NULL);
    check_line(&lines[PAIR], number_at(store, key_of(key, i, "right"), NULL), key);
    if (left != lines[PAIR].begun) fail("half a transaction: %" PRId64 " and %" PRId64, left, lines[PAIR].begun);
    check_line(&lines[TEXT], number_of_text(store, key_of(key, i, "text")), key);
  }
  check_line(&shared->common, number_at(store, "left", NULL), "the common count");
  if (number_at(store, "right", NULL) != shared->common.begun) fail("half a transaction: the counts differ");
  expect_ok(kept_set_int64(store, "looked", round_now, &why), "write after the kill");
  kept_close(store);
}

/* Killing */

static pid_t start_writer(int number, uint64_t *random) {
  struct writer *writer = &shared->writers[number];
  writer->number = number;
  writer->durability = random_below(random, 4) == 0 ? KEPT_DURABLE : KEPT_SHARED;
  writer->random = random_below(random, UINT64_MAX);
  return start(write_until_stopped, writer);
}

static void kill_writer(pid_t process) {
  kill_now(process);
  kills++;
}

/* No other process writes, so the lock is the victim's. */
static void kill_at(writer_state wanted, unsigned *hits, uint64_t *random) {
  shared->writers[0].large = wanted == CHECKPOINTING;
  pid_t victim = start_writer(0, random);
  await_word(&shared->writers[0].acknowledged, 1, "nothing was written");
  if (stop_at(victim, wanted, folder, random)) ++*hits;
  kill_writer(victim);
  shared->writers[0].large = false;
}

/* Kills some of several writers; in a new folder this may happen while the first of them creates the store. */
static void kill_some(uint64_t microseconds, uint64_t *random) {
  pid_t writers[WRITERS];
  for (int i = 0; i < WRITERS; i++) writers[i] = start_writer(i, random);
  for (int i = 0; i < WRITERS - 1; i++) {
    let_pass(random_below(random, microseconds));
    kill_writer(writers[i]);
  }
  struct writer *survivor = &shared->writers[WRITERS - 1];
  await_word(&survivor->acknowledged, load(&survivor->acknowledged) + 1, "the survivor wrote nothing");
  store_word(&shared->stop, 1);
  finish(writers[WRITERS - 1]);
}

static void play_round(uint64_t *random) {
  store_word(&shared->stop, 0);
  for (int i = 0; i < WRITERS; i++) store_word(&shared->writers[i].acknowledged, 0);
  switch (round_now % 10) {
    case 0:
      memset(shared, 0, sizeof *shared);
      folder = fresh_folder();
      kill_some(4000, random);
      opening++;
      break;
    case 1:
    case 2: kill_at(COMMITTING, &committing, random); break;
    case 3:
    case 4: kill_at(CHECKPOINTING, &checkpointing, random); break;
    default: kill_some(15000, random);
  }
  finish(start(look, NULL));
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_round);
  return end_torture("%u rounds, %u kills (%u in a commit, %u in a checkpoint, %u rounds in a new folder)", rounds,
    kills, committing, checkpointing, opening);
}
