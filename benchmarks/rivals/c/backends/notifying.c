/* The other process runs a main loop; both share the times in memory. The next set waits until the last one arrived. */
#include "notifying.h"

#include "../clock.h"
#include "../fatal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND 1000000u
#define PATIENCE_NS (20000ull * MILLISECOND)
#define MAX_SAMPLES 1000

struct listener {
  _Atomic int may_open, is_ready, received; /* `received` is the last value */
  _Atomic uint64_t began, took;             /* of that value */
  char key[32];
};

static void nap(uint64_t ns) { nanosleep(&(struct timespec){ 0, (long)ns }, NULL); }

static void note(GSettings *settings, const char *key, gpointer listener_) {
  uint64_t now = clock_ns();
  listener *listener = listener_;
  atomic_store(&listener->took, now - atomic_load(&listener->began));
  atomic_store(&listener->received, g_settings_get_int(settings, key));
}

static _Noreturn void listen_for_changes(listener *listener) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (!atomic_load(&listener->may_open)) nap(MILLISECOND);
  GSettings *settings = g_settings_new(PROGRAM_SCHEMA);
  char *signal = g_strconcat("changed::", listener->key, NULL);
  g_signal_connect(settings, signal, G_CALLBACK(note), listener);
  g_settings_get_int(settings, listener->key);
  atomic_store(&listener->is_ready, 1);
  g_main_loop_run(g_main_loop_new(NULL, FALSE));
  die("the main loop ended");
}

listener *listener_fork(void) {
  listener *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) die("no shared memory");
  pid_t process = fork();
  if (process < 0) die("no process");
  if (process == 0) listen_for_changes(shared);
  return shared;
}

/* Never the stored value: setting that is not a change. */
static int next_value(void) {
  static int value;
  return ++value;
}

static void set(GSettings *settings, const char *key, int value) {
  if (!g_settings_set_int(settings, key, value)) die("GSettings cannot set %s", key);
}

static void await(listener *listener, int value) {
  uint64_t began = clock_ns();
  while (atomic_load(&listener->received) != value) {
    if (clock_ns() - began > PATIENCE_NS) die("a changed signal was never received");
    nap(MILLISECOND / 10);
  }
}

/* dconf subscribes asynchronously: sets until one is received. */
void listener_await(listener *listener, GSettings *settings, const char *key) {
  g_strlcpy(listener->key, key, sizeof listener->key);
  atomic_store(&listener->may_open, 1);
  while (!atomic_load(&listener->is_ready)) nap(MILLISECOND);
  int value = 0;
  for (int tries = 0; tries < 100 && atomic_load(&listener->received) == 0; tries++) {
    set(settings, key, value = next_value());
    nap(50 * MILLISECOND);
  }
  await(listener, value);
}

static int compare(const void *left, const void *right) {
  uint64_t first = *(const uint64_t *)left, second = *(const uint64_t *)right;
  return first < second ? -1 : first > second;
}

figures set_occasionally(GSettings *settings, const char *key, size_t operations, listener *listener) {
  uint64_t ns[MAX_SAMPLES];
  if (operations == 0 || operations > MAX_SAMPLES) die("%zu sets in a turn", operations);
  for (size_t at = 0; at < operations; at++) {
    int value = next_value();
    uint64_t began = clock_ns();
    if (listener) atomic_store(&listener->began, began);
    set(settings, key, value);
    ns[at] = clock_ns() - began;
    nap(3 * MILLISECOND);
    if (!listener) continue;
    await(listener, value);
    ns[at] = atomic_load(&listener->took);
  }
  qsort(ns, operations, sizeof *ns, compare);
  return (figures){ (double)ns[operations / 2], (double)ns[operations * 99 / 100] };
}
