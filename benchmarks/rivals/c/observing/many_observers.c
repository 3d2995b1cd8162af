/* Each observer writes what it receives into a cell of shared memory. */
#include "many_observers.h"

#include "../clock.h"
#include "../fatal.h"
#include "../variants.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 60000000000u
#define NOTHING_YET -1
#define IS_READY -2

typedef struct cell {
  _Alignas(64) atomic_int_least64_t received;
} cell;

struct observers {
  size_t count;
  cell *cells;
  pid_t processes[MAX_OBSERVERS]; /* 0: a callback in this process */
  int lifeline[2];                /* the other processes end when the last one closes its end */
};

static observers *observers_of(size_t count) {
  observers *made = calloc(1, sizeof *made);
  if (!made || count > MAX_OBSERVERS) die("%zu observers are too many", count);
  made->count = count;
  made->cells = mmap(NULL, MAX_OBSERVERS * sizeof(cell), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (made->cells == MAP_FAILED || pipe2(made->lifeline, O_CLOEXEC) != 0) die("no memory to share");
  for (size_t at = 0; at < MAX_OBSERVERS; at++) atomic_store(&made->cells[at].received, NOTHING_YET);
  return made;
}

static void note(void *cell_, const kept_notice *notice) {
  cell *cell = cell_;
  int64_t value;
  kept_error error;
  expect_done(kept_value_int64(kept_notice_new(notice, 0), &value, &error), &error, "receive an integer");
  atomic_store(&cell->received, value);
}

static void observe(kept_store *store, const char *name, uint32_t flags, cell *cell) {
  kept_subscription *subscription;
  kept_error error;
  expect_done(kept_observe(store, name, flags, note, cell, NULL, &subscription, &error), &error, "observe");
}

observers *observers_here(size_t count, kept_store *store, const char *name, uint32_t flags) {
  observers *made = observers_of(count);
  for (size_t at = 0; at < count; at++) observe(store, name, flags, &made->cells[at]);
  return made;
}

static _Noreturn void live_elsewhere(observers *observers, size_t at, const char *folder, const char *name) {
  char ignored;
  close(observers->lifeline[1]);
  kept_store *store = usual_open(folder, false);
  observe(store, name, KEPT_OBSERVE_KEY, &observers->cells[at]);
  atomic_store(&observers->cells[at].received, IS_READY);
  while (read(observers->lifeline[0], &ignored, 1) > 0) {}
  kept_close(store);
  _exit(0);
}

observers *observers_elsewhere(size_t count, const char *folder, const char *name) {
  observers *made = observers_of(count);
  for (size_t at = 0; at < count; at++) {
    made->processes[at] = fork();
    if (made->processes[at] < 0) die("no process");
    if (made->processes[at] == 0) live_elsewhere(made, at, folder, name);
  }
  observers_await(made, IS_READY);
  return made;
}

void observers_await(observers *observers, int64_t value) {
  uint64_t began = clock_ns();
  for (size_t at = 0; at < observers->count; at++) {
    while (atomic_load(&observers->cells[at].received) != value) {
      if (clock_ns() - began > PATIENCE_NS) die("an observer has not received %lld", (long long)value);
      nanosleep(&(struct timespec){ 0, 50000 }, NULL);
    }
  }
}

void observers_end(observers *observers) {
  close(observers->lifeline[0]);
  close(observers->lifeline[1]);
  for (size_t at = 0; at < observers->count; at++) {
    int status = 0;
    if (observers->processes[at] && (waitpid(observers->processes[at], &status, 0) < 0 || status != 0)) {
      die("an observing process failed");
    }
  }
  munmap(observers->cells, MAX_OBSERVERS * sizeof(cell));
  free(observers);
}
