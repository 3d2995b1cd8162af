/* kill -9 at every call of the system that recovering a store makes, while another process waits for that: it had
 * looked before the kill, and takes the store as soon as the locks are gone. What the last processes have left says
 * that the store is open, and no process has repaired it; so the process that waited must do it, and not join. */
#include "failing.h"
#include "torture.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 3, RING_OFFSET = 4096, OPEN_LIMIT_MS = 30000 };

/* What the store has lost since: a part of its database, or all commits that are in its journal alone. */
static const char *const losses[] = { "a part of the database", "the frames of the journal" };

static struct shared {
  int64_t recovered, refused;
} *shared;

static char folder[4300];
static long point;

/* The time of the kill */

static pid_t victim;

static void end_victim(void) {
  struct pollfd end = { (int)syscall(SYS_pidfd_open, victim, 0), POLLIN, 0 };
  store_word(&shared->refused, 1);
  kill(victim, SIGKILL);
  if (end.fd < 0 || poll(&end, 1, PATIENCE_SECONDS * 1000) != 1) fail("the victim does not end (point %ld)", point);
  close(end.fd);
  victim = 0;
}

/* A symbol of the program is found before one of the C library. Who is refused the store alone tries to share it
 * next. */
int fcntl(int file, int command, ...) {
  static int (*real)(int, int, ...);
  va_list rest;
  if (!real) real = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl");
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  int result = real(file, command, argument);
  int error = errno;
  bool is_refused = result != 0 && command == F_OFD_SETLK && ((struct flock *)argument)->l_type == F_WRLCK;
  if (is_refused && victim != 0) end_victim();
  errno = error;
  return result;
}

/* The processes */

static void build(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, OPEN_LIMIT_MS);
  for (int i = 0; i < KEYS; i++) {
    char key[16];
    snprintf(key, sizeof key, "key%d", i);
    expect_ok(kept_set_int64(store, key, i, &why), "write");
  }
  /* At once: the maintenance thread settles the frames after a second, and then the journal has nothing to lose. */
  raise(SIGKILL);
}

/* Every process that opens the store learns that it was salvaged. */
static void open_salvaged(const char *who) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.busy_timeout_ms = OPEN_LIMIT_MS;
  kept_status status = kept_open(folder, &options, &store, &why);
  if (status != KEPT_SALVAGED) {
    fail("%s answered \"%s\" (point %ld): %s", who, kept_status_text(status), point,
      status == KEPT_OK ? "nothing was repaired" : why.message);
  }
  expect_ok(kept_set_int64(store, "new", 1, &why), "write after the salvage");
  kept_close(store);
}

static void stop(void) { raise(SIGSTOP); }

static void be_stopped(void *unused) {
  kept_store *store = NULL;
  plan_call(stop, CALL_OPEN | CALL_CREATE | CALL_REMOVE | CALL_WRITE | CALL_SYNC, point);
  kept_open(folder, NULL, &store, NULL);
  kept_close(store);
  store_word(&shared->recovered, 1);
}

static void wait_for_it(void *process) {
  victim = *(pid_t *)process;
  open_salvaged("the process that waited");
}

static void come_next(void *unused) { open_salvaged("the next process"); }

/* Points */

static void lose(int loss) {
  static const char nothing[4096];
  const char *path = file_of(folder, loss == 0 ? "values.sqlite" : "journal");
  int file = open(path, O_RDWR);
  off_t begin = loss == 0 ? 0 : RING_OFFSET, end = loss == 0 ? 100 : lseek(file, 0, SEEK_END);
  for (off_t at = begin; at < end; at += (off_t)sizeof nothing) {
    size_t length = end - at < (off_t)sizeof nothing ? (size_t)(end - at) : sizeof nothing;
    if (pwrite(file, nothing, length, at) != (ssize_t)length) fail("%s cannot be written", path);
  }
  close(file);
}

/** @return whether the process was stopped at the point, and another was refused until it was killed */
static bool play_point(int loss, bool *is_reached) {
  int status = 0;
  failing_folder("");
  snprintf(folder, sizeof folder, "%s", fresh_folder());
  memset(shared, 0, sizeof *shared);
  expect_signal(start(build, NULL), SIGKILL);
  lose(loss);
  failing_folder(folder);
  pid_t stopped = start(be_stopped, NULL);
  waitpid(stopped, &status, WUNTRACED);
  *is_reached = WIFSTOPPED(status);
  if (!*is_reached && load(&shared->recovered) != 1) fail("the process that recovers died (point %ld)", point);
  if (!*is_reached) return false;
  finish(start(wait_for_it, &stopped));
  bool was_refused = load(&shared->refused) == 1;
  kill(stopped, SIGKILL);
  waitpid(stopped, NULL, 0);
  finish(start(come_next, NULL));
  return was_refused;
}

int main(int argc, char **argv) {
  long kills = 0;
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  uint64_t random = seed;
  for (int loss = 0; loss < (int)COUNT(losses); loss++) {
    long before = kills;
    bool is_reached = true;
    for (point = 1; is_reached; point += rounds > 1 ? 1 : 1 + (long)random_below(&random, 4)) {
      kills += play_point(loss, &is_reached);
    }
    if (kills == before) fail("no process waited for one that repairs the loss of %s", losses[loss]);
  }
  return end_torture("%ld processes were killed at a call of their recovery while another waited", kills);
}
