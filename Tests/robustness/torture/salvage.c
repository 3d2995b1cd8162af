/* kill -9 while a damaged store is salvaged: whatever step the salvage is killed at, the next process that opens the
 * store has everything that an uninterrupted salvage recovers, the damaged files are complete in quarantine, and no
 * process hangs. */
#include "processes.h"
#include "torture.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS = 60, OPENERS = 3, WAVES = 4, PAGE = 4096, LONGEST = 1600 };

/* The damage: one page, the length, or the header. Truncation removes pages of long values too. */
enum { NOISE, CUT, HEADER, DAMAGES };

/* The value of a key: a letter, which all of its text repeats. */
enum { NOTHING = 0, FIRST = 'a', SECOND = 'b' };

static struct shared {
  int64_t begun[OPENERS], built;
  int64_t highest;         /* the highest revision returned so far */
  int64_t opened[OPENERS]; /* the acknowledged writes of each opener */
  int64_t control_ns;
  bool is_salvaged;
  char control[KEYS]; /* what an uninterrupted salvage recovers for each key */
} *shared;

static struct file {
  char *bytes;
  size_t size;
} database, log_file, journal;

static const char *folder;
static bool is_long, leaves_log, writes_second[KEYS];

/* The steps of Salvage.swift, as visible in the folder. */
enum { BEFORE, SETTING_ASIDE, REBUILDING, LOG_IN_PLACE, LOG_REMOVED, MARK_LEFT, MENDED, STEPS };
static const char *const steps[STEPS] = {
  "before",
  "setting aside",
  "rebuilding",
  "with the old log in place",
  "with the old log removed",
  "with the mark left",
  "after",
};
static unsigned kills, hits[STEPS], salvages;

/* Values */

static size_t fill_text(char *text, int key, char letter) {
  size_t length = is_long && key % 5 == 0 ? LONGEST : 40 + (size_t)key;
  memset(text, letter, length);
  snprintf(text, 8, "%05d:", key);
  text[6] = letter;
  return length;
}

static const char *key_of(char *key, int number) {
  snprintf(key, 16, "key%03d", number);
  return key;
}

static void write_letter(kept_store *store, int number, char letter) {
  char key[16], text[LONGEST];
  size_t length = fill_text(text, number, letter);
  expect_ok(kept_set_string(store, key_of(key, number), text, length, &why), "write");
}

/* Which of the two texts a key has; no other one was ever written. */
static char letter_of(kept_store *store, int number) {
  char key[16], text[LONGEST + 1], wanted[LONGEST];
  size_t length = 0;
  kept_status status = kept_get_string(store, key_of(key, number), text, sizeof text, &length, &why);
  if (status == KEPT_ABSENT) return NOTHING;
  expect_ok(status, "read after the salvage");
  char letter = text[6];
  if (letter != FIRST && letter != SECOND) fail("%s has a text that was never written", key);
  if (length != fill_text(wanted, number, letter) || memcmp(text, wanted, length) != 0) fail("%s is torn", key);
  return letter;
}

static void note_revision(kept_store *store, const char *key) {
  uint64_t revision = 0;
  expect_ok(kept_revision_of(store, key, &revision, &why), "ask for the revision");
  if ((int64_t)revision > load(&shared->highest)) store_word(&shared->highest, (int64_t)revision);
}

/* Building and damaging */

static void build(void *context) {
  char key[16];
  kept_store *store = open_store(folder, KEPT_SHARED, 30000), *all = NULL;
  expect_ok(kept_begin(store, NULL, &all, &why), "begin");
  for (int i = 0; i < KEYS; i++) write_letter(all, i, FIRST);
  expect_ok(kept_commit(all, NULL, &why), "commit");
  if (leaves_log) {
    kept_close(store);
    store = open_store(folder, KEPT_SHARED, 30000);
  }
  for (int i = 0; i < KEYS; i++)
    if (writes_second[i]) write_letter(store, i, SECOND);
  for (int i = 0; i < KEYS; i++) note_revision(store, key_of(key, i));
  if (!leaves_log) kept_close(store);
  store_word(&shared->built, 1);
  for (;;) pause();
}

/* False if there is no such file. */
static bool take_file(struct file *file, const char *name) {
  free(file->bytes);
  file->size = 0;
  file->bytes = read_file(file_of(folder, name), &file->size);
  return file->bytes != NULL;
}

static bool is_same(const struct file *file, const char *path) {
  struct file found = { 0 };
  found.bytes = read_file(path, &found.size);
  bool same = found.bytes != NULL && found.size == file->size && memcmp(found.bytes, file->bytes, file->size) == 0;
  free(found.bytes);
  return same;
}

static void damage(int kind, uint64_t *random) {
  if (!take_file(&database, "values.sqlite") || database.size < 4 * PAGE) fail("no database was built");
  size_t page = PAGE * (1 + random_below(random, database.size / PAGE - 1));
  switch (kind) {
    case NOISE:
      for (size_t i = 0; i < PAGE; i++) database.bytes[page + i] = (char)random_below(random, 256);
      database.bytes[page] = '\xAA'; /* not a valid kind of page */
      break;
    case CUT: database.size = random_below(random, database.size); break;
    case HEADER: database.bytes[random_below(random, 16)] ^= 1; break;
  }
}

/* Puts the damaged files into a folder and marks them, so that the next open checks them completely. */
static void lay_out(const char *place) {
  unlink(file_of(place, "values.sqlite-shm"));
  write_file(file_of(place, "values.sqlite"), database.bytes, database.size);
  if (log_file.size > 0) write_file(file_of(place, "values.sqlite-wal"), log_file.bytes, log_file.size);
  write_file(file_of(place, "journal"), journal.bytes, journal.size);
  write_file(file_of(place, "damaged"), "", 0);
}

/* Opening */

static kept_store *open_damaged(const char *place, bool *is_salvaged) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.busy_timeout_ms = 30000;
  kept_status status = kept_open(place, &options, &store, &why);
  *is_salvaged = status == KEPT_SALVAGED;
  if (!*is_salvaged) expect_ok(status, "open the damaged store");
  return store;
}

/* Salvages a copy of the folder without interruption. The other folder must end with the same contents. */
static void salvage_undisturbed(void *context) {
  const char *copy = context;
  int64_t begun = now_ns();
  kept_store *store = open_damaged(copy, &shared->is_salvaged);
  shared->control_ns = now_ns() - begun;
  for (int i = 0; i < KEYS; i++) shared->control[i] = letter_of(store, i);
  kept_close(store);
}

static void expect_like_control(kept_store *store, bool is_salvaged) {
  char key[16];
  if (is_salvaged != shared->is_salvaged) fail("the store %s salvaged", is_salvaged ? "was" : "was not");
  for (int i = 0; i < KEYS; i++) {
    char letter = letter_of(store, i);
    if (letter != shared->control[i])
      fail("%s has %d, though %d can be read", key_of(key, i), letter, shared->control[i]);
  }
}

/* Checks all values and writes its own number, above the last. */
static void open_and_write(void *context) {
  char key[16];
  bool is_salvaged;
  int number = (int)(intptr_t)context;
  store_word(&shared->begun[number], 1);
  kept_store *store = open_damaged(folder, &is_salvaged);
  expect_like_control(store, is_salvaged);
  snprintf(key, sizeof key, "opened%d", number);
  int64_t stored = 0, before = load(&shared->highest);
  kept_get_int64(store, key, &stored, NULL);
  int64_t next = stored + 1; /* may be above the last acknowledged one, if it was killed before it was acknowledged */
  expect_ok(kept_set_int64(store, key, next, &why), "write after the salvage");
  store_word(&shared->opened[number], next);
  uint64_t revision = 0;
  expect_ok(kept_revision_of(store, key, &revision, &why), "ask for the revision");
  if ((int64_t)revision <= before) fail("revision %" PRIu64 " is not above %" PRId64, revision, before);
  note_revision(store, key);
  kept_close(store);
}

static void look(void *context) {
  char key[16];
  bool is_salvaged;
  kept_store *store = open_damaged(folder, &is_salvaged);
  expect_like_control(store, is_salvaged);
  for (int i = 0; i < OPENERS; i++) {
    int64_t number = 0, least = load(&shared->opened[i]);
    snprintf(key, sizeof key, "opened%d", i);
    kept_get_int64(store, key, &number, NULL);
    if (number < least || number > least + WAVES) fail("%s is %" PRId64 ", and was %" PRId64, key, number, least);
  }
  kept_close(store);
}

/* Inspecting the folder from outside */

static bool has(const char *name) { return is_there(file_of(folder, name)); }

static int step_of(ino_t damaged) {
  struct stat status;
  if (stat(file_of(folder, "values.sqlite"), &status) == 0 && status.st_ino != damaged)
    return has("damaged") ? MARK_LEFT : MENDED;
  if (has("salvaged.sqlite")) return has("values.sqlite-wal") || has("values.sqlite-shm") ? LOG_IN_PLACE : LOG_REMOVED;
  if (names_in(folder, ".new-") > 0) return REBUILDING;
  return has("quarantine") ? SETTING_ASIDE : BEFORE;
}

/* An incomplete entry in quarantine was left by a process that was killed there. A complete one holds the original
 * files. */
static void check_quarantine(void) {
  unsigned complete = 0;
  const char *quarantine = file_of(folder, "quarantine");
  DIR *names = opendir(quarantine);
  if (names == NULL) fail("there is no quarantine");
  for (struct dirent *entry; (entry = readdir(names)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    const char *place = file_of(quarantine, entry->d_name), *log = file_of(place, "values.sqlite-wal");
    if (!is_there(file_of(place, "values.sqlite"))) continue;
    if (!is_same(&database, file_of(place, "values.sqlite"))) fail("%s does not hold the damaged database", place);
    bool has_log = is_there(log);
    if (has_log && !is_same(&log_file, log)) fail("%s does not hold the log of the damaged database", place);
    if (has_log || log_file.size == 0) complete++;
  }
  closedir(names);
  if (complete == 0) fail("no quarantine holds all damaged files");
}

/* Rounds */

static void prepare_round(uint64_t *random) {
  int kind = (int)random_below(random, DAMAGES);
  memset(shared, 0, sizeof *shared);
  is_long = kind == CUT;
  leaves_log = random_below(random, 2) == 0;
  for (int i = 0; i < KEYS; i++) writes_second[i] = random_below(random, 4) == 0;
  folder = fresh_folder();
  pid_t builder = start(build, NULL);
  await_word(&shared->built, 1, "no store was built");
  kill_now(builder);
  take_file(&log_file, "values.sqlite-wal");
  if (!take_file(&journal, "journal")) fail("no journal was built");
  damage(kind, random);
  lay_out(folder);
  const char *copy = file_of(folder, "copy");
  if (mkdir(copy, 0700) != 0) fail("no folder %s", copy);
  lay_out(copy);
  finish(start(salvage_undisturbed, (void *)copy));
  salvages += shared->is_salvaged;
}

/* kill -9 for a process that may have ended already. */
static void end_now(pid_t process) {
  kill(process, SIGKILL);
  if (end_of(process) > 0) fail("process %d found something wrong", (int)process);
}

/* A random time would rarely hit the short steps, so three times out of four the test waits for one of them. */
static void await_step(ino_t damaged, uint64_t *random) {
  int64_t deadline = now_ns() + 2 * shared->control_ns;
  int wanted = SETTING_ASIDE + (int)random_below(random, MENDED - SETTING_ASIDE);
  if (random_below(random, 4) == 0) let_pass(random_below(random, (uint64_t)shared->control_ns / 800 + 1));
  else
    while (step_of(damaged) < wanted && now_ns() < deadline) {}
}

/* Several processes open it at the same time; after a while the first of them, or all, are killed. */
static void kill_openers(ino_t damaged, uint64_t *random) {
  pid_t openers[OPENERS];
  int count = 1 + (int)random_below(random, OPENERS), victims = 1 + (int)random_below(random, (uint64_t)count);
  for (int i = 0; i < count; i++) {
    store_word(&shared->begun[i], 0);
    openers[i] = start(open_and_write, (void *)(intptr_t)i);
  }
  await_word(&shared->begun[0], 1, "no process began to open the store");
  await_step(damaged, random);
  for (int i = 0; i < victims; i++) end_now(openers[i]);
  kills += (unsigned)victims;
  if (victims == count) hits[step_of(damaged)]++;
  for (int i = victims; i < count; i++) finish(openers[i]);
}

static void play_round(uint64_t *random) {
  struct stat status;
  prepare_round(random);
  if (stat(file_of(folder, "values.sqlite"), &status) != 0) fail("there is no database");
  for (uint64_t waves = 1 + random_below(random, WAVES); waves > 0; waves--) kill_openers(status.st_ino, random);
  finish(start(look, NULL));
  if (shared->is_salvaged) check_quarantine();
  if (has("damaged") || has("salvaged.sqlite")) fail("the salvage was not finished");
}

int main(int argc, char **argv) {
  char text[400] = "";
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_round);
  for (int i = 0; i < STEPS; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u %s", i > 0 ? ", " : "", hits[i], steps[i]);
  return end_torture(
    "%u rounds, %u of them salvaged, %u openers killed; all of them %s", rounds, salvages, kills, text);
}
