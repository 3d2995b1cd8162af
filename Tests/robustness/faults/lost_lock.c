/* The pulse is removed or truncated while a writer is stopped in the middle of a commit, before it writes its frame or
 * between that and publishing it. Without the file the stopped writer keeps the write lock: others are "busy" in time.
 * With a truncated file its lock is lost: others write, and when it continues, its late frame does no harm. Every
 * acknowledged write is there afterwards, also for a process that opens the store after a kill. */
#include "torture.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A new journal's ring begins at this byte. All frames have the same length, so that a late one could be taken for one
 * of another process. The company writes fewer than the writer before it was stopped: those that it has not settled
 * must end before the bytes of the late frame, which would damage them. */
enum { RING_OFFSET = 4096, LENGTH = 400, FEWEST = 10, MOST = 60, KEYS = 4, SHORT_MS = 300, LONG_MS = 60000 };

enum { STOPPED, COMPANY, WRITERS };
static const char *const names[] = { "stopped", "company" };

static struct shared {
  int64_t step, joined, refused, written, continued;
  struct {
    int64_t begun, acknowledged;
  } keys[WRITERS][KEYS];
} *shared;
enum { LOST = 1, MADE, WRITTEN };

static char folder[4300], pulse[4400];
/* How many frames are written before the stop, and by the company during it. */
static int64_t before, during;
static bool is_cut, is_database_locked, is_company_killed, is_writer_killed;
static unsigned removed, cut, repeated;

/* The time of the stop */

enum stop { NEVER, BEFORE_FRAME, AFTER_FRAME };
static enum stop stop;
static __thread enum stop planned;

/* A symbol of the program is found before one of the C library. */
#define WRITE_AT(name, offset_type) \
  ssize_t name(int file, const void *from, size_t length, offset_type offset) { \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
    enum stop now = offset >= RING_OFFSET ? planned : NEVER; \
    if (now != NEVER) planned = NEVER; \
    if (now == BEFORE_FRAME) raise(SIGSTOP); \
    ssize_t count = real(file, from, length, offset); \
    if (now == AFTER_FRAME) raise(SIGSTOP); \
    return count; \
  }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

/* Values */

static size_t fill(char *text, int writer, int64_t number) {
  memset(text, 'a' + (int)(number % 26), LENGTH);
  text[snprintf(text, 40, "%s %" PRId64, names[writer], number)] = '.';
  return LENGTH;
}

static kept_status set(kept_store *store, int writer, int key) {
  char name[32], text[LENGTH];
  int64_t number = add(&shared->keys[writer][key].begun, 1);
  snprintf(name, sizeof name, "%s%d", names[writer], key);
  kept_status status = kept_set_string(store, name, text, fill(text, writer, number), &why);
  if (status == KEPT_OK) store_word(&shared->keys[writer][key].acknowledged, number);
  return status;
}

/* Sets the keys in turn; "busy" is an honest answer, and no write may be refused for long. */
static void set_each(kept_store *store, int writer, int64_t count) {
  int64_t deadline = now_ns() + LONG_MS * INT64_C(1000000);
  for (int64_t i = 0; i < count; i++) {
    kept_status status;
    do status = set(store, writer, (int)(i % KEYS));
    while (status == KEPT_BUSY && now_ns() < deadline);
    expect_ok(status, "write");
  }
}

static void expect_all(kept_store *store, const char *who) {
  for (int writer = 0; writer < WRITERS; writer++) {
    for (int key = 0; key < KEYS; key++) {
      char name[32], text[LENGTH + 1] = "", wanted[LENGTH];
      size_t length = 0;
      int64_t least = load(&shared->keys[writer][key].acknowledged);
      snprintf(name, sizeof name, "%s%d", names[writer], key);
      kept_status status = kept_get_string(store, name, text, sizeof text, &length, &why);
      if (status != KEPT_ABSENT) expect_ok(status, name);
      int64_t number = status == KEPT_ABSENT ? 0 : strtoll(text + strlen(names[writer]), NULL, 10);
      if (number < least || number > load(&shared->keys[writer][key].begun)) {
        fail("%s reads %" PRId64 " of %s, and %" PRId64 " was acknowledged", who, number, name, least);
      }
      if (number > 0 && (length != fill(wanted, writer, number) || memcmp(text, wanted, length) != 0)) {
        fail("%s reads a value of %s that was never written", who, name);
      }
    }
  }
}

/* The processes */

static void be_stopped(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, LONG_MS);
  set_each(store, STOPPED, before);
  planned = stop;
  expect_ok(set(store, STOPPED, 0), "write");
  if (planned != NEVER) fail("no frame was written");
  expect_all(store, "the writer that was stopped");
  store_word(&shared->continued, 1);
  if (is_writer_killed) raise(SIGKILL);
  await_word(&shared->step, WRITTEN, "the company did not write");
  set_each(store, STOPPED, KEYS);
  expect_all(store, "the writer that was stopped");
  kept_close(store);
}

static void be_refused(kept_store *store) {
  int64_t begin = now_ns();
  kept_status status = set(store, COMPANY, 0);
  int64_t took = (now_ns() - begin) / 1000000;
  if (status != KEPT_BUSY) fail("a write during the stop answered \"%s\"", kept_status_text(status));
  if (took > LONG_MS / 2) fail("a write was busy after %" PRId64 " ms", took);
  expect_all(store, "a process that was refused");
}

/* Opened while the writer is stopped: then there is something to settle until that continues, and the maintenance
 * thread looks for the pulse every second. */
static void be_company(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, SHORT_MS);
  store_word(&shared->joined, 1);
  await_word(&shared->step, LOST, "the pulse was not lost");
  if (!is_cut) {
    be_refused(store);
    store_word(&shared->refused, 1);
    await_word(&shared->step, MADE, "the pulse was not made again");
  }
  set_each(store, COMPANY, during);
  expect_all(store, "a process next to the writer");
  store_word(&shared->written, 1);
  if (is_company_killed) raise(SIGKILL);
  await_word(&shared->continued, 1, "the writer did not continue");
  set_each(store, COMPANY, KEYS);
  expect_all(store, "a process next to the writer");
  kept_close(store);
}

static void look_next(void *unused) {
  char *report = NULL;
  kept_store *store = open_store(folder, KEPT_SHARED, LONG_MS);
  expect_all(store, "the next process");
  expect_ok(kept_verify_json(store, NULL, NULL, &report, &why), "verify");
  if (strstr(report, "\"sound\":true") == NULL) fail("the store is damaged: %s", report);
  kept_free(report);
  kept_close(store);
}

/* Rounds */

static ino_t pulse_file(void) {
  struct stat status;
  return stat(pulse, &status) == 0 && status.st_size >= 4096 ? status.st_ino : 0;
}

static bool is_running(pid_t process) {
  siginfo_t end = { 0 };
  return waitid(P_PID, (id_t)process, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == 0;
}

/** Waits until another file is in place; false if no process is left that could make it. */
static bool await_other_pulse(ino_t file, pid_t maker) {
  int64_t end = now_ns() + LONG_MS * INT64_C(1000000);
  while (pulse_file() == 0 || pulse_file() == file) {
    if (!is_running(maker)) return false;
    if (now_ns() > end) fail("the pulse was not made again in %d ms", LONG_MS);
    let_pass(1000);
  }
  return true;
}

/** Locks the database until the ring could not be settled for the first time; the next look does it. */
static void truncate_while_locked(void) {
  sqlite3 *lock = NULL;
  const char *database = file_of(folder, "values.sqlite");
  bool done = sqlite3_open(database, &lock) == SQLITE_OK;
  done = done && (!is_database_locked || sqlite3_exec(lock, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
  if (!done) fail("the database cannot be locked");
  if (truncate(pulse, 0) != 0) fail("the pulse cannot be truncated: %s", strerror(errno));
  int64_t end = now_ns() + LONG_MS * INT64_C(1000000);
  /* A page that is out of use has its place. */
  while (is_database_locked && pulse_file() == 0 && now_ns() < end) let_pass(1000);
  if (is_database_locked) let_pass(3 * SHORT_MS * 1000);
  sqlite3_close_v2(lock);
}

static void play_round(uint64_t *random) {
  int status = 0;
  snprintf(folder, sizeof folder, "%s", fresh_folder());
  snprintf(pulse, sizeof pulse, "%s/pulse", folder);
  memset(shared, 0, sizeof *shared);
  before = FEWEST + (int64_t)random_below(random, MOST - FEWEST);
  during = 1 + (int64_t)random_below(random, (uint64_t)before / 3);
  is_cut = round_now % 2;
  stop = round_now / 2 % 2 ? AFTER_FRAME : BEFORE_FRAME;
  is_database_locked = is_cut && random_below(random, 2);
  is_company_killed = is_cut && round_now / 4 % 2;
  is_writer_killed = random_below(random, 2);

  pid_t writer = start(be_stopped, NULL);
  waitpid(writer, &status, WUNTRACED);
  if (!WIFSTOPPED(status)) fail("the writer ended before it was stopped");
  pid_t company = start(be_company, NULL);
  await_word(&shared->joined, 1, "the store could not be opened");
  ino_t file = pulse_file();
  if (is_cut) {
    truncate_while_locked();
    if (!await_other_pulse(file, company)) {
      /* It was using the page then. */
      expect_signal(company, SIGBUS);
      kill_now(writer);
      repeated++;
      return;
    }
    store_word(&shared->step, LOST);
    await_word(&shared->written, 1, "the company did not write");
    if (is_company_killed) expect_signal(company, SIGKILL);
    kill(writer, SIGCONT);
  } else {
    if (unlink(pulse) != 0) fail("the pulse cannot be removed: %s", strerror(errno));
    store_word(&shared->step, LOST);
    await_word(&shared->refused, 1, "the company was not refused");
    kill(writer, SIGCONT);
    if (!await_other_pulse(file, company)) fail("the company died");
    store_word(&shared->step, MADE);
    await_word(&shared->written, 1, "the company did not write");
  }
  await_word(&shared->continued, 1, "the writer did not continue");
  store_word(&shared->step, WRITTEN);
  if (is_writer_killed) expect_signal(writer, SIGKILL);
  else finish(writer);
  if (!is_company_killed) finish(company);
  finish(start(look_next, NULL));
  finish(start(look_next, NULL));
  if (is_cut) cut++;
  else removed++;
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 16);
  shared = share(sizeof *shared);
  uint64_t random = seed;
  for (round_now = 0; cut + removed < rounds; round_now++) {
    if (repeated > rounds) fail("of %u processes next to a stopped writer %u died", round_now, repeated);
    play_round(&random);
  }
  return end_torture("the pulse was removed %u times and truncated %u times while a writer was stopped (%u repeated)",
    removed, cut, repeated);
}
