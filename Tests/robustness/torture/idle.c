/* No thread of an idle program with observers wakes. The voluntary context switches of all its threads are counted
 * while nothing happens. Several programs run at once, each with its own store. */
#include "torture.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 6, MOST_OBSERVERS = 64, IDLE_MS = 10000, SETTLE_MS = 2500 };
/* The end of the wait itself. */
enum { MOST_WAKES = 1 };

typedef struct program {
  int observers;
  bool reads, caches; /* it has read before; it has read the generation, as every Python program does */
  char folder[4300];
} program;

static program programs[PROGRAMS] = {
  { .observers = 1 },
  { .observers = 1, .reads = true },
  { .observers = 1, .reads = true, .caches = true },
  { .observers = MOST_OBSERVERS },
  { .observers = MOST_OBSERVERS, .reads = true },
  { .observers = MOST_OBSERVERS, .reads = true, .caches = true },
};
static int64_t *wakes;

static int64_t switches_of(const char *task) {
  return number_in_file(file_of(file_of("/proc/self/task", task), "status"), "\nvoluntary_ctxt_switches:");
}

static int64_t switches(void) {
  int64_t sum = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL) fail("no list of threads");
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    if (task->d_name[0] != '.') sum += switches_of(task->d_name);
  }
  closedir(tasks);
  return sum;
}

static void idle(void *own) {
  const program *program = own;
  kept_subscription *subscription;
  int64_t number;
  kept_store *store = open_store(program->folder, KEPT_SHARED, 1000);
  expect_ok(kept_set_int64(store, "key", 1, &why), "write");
  for (int i = 0; i < program->observers; i++) {
    uint32_t flags = i % 2 ? KEPT_OBSERVE_PREFIX : KEPT_OBSERVE_KEY;
    expect_ok(kept_observe(store, "key", flags, ignore_notice, NULL, NULL, &subscription, &why), "observe");
  }
  for (int i = 0; program->reads && i < 2; i++) { expect_ok(kept_get_int64(store, "key", &number, &why), "read"); }
  if (program->caches) kept_store_generation(store);
  /* Pending work is done about a second later, or later on a busy machine. */
  int64_t before;
  int tries = 0;
  do {
    before = switches();
    let_pass(SETTLE_MS * 1000);
  } while (switches() - before > MOST_WAKES && ++tries < 20);
  before = switches();
  let_pass(IDLE_MS * 1000);
  wakes[program - programs] = switches() - before;
  kept_close(store);
}

int main(int argc, char **argv) {
  pid_t processes[PROGRAMS];
  char text[200] = "";
  begin_torture(argc, argv, 0);
  wakes = share(PROGRAMS * sizeof *wakes);
  const char *folder = fresh_folder();
  for (int i = 0; i < PROGRAMS; i++) {
    snprintf(programs[i].folder, sizeof programs[i].folder, "%s-%d", folder, i);
    processes[i] = start(idle, &programs[i]);
  }
  for (int i = 0; i < PROGRAMS; i++) {
    finish(processes[i]);
    snprintf(text + strlen(text), sizeof text - strlen(text), " %" PRId64, wakes[i]);
  }
  for (int i = 0; i < PROGRAMS; i++) {
    if (wakes[i] > MOST_WAKES) fail("idle programs woke%s times in %d ms, %d would be fine", text, IDLE_MS, MOST_WAKES);
  }
  return end_torture("idle programs woke%s times in %d ms", text, IDLE_MS);
}
