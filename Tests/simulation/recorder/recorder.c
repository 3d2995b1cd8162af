#include "recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static recorded_event *events;
static size_t count, capacity;
static bool is_recording;
static unsigned failing, syncs;
static bool may_die;
static unsigned left;
static bool strikes, has_struck;
static unsigned before_strike;
static int strike, strike_error;

void recorder_start(void) { is_recording = true; }
void recorder_stop(void) { is_recording = false; }
void recorder_fail(unsigned every) { failing = every; }
void recorder_die(unsigned calls) { may_die = true, left = calls; }
void recorder_revive(void) { may_die = false; }
size_t recorder_count(void) { return count; }

void recorder_reset(void) {
  while (count > 0) free((void *)events[--count].bytes);
  syncs = 0;
}

void recorder_strike(unsigned call, int how, int error) {
  strikes = true, has_struck = false, before_strike = call, strike = how, strike_error = error;
}

bool recorder_has_struck(void) { return has_struck; }
void recorder_spare(void) { strikes = false; }
pid_t recorder_fork(void) { return fork(); }
const recorded_event *recorder_event(size_t index) { return events + index; }

static void copy(char *to, const char *name) {
  if (name) strncpy(to, name, sizeof events->name - 1);
}

static void add(
  int call, int file, const void *bytes, size_t length, int64_t offset, const char *name, const char *other) {
  if (count == capacity) events = realloc(events, (capacity = capacity ? 2 * capacity : 1024) * sizeof *events);
  recorded_event *event = events + count++;
  memset(event, 0, sizeof *event);
  struct stat status;
  event->call = call;
  event->file = fstat(file, &status) == 0 ? status.st_ino : 0;
  event->offset = offset;
  event->count = length;
  if (length) event->bytes = memcpy(malloc(length), bytes, length);
  copy(event->name, name);
  copy(event->other, other);
}

/// Does a call whose result the pulse is to show, and ends the process before it does.
static void die_after(
  int call, int file, const void *bytes, size_t length, int64_t offset, const char *name, const char *other) {
  if (call == EVENT_WRITE) (void)!pwrite(file, bytes, length, offset);
  if (call == EVENT_RENAME) renameat(file, name, file, other);
  kill(getpid(), SIGKILL);
}

/// Called by the engine before each call, see EngineCalls.h.
int kept_simulated(
  int call, int file, const void *bytes, size_t length, int64_t offset, const char *name, const char *other) {
  // Nothing in these programs depends on the real disk.
  int result = call == EVENT_SYNC || call == EVENT_SYNC_FOLDER ? -1 : 0;
  if (!is_recording) return result;
  pthread_mutex_lock(&mutex);
  bool dies = may_die && call <= EVENT_REMOVE && (left == 0 || left-- == 0);
  bool is_struck = !dies && strikes && before_strike-- == 0;
  // A failed sync is an event that syncs nothing, and the disk drops what was written before.
  bool fails = !dies && call == EVENT_SYNC && failing && ++syncs % failing == 0;
  if (dies) {
    result = EIO;
  } else if (is_struck) {
    strikes = false, has_struck = true, result = strike_error;
    if (strike == STRIKE_KILL_BEFORE) kill(getpid(), SIGKILL);
    if (strike == STRIKE_KILL_AFTER) die_after(call, file, bytes, length, offset, name, other);
    size_t written = strike == STRIKE_SHORT ? length / 2 : strike == STRIKE_WHOLE ? length : 0;
    if (written > 0 && call == EVENT_WRITE && pwrite(file, bytes, written, offset) > 0) {
      add(call, file, bytes, written, offset, name, other);
    }
    if (call == EVENT_SYNC) add(-EVENT_SYNC, file, NULL, 0, 0, NULL, NULL);
  } else if (call <= EVENT_REMOVE) {
    add(fails ? -EVENT_SYNC : call, file, bytes, length, offset, name, other);
    if (fails) result = EIO;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}
