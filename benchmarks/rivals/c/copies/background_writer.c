/* Both processes share memory with the requested state and the results. */
#include "background_writer.h"

#include "../clock.h"
#include "../fatal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND 1000000
#define WARMING_UP 50 /* writes */

typedef enum wish { REST, GO, END } wish;

struct background_writer {
  pid_t process;
  _Atomic wish wish;
  atomic_bool is_resting;
  _Atomic uint64_t written, longest;
};

static void nap(void) { nanosleep(&(struct timespec){ 0, MILLISECOND }, NULL); }

static void write_once(background_writer *self, const engine *engine, void *session, walk *walk) {
  uint64_t began = clock_ns();
  engine->set(session, walk);
  uint64_t took = clock_ns() - began;
  if (took > atomic_load(&self->longest)) atomic_store(&self->longest, took);
  atomic_fetch_add(&self->written, 1);
}

static _Noreturn void live(background_writer *self, const engine *engine, const char *folder, bool durable) {
  const key own = durable ? (key){ 7, "durable" } : (key){ 5, "other" };
  walk walk = walk_begin(&own, 1, 0);
  walk.steps = 1;
  void *store = engine->open(folder, durable);
  void *session = engine->join(store);
  for (wish wish; (wish = atomic_load(&self->wish)) != END; nap()) {
    if (wish == GO) write_once(self, engine, session, &walk);
    else atomic_store(&self->is_resting, true);
  }
  engine->leave(session);
  engine->close(store);
  _exit(0);
}

background_writer *background_writer_start(const engine *engine, const char *folder, bool durable) {
  background_writer *self = mmap(NULL, sizeof *self, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (self == MAP_FAILED) die("no memory to share");
  pid_t process = fork();
  if (process < 0) die("no process");
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    live(self, engine, folder, durable);
  }
  self->process = process;
  return self;
}

/* Waiting for a process that has failed would never end. */
static void expect_alive(const background_writer *self) {
  if (waitpid(self->process, NULL, WNOHANG) != 0) die("the background writer has ended");
}

static void await_writes(background_writer *self, uint64_t count) {
  while (atomic_load(&self->written) < count) {
    expect_alive(self);
    nap();
  }
}

void background_writer_go(background_writer *self) {
  atomic_store(&self->written, 0);
  atomic_store(&self->wish, GO);
  await_writes(self, WARMING_UP);
  atomic_store(&self->written, 0);
  atomic_store(&self->longest, 0);
}

/* An operation that takes less than a millisecond may be over before the next write. */
double background_writer_rest(background_writer *self) {
  await_writes(self, 1);
  atomic_store(&self->is_resting, false);
  atomic_store(&self->wish, REST);
  while (!atomic_load(&self->is_resting)) {
    expect_alive(self);
    nap();
  }
  return (double)atomic_load(&self->longest);
}

void background_writer_end(background_writer *self) {
  int status;
  atomic_store(&self->wish, END);
  if (waitpid(self->process, &status, 0) < 0 || status != 0) die("the background writer failed");
  munmap(self, sizeof *self);
}
