/* kill -9 while a damaged store is salvaged: whatever step the salvage is killed at, the next process that opens the
 * store has everything that an uninterrupted salvage recovers, the damaged files are complete in quarantine, and no
 * process hangs. */
#include "torture.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 60, OPENERS = 3, WAVES = 4, PAGE = 4096, LONGEST = 1600, LARGEST = 1 << 20 };

/* What is damaged: one page, the length, or the header. Truncation removes pages of long values too. */
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

struct file {
  char bytes[LARGEST];
  size_t size;
};
static struct file database, log_file, journal, found;

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

static void write_text(kept_store *store, int number, char letter) {
  char key[16], text[LONGEST];
  kept_error error;
  size_t length = fill_text(text, number, letter);
  expect_ok(kept_set_string(store, key_of(key, number), text, length, &error), "write", &error);
}

/* Which of the two texts a key has; no other one was ever written. */
static char letter_of(kept_store *store, int number) {
  char key[16], text[LONGEST + 1], wanted[LONGEST];
  kept_error error;
  size_t length = 0;
  kept_status status = kept_get_string(store, key_of(key, number), text, sizeof text, &length, &error);
  if (status == KEPT_ABSENT) return NOTHING;
  expect_ok(status, "read after the salvage", &error);
  char letter = text[6];
  if (letter != FIRST && letter != SECOND) fail("%s has a text that was never written", key);
  if (length != fill_text(wanted, number, letter) || memcmp(text, wanted, length) != 0) fail("%s is torn", key);
  return letter;
}

static void note_revision(kept_store *store, const char *key) {
  kept_error error;
  uint64_t revision = 0;
  expect_ok(kept_revision_of(store, key, &revision, &error), "ask for the revision", &error);
  if ((int64_t)revision > load(&shared->highest)) store_word(&shared->highest, (int64_t)revision);
}

/* Building and damaging */

static void build(void *context) {
  char key[16];
  kept_error error;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000), *all = NULL;
  (void)context;
  expect_ok(kept_begin(store, NULL, &all, &error), "begin", &error);
  for (int i = 0; i < KEYS; i++) write_text(all, i, FIRST);
  expect_ok(kept_commit(all, NULL, &error), "commit", &error);
  if (leaves_log) {
    kept_close(store);
    store = open_store(folder, KEPT_SHARED, 30000);
  }
  for (int i = 0; i < KEYS; i++)
    if (writes_second[i]) write_text(store, i, SECOND);
  for (int i = 0; i < KEYS; i++) note_revision(store, key_of(key, i));
  if (!leaves_log) kept_close(store);
  store_word(&shared->built, 1);
  for (;;) pause();
}

static char *path_in(char *path, const char *place, const char *name) {
  snprintf(path, 4400, "%s/%s", place, name);
  return path;
}

/* False if there is no such file. */
static bool read_file(struct file *file, const char *place, const char *name) {
  char path[4400];
  FILE *stream = fopen(path_in(path, place, name), "rb");
  file->size = 0;
  if (stream == NULL) return false;
  file->size = fread(file->bytes, 1, LARGEST, stream);
  fclose(stream);
  return true;
}

static void write_file(const struct file *file, const char *place, const char *name) {
  char path[4400];
  FILE *stream = fopen(path_in(path, place, name), "wb");
  if (stream == NULL || fwrite(file->bytes, 1, file->size, stream) != file->size || fclose(stream) != 0)
    fail("could not write %s", path);
}

static void damage(int kind, uint64_t *random) {
  if (!read_file(&database, folder, "values.sqlite") || database.size < 4 * PAGE) fail("no database was built");
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
  static const struct file empty;
  char path[4400];
  unlink(path_in(path, place, "values.sqlite-shm"));
  write_file(&database, place, "values.sqlite");
  if (log_file.size > 0) write_file(&log_file, place, "values.sqlite-wal");
  write_file(&journal, place, "journal");
  write_file(&empty, place, "damaged");
}

/* Opening */

static kept_store *open_damaged(const char *place, bool *is_salvaged) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  kept_error error;
  options.busy_timeout_ms = 30000;
  kept_status status = kept_open(place, &options, &store, &error);
  *is_salvaged = status == KEPT_SALVAGED;
  if (!*is_salvaged) expect_ok(status, "open the damaged store", &error);
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
  kept_error error;
  bool is_salvaged;
  int number = (int)(intptr_t)context;
  store_word(&shared->begun[number], 1);
  kept_store *store = open_damaged(folder, &is_salvaged);
  expect_like_control(store, is_salvaged);
  snprintf(key, sizeof key, "opened%d", number);
  int64_t stored = 0, before = load(&shared->highest);
  kept_get_int64(store, key, &stored, NULL);
  int64_t next = stored + 1; /* may be above the last acknowledged one, if it was killed before it was acknowledged */
  expect_ok(kept_set_int64(store, key, next, &error), "write after the salvage", &error);
  store_word(&shared->opened[number], next);
  uint64_t revision = 0;
  expect_ok(kept_revision_of(store, key, &revision, &error), "ask for the revision", &error);
  if ((int64_t)revision <= before) fail("revision %" PRIu64 " is not above %" PRId64, revision, before);
  note_revision(store, key);
  kept_close(store);
}

static void look(void *context) {
  char key[16];
  bool is_salvaged;
  (void)context;
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

static bool is_there(const char *name) {
  char path[4400];
  return access(path_in(path, folder, name), F_OK) == 0;
}

/* Whether there is a name with this prefix. */
static bool begins_any(const char *beginning) {
  DIR *names = opendir(folder);
  bool is_any = false;
  for (struct dirent *entry; names != NULL && !is_any && (entry = readdir(names)) != NULL;)
    is_any = strncmp(entry->d_name, beginning, strlen(beginning)) == 0;
  if (names != NULL) closedir(names);
  return is_any;
}

static int step_of(ino_t damaged) {
  struct stat status;
  char path[4400];
  if (stat(path_in(path, folder, "values.sqlite"), &status) == 0 && status.st_ino != damaged)
    return is_there("damaged") ? MARK_LEFT : MENDED;
  if (is_there("salvaged.sqlite"))
    return is_there("values.sqlite-wal") || is_there("values.sqlite-shm") ? LOG_IN_PLACE : LOG_REMOVED;
  if (begins_any(".new-")) return REBUILDING;
  return is_there("quarantine") ? SETTING_ASIDE : BEFORE;
}

/* An incomplete entry in quarantine was left by a process that was killed there. A complete one holds the original
 * files. */
static void check_quarantine(void) {
  char quarantine[4400], place[4700];
  unsigned complete = 0;
  DIR *names = opendir(path_in(quarantine, folder, "quarantine"));
  if (names == NULL) fail("there is no quarantine");
  for (struct dirent *entry; (entry = readdir(names)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    snprintf(place, sizeof place, "%s/%s", quarantine, entry->d_name);
    if (!read_file(&found, place, "values.sqlite")) continue;
    if (found.size != database.size || memcmp(found.bytes, database.bytes, found.size) != 0)
      fail("%s does not hold the damaged database", place);
    bool has_log = read_file(&found, place, "values.sqlite-wal");
    if (has_log && (found.size != log_file.size || memcmp(found.bytes, log_file.bytes, found.size) != 0))
      fail("%s does not hold the log of the damaged database", place);
    if (has_log || log_file.size == 0) complete++;
  }
  closedir(names);
  if (complete == 0) fail("no quarantine holds all damaged files");
}

/* Rounds */

static void prepare_round(uint64_t *random) {
  char copy[4300];
  int kind = (int)random_below(random, DAMAGES);
  memset(shared, 0, sizeof *shared);
  is_long = kind == CUT;
  leaves_log = random_below(random, 2) == 0;
  for (int i = 0; i < KEYS; i++) writes_second[i] = random_below(random, 4) == 0;
  folder = fresh_folder();
  pid_t builder = start(build, NULL);
  await_word(&shared->built, 1, "no store was built");
  kill_now(builder);
  read_file(&log_file, folder, "values.sqlite-wal");
  if (!read_file(&journal, folder, "journal")) fail("no journal was built");
  damage(kind, random);
  lay_out(folder);
  snprintf(copy, sizeof copy, "%s/copy", folder);
  if (mkdir(copy, 0700) != 0) fail("no folder %s", copy);
  lay_out(copy);
  finish(start(salvage_undisturbed, copy));
  salvages += shared->is_salvaged;
}

/* kill -9 for a process that may have ended already. */
static void end_now(pid_t process) {
  int status = 0;
  kill(process, SIGKILL);
  waitpid(process, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) fail("process %d found something wrong", (int)process);
}

/* A random moment would rarely hit the short steps, so three times out of four the test waits for one of them. */
static void await_moment(ino_t damaged, uint64_t *random) {
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
  await_moment(damaged, random);
  for (int i = 0; i < victims; i++) end_now(openers[i]);
  kills += (unsigned)victims;
  if (victims == count) hits[step_of(damaged)]++;
  for (int i = victims; i < count; i++) finish(openers[i]);
}

static void play_round(uint64_t *random) {
  struct stat status;
  char path[4400];
  prepare_round(random);
  if (stat(path_in(path, folder, "values.sqlite"), &status) != 0) fail("there is no database");
  for (uint64_t waves = 1 + random_below(random, WAVES); waves > 0; waves--) kill_openers(status.st_ino, random);
  finish(start(look, NULL));
  if (shared->is_salvaged) check_quarantine();
  if (is_there("damaged") || is_there("salvaged.sqlite")) fail("the salvage was not finished");
}

int main(int argc, char **argv) {
  char text[400] = "";
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) play_round(&random);
  for (int i = 0; i < STEPS; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u %s", i > 0 ? ", " : "", hits[i], steps[i]);
  return end_torture(
    "%u rounds, %u of them salvaged, %u openers killed; all of them %s", rounds, salvages, kills, text);
}
