/* One store in two containers, whose processes have numbers and mounts of their own: both count in it and observe each
 * other, through different paths, through an overlay whose lower layer has the store, and read-only. Where containers
 * cannot be made, the program says so, and CTest marks the test as skipped. */
#include "namespace.h"
#include "torture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONTAINERS = 2, TIMES = 60 };

static struct shared {
  int64_t made, ready, ended, seen[CONTAINERS], read_only, stop;
} *shared;

static char base[4300];

/* In a container */

static char folder[4500];

static void count(kept_store *store) {
  kept_status status;
  do {
    kept_store *counting = NULL;
    int64_t number = 0;
    expect_ok(kept_begin(store, NULL, &counting, &why), "begin");
    status = kept_get_int64(counting, "count", &number, &why);
    if (status == KEPT_OK) status = kept_set_int64(counting, "count", number + 1, &why);
    if (status == KEPT_OK) status = kept_commit(counting, NULL, &why);
    else kept_rollback(counting);
  } while (status == KEPT_CONFLICT);
  expect_ok(status, "count");
}

static void receive(void *own, const kept_notice *notice) {
  int64_t *seen = own, number = 0;
  expect_ok(kept_value_int64(kept_notice_new(notice, 0), &number, &why), "read a notice");
  if (number < load(seen)) fail("a container sees %" PRId64 " after %" PRId64, number, load(seen));
  store_word(seen, number);
}

static void live(void *own) {
  int64_t *seen = own;
  kept_subscription *subscription = NULL;
  int64_t number = 0;
  if (getpid() > 2) fail("the container has no numbers of its own");
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  uint32_t flags = KEPT_OBSERVE_KEY | KEPT_OBSERVE_INITIAL;
  expect_ok(kept_observe(store, "count", flags, receive, seen, NULL, &subscription, &why), "observe");
  add(&shared->ready, 1);
  await_word(&shared->ready, CONTAINERS, "the other container did not open the store");
  for (int i = 0; i < TIMES; i++) count(store);
  await_word(seen, CONTAINERS * TIMES, "a container did not see what the other one wrote");
  expect_ok(kept_get_int64(store, "count", &number, &why), "read");
  if (number != CONTAINERS * TIMES) fail("%d were counted as %" PRId64, CONTAINERS * TIMES, number);
  add(&shared->ended, 1);
  await_word(&shared->ended, CONTAINERS, "the other container did not see all");
  kept_close(store);
}

/* Sees writes, a little later. */
static void read_only(void *unused) {
  int64_t last = 0, end = now_ns() + PATIENCE_SECONDS * INT64_C(1000000000);
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  while (last < CONTAINERS * TIMES) {
    int64_t number = 0;
    kept_status status = kept_get_int64(store, "count", &number, &why);
    if (status == KEPT_BUSY) continue;
    expect_ok(status, "read where nothing may be written");
    if (number < last) fail("read %" PRId64 " after %" PRId64, number, last);
    if (now_ns() > end) fail("a container that may only read sees %" PRId64, number);
    last = number;
  }
  if (kept_set_int64(store, "count", 0, &why) != KEPT_DENIED) fail("a container that may only read has written");
  kept_close(store);
  add(&shared->read_only, 1);
}

/* Containers */

static struct container {
  char place[4400];
  bool is_read_only;
  void (*play)(void *);
  void *context;
} containers[CONTAINERS + 1];

/** Two mounts: the folder of the store at a path of its own, perhaps without the right to write. */
static void contain(void *own) {
  struct container *container = own;
  if (!enter_namespace(true) || mkdir(container->place, 0700) != 0 ||
    mount(base, container->place, NULL, MS_BIND, NULL) != 0) {
    fail("no container could be made");
  }
  int flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
  if (container->is_read_only && mount(NULL, container->place, NULL, flags, NULL) != 0) fail("not mounted read-only");
  snprintf(folder, sizeof folder, "%s/store", container->place);
  finish(start(container->play, container->context));
}

static pid_t start_container(int number, void (*play)(void *), bool is_read_only) {
  struct container *container = &containers[number];
  snprintf(container->place, sizeof container->place, "%s-%d-%u", base, number, round_now);
  container->play = play;
  container->is_read_only = is_read_only;
  container->context = number < CONTAINERS ? &shared->seen[number] : NULL;
  return start(contain, container);
}

static void begin_at_zero(void *unused) {
  snprintf(folder, sizeof folder, "%s/store", base);
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_set_int64(store, "count", 0, &why), "write");
  kept_close(store);
}

static void play_containers(void) {
  pid_t processes[CONTAINERS + 1];
  for (int i = 0; i <= CONTAINERS; i++)
    processes[i] = start_container(i, i < CONTAINERS ? live : read_only, i == CONTAINERS);
  for (int i = 0; i <= CONTAINERS; i++) finish(processes[i]);
  if (load(&shared->read_only) != 1) fail("no container could read");
}

/** The containers share an overlay, in whose lower layer the store lies: it is copied up when it is opened. */
static void play_overlay(void *unused) {
  char layers[16000], lower[4400];
  snprintf(lower, sizeof lower, "%s", base);
  if (!enter_namespace(false)) fail("no container could be made");
  snprintf(base, sizeof base, "%.4200s-merged", lower);
  if (!runs("mkdir '%s' '%s-upper' '%s-work'", base, base, base)) fail("no folders could be made");
  snprintf(layers, sizeof layers, "lowerdir=%s,upperdir=%s-upper,workdir=%s-work", lower, base, base);
  if (mount("kept", base, "overlay", 0, layers) != 0) {
    printf("no overlay can be mounted here\n");
    return;
  }
  play_containers();
}

static void try_container(void *unused) {
  if (enter_namespace(true)) store_word(&shared->made, 1);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  finish(start(try_container, NULL));
  if (!load(&shared->made)) {
    end_torture("no containers can be made here");
    return SKIPPED;
  }
  for (round_now = 0; round_now < 2 * rounds; round_now++) {
    memset(shared, 0, sizeof *shared);
    snprintf(base, sizeof base, "%s", fresh_folder());
    if (mkdir(base, 0700) != 0) fail("no folder");
    finish(start(begin_at_zero, NULL));
    if (round_now % 2 == 0) play_containers();
    else finish(start(play_overlay, NULL));
  }
  return end_torture("%d containers counted to %d, and one that may only read saw it", CONTAINERS, CONTAINERS * TIMES);
}
