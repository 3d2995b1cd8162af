/* Files of a store are truncated, changed in one bit, deleted, exchanged for others and for yesterday's: after the
 * store was closed, after kill -9, and while processes have it open. Each key has the value that was acknowledged last,
 * or the opening says that the store was salvaged, or a call says that it is damaged or not in its place; no value is
 * torn. Harm to the pulse loses nothing, and is not reported. */
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* MANY writes are more than a journal has. */
enum { KEYS = 12, LENGTH = 3000, LARGE = 140000, MANY = 1000 };

/* The values of another store have numbers above all of this one. */
enum { OTHERS = 1000000 };

static struct shared {
  int64_t open, go, harmed, ended;
  struct {
    int64_t begun, acknowledged;
  } keys[KEYS];
} *shared;

static const char *folder;
static char yesterday[4300], another[4300];
static unsigned whole, salvaged, refused;

/* Files */

static const char *const names[] = { "journal", "pulse", "values", "history" };
enum { JOURNAL, PULSE, VALUES, HISTORY, NAMES };

static const char *path_of(const char *place, int name) {
  return name == JOURNAL || name == HISTORY ? last_of(place, names[name]) : file_of(place, names[name]);
}

static void copy_folder(const char *from, const char *to) {
  mkdir(to, 0700);
  for (int name = 0; name < NAMES; name++) copy_file(path_of(from, name), path_of(to, name));
}

enum { TRUNCATED, CUT_TO_NOTHING, FLIPPED, DELETED, ANOTHERS, YESTERDAYS, HARMS };
static const char *const harms[] = { "truncated", "cut to nothing", "flipped", "deleted", "another store's",
  "yesterday's" };

/** Returns false if there is nothing to harm. */
static bool do_harm(int name, int harm, uint64_t *random) {
  const char *path = path_of(folder, name);
  struct stat status;
  if (stat(path, &status) != 0 || status.st_size == 0) return false;
  if (harm == DELETED) return unlink(path) == 0;
  if (harm == TRUNCATED) return truncate(path, (off_t)random_below(random, (uint64_t)status.st_size)) == 0;
  if (harm == CUT_TO_NOTHING) return truncate(path, 0) == 0;
  if (harm == FLIPPED) {
    unsigned char byte = 0;
    /* Half of them are near the beginning, the others where something is. */
    bool is_near = random_below(random, 2);
    off_t at = (off_t)random_below(random, is_near && status.st_size > 256 ? 256 : (uint64_t)status.st_size);
    int file = open(path, O_RDWR);
    bool done = pread(file, &byte, 1, at) == 1;
    for (off_t next = at; done && !is_near && byte == 0 && next-- > 0;) done = pread(file, &byte, 1, at = next) == 1;
    byte ^= (unsigned char)(1 << random_below(random, 8));
    done = done && pwrite(file, &byte, 1, at) == 1;
    close(file);
    return done;
  }
  /* A new file takes the place of the other, as a program that restores a backup does it. */
  char new[4500];
  snprintf(new, sizeof new, "%s.restored", path);
  if (!copy_file(path_of(harm == YESTERDAYS ? yesterday : another, name), new)) return false;
  return rename(new, path) == 0;
}

/* Values */

static size_t fill(char *text, int key, int64_t number) {
  size_t length = key == 0 ? LARGE : LENGTH;
  memset(text, 'a' + (int)((number + key) % 26), length);
  text[snprintf(text, 32, "%d:%" PRId64 ".", key, number)] = '.';
  return length;
}

static kept_status set(kept_store *store, int key) {
  static char text[LARGE];
  char name[16];
  int64_t number = load(&shared->keys[key].begun) + 1;
  store_word(&shared->keys[key].begun, number);
  snprintf(name, sizeof name, "key%d", key);
  kept_status status = kept_set_string(store, name, text, fill(text, key, number), &why);
  if (status == KEPT_OK) store_word(&shared->keys[key].acknowledged, number);
  return status;
}

static void set_some(kept_store *store, uint64_t count, uint64_t *random) {
  while (count-- > 0) expect_ok(set(store, (int)random_below(random, KEYS)), "write");
}

/** Reads a key; -1 if it cannot be read, for a reason that a call may tell. */
static int64_t get(kept_store *store, int key) {
  static char text[LARGE + 1], wanted[LARGE];
  char name[16];
  size_t length = 0;
  snprintf(name, sizeof name, "key%d", key);
  kept_status status = kept_get_string(store, name, text, sizeof text, &length, &why);
  if (status == KEPT_ABSENT) return 0;
  if (status == KEPT_CORRUPT || status == KEPT_UNAVAILABLE || status == KEPT_BUSY) return -1;
  expect_ok(status, "read");
  int64_t number = strtoll(text + (key < 10 ? 2 : 3), NULL, 10);
  if (length != fill(wanted, key, number) || memcmp(text, wanted, length) != 0) fail("%s is torn", name);
  return number;
}

/* The processes */

static uint64_t amount;
static bool is_killed;
static int harmed_file, harm;

static void live(void *unused) {
  uint64_t random = seed + round_now;
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  set_some(store, amount, &random);
  if (is_killed) raise(SIGKILL);
  kept_close(store);
}

static void play_day(uint64_t writes, bool ends_killed) {
  amount = writes, is_killed = ends_killed;
  pid_t process = start(live, NULL);
  if (ends_killed) expect_signal(process, SIGKILL);
  else finish(process);
}

static const char *describe(void) {
  static char text[200];
  snprintf(text, sizeof text, "%s is %s", names[harmed_file], harms[harm]);
  return text;
}

/** Opens the store; returns what that says. */
static kept_status look_next(kept_store **store) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.busy_timeout_ms = 60000;
  kept_status status = kept_open(folder, &options, store, &why);
  /* One bit of its head says that only a newer version can read it. */
  bool may_be_newer = harmed_file == VALUES && harm == FLIPPED;
  if (status != KEPT_SALVAGED && !(may_be_newer && status == KEPT_UNSUPPORTED)) expect_ok(status, describe());
  return status;
}

static void look(void *unused) {
  kept_store *store = NULL;
  kept_status opened = look_next(&store);
  store_word(&shared->harmed, opened);
  if (opened == KEPT_UNSUPPORTED) return;
  if (opened == KEPT_SALVAGED && harmed_file == PULSE) {
    fail("%s, and the store was salvaged: nothing of it was damaged", describe());
  }
  for (int key = 0; key < KEYS; key++) {
    int64_t number = get(store, key), least = opened == KEPT_SALVAGED ? 0 : load(&shared->keys[key].acknowledged);
    if (number == -1) opened = KEPT_SALVAGED;
    else if (number < least || number > load(&shared->keys[key].begun)) {
      fail("%s, and in silence key%d has become %" PRId64 "; %" PRId64 " was acknowledged", describe(), key, number,
        least);
    }
  }
  if (opened == KEPT_SALVAGED) kept_acknowledge_salvage(store, &why);
  store_word(&shared->harmed, opened);
  kept_close(store);
}

/** Returns false if a write has met damage: a page that nothing has read so far may be damaged still. */
static bool write_again(kept_store *store) {
  kept_status status = kept_set_int64(store, "again", 1, &why);
  for (int key = 0; key < KEYS && status == KEPT_OK; key++) status = set(store, key);
  if (status == KEPT_CORRUPT) return false;
  expect_ok(status, "write");
  for (int key = 0; key < KEYS; key++) {
    if (get(store, key) != shared->keys[key].begun) fail("a written value is missing");
  }
  return true;
}

/* Damage that is met now is salvaged by the next opening, if not by this one. */
static void look_again(void *unused) {
  bool is_done = false;
  for (int opening = 0; !is_done; opening++) {
    kept_store *store = NULL;
    bool is_salvaged = look_next(&store) == KEPT_SALVAGED;
    if (opening > 0 && !is_salvaged) fail("%s, a write met the damage, and nothing was salvaged", describe());
    if (is_salvaged) kept_acknowledge_salvage(store, &why);
    is_done = write_again(store);
    if (!is_done && opening > 0) fail("%s, and the salvaged store is damaged", describe());
    kept_close(store);
  }
}

static void play_at_rest(uint64_t *random) {
  play_day(1 + random_below(random, 30), false);
  copy_folder(folder, yesterday);
  play_day(1 + random_below(random, random_below(random, 2) ? 30 : MANY), random_below(random, 2));
  if (!do_harm(harmed_file, harm, random)) return;
  finish(start(look, NULL));
  if (load(&shared->harmed) == KEPT_UNSUPPORTED) return;
  if (load(&shared->harmed) == KEPT_SALVAGED) salvaged++;
  else whole++;
  finish(start(look_again, NULL));
}

/* In use: what a process has not been refused it reads, and the next one reads it, or is told. */
static void use(void *own) {
  uint64_t random = seed + round_now + (uint64_t)(intptr_t)own;
  bool is_refused = false;
  kept_store *store = open_store(folder, KEPT_SHARED, 60000);
  set_some(store, 1 + random_below(&random, 30), &random);
  add(&shared->open, 1);
  await_word(&shared->go, 1, "nothing was harmed");
  for (int64_t i = 0; i < 200 && !is_refused; i++) {
    int key = (int)random_below(&random, KEYS);
    kept_status status = set(store, key);
    is_refused = status == KEPT_CORRUPT || status == KEPT_UNAVAILABLE;
    if (!is_refused && status != KEPT_BUSY) expect_ok(status, describe());
    if (status == KEPT_OK && get(store, key) == 0) fail("%s, and a written value is missing", describe());
    if (i % 50 == 0) let_pass(random_below(&random, 600000));
  }
  if (is_refused && harmed_file == PULSE) fail("%s: %s", describe(), why.message);
  add(&shared->ended, is_refused);
  kept_close(store);
}

static void play_in_use(uint64_t *random) {
  play_day(1 + random_below(random, 30), false);
  copy_folder(folder, yesterday);
  pid_t process = start(use, NULL);
  await_word(&shared->open, 1, "the store could not be opened");
  /* A mapped file that is truncated ends the process that reads it. */
  bool cuts = harm == TRUNCATED || harm == CUT_TO_NOTHING;
  bool done = harmed_file == JOURNAL || (harmed_file == PULSE && !cuts && harm != FLIPPED);
  done = done && do_harm(harmed_file, harm, random);
  store_word(&shared->go, 1);
  finish(process);
  if (!done) return;
  refused += load(&shared->ended) > 0;
  /* A plain write into a journal that is no longer in its place is lost until that is noticed. */
  bool may_lose = harmed_file == JOURNAL && harm >= DELETED;
  for (int key = 0; key < KEYS && may_lose; key++) store_word(&shared->keys[key].acknowledged, 0);
  finish(start(look, NULL));
  if (load(&shared->harmed) == KEPT_SALVAGED) salvaged++;
  else whole++;
  finish(start(look_again, NULL));
}

static void play_round(uint64_t *random) {
  memset(shared, 0, sizeof *shared);
  folder = fresh_folder();
  snprintf(yesterday, sizeof yesterday, "%s.yesterday", folder);
  snprintf(another, sizeof another, "%s.another", folder);
  harmed_file = (int)(round_now % NAMES);
  harm = (int)(round_now / NAMES % HARMS);
  const char *own = folder;
  folder = another;
  for (int key = 0; key < KEYS; key++) store_word(&shared->keys[key].begun, OTHERS);
  play_day(random_below(random, 2) ? 30 : MANY, random_below(random, 2));
  folder = own;
  memset(shared, 0, sizeof *shared);
  /* A store with another's values is that other store. */
  if (harmed_file == VALUES && harm == ANOTHERS) harm = FLIPPED;
  if (random_below(random, 6) == 0) harmed_file %= 2, play_in_use(random);
  else play_at_rest(random);
  remove_tree(yesterday);
  remove_tree(another);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_round);
  return end_torture("%u harmed stores were whole, %u said that they were salvaged, %u processes were refused", whole,
    salvaged, refused);
}
