/* Opening a folder twice gives two handles on one store, whatever happens in between: another process may create the
 * folder just when this one finds it missing, and a container may have no statx. With two stores instead, the writes of
 * one handle would reach the observers of the other as those of another process. */
#include "torture.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static const char *folder;
/* The result of statx: 0 for the real one. After the first answer that the folder is missing, another process creates
 * it. */
static int statx_error;
static bool is_made_first;

/* Interposes the C library's. */
long syscall(long number, ...) {
  static long (*real)(long, ...);
  long arguments[6];
  va_list rest;
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  va_start(rest, number);
  for (int i = 0; i < 6; i++) arguments[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_statx && statx_error != 0) return errno = statx_error, -1;
  long result = real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  if (number == SYS_statx && result == -1 && errno == ENOENT && is_made_first) {
    is_made_first = false;
    if (mkdir(folder, 0700) != 0) fail("no folder: %s", strerror(errno));
    errno = ENOENT;
  }
  return result;
}

static kept_store *open_for_host(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.delivery = KEPT_BY_HOST;
  expect_ok(kept_open(folder, &options, &store, &why), "open");
  return store;
}

static void receive(void *origin, const kept_notice *notice) { *(uint32_t *)origin = kept_notice_origin(notice); }

static uint32_t origin_of_next(kept_store *store, const uint32_t *origin) {
  struct pollfd due = { .events = POLLIN };
  size_t delivered = 0;
  expect_ok(kept_store_fd(store, &due.fd, &why), "get the descriptor");
  if (poll(&due, 1, PATIENCE_SECONDS * 1000) != 1) fail("nothing was delivered");
  expect_ok(kept_store_dispatch(store, 1, &delivered, &why), "dispatch");
  if (delivered != 1) fail("nothing was delivered");
  return *origin;
}

static void play(void *what) {
  kept_subscription *subscription = NULL;
  uint32_t origin = 99;
  kept_store *one = open_for_host(), *other = open_for_host();
  expect_ok(kept_observe(one, "a", KEPT_OBSERVE_KEY, receive, &origin, NULL, &subscription, &why), "observe");
  expect_ok(kept_set_int64(other, "a", 1, &why), "set");
  uint32_t found = origin_of_next(one, &origin);
  if (found != KEPT_ORIGIN_PROCESS) fail("%s: a write of this process came with origin %u", (const char *)what, found);
  kept_close(other);
  kept_close(one);
}

static void play_with(int error, bool made_first, char *what) {
  folder = fresh_folder();
  statx_error = error;
  is_made_first = made_first;
  finish(start(play, what));
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  play_with(0, false, "a folder that is missing");
  play_with(0, true, "a folder that another process makes at the same time");
  play_with(ENOSYS, false, "no statx");
  play_with(EPERM, false, "a statx that is forbidden");
  return end_torture("4 ways to open a folder twice");
}
