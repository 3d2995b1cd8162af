/* kill -9 of a writer between its commit and the wake-up of the others, and of observers that wait: the remaining
 * observers receive every commit within two seconds. A process of its own reads the commits. */
#include "outside.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>

/* The longest sleep of a watcher, and the delay that a busy machine may add. */
enum { OBSERVERS = 4, BOUND_MS = 2000, SLACK_MS = 60000 };
enum { TRIES = 150 };

static struct shared {
  int64_t begun, acknowledged, committed;
  struct observer {
    int64_t listens, received;
    int kind;
  } observers[OBSERVERS];
} *shared;

static const char *folder;
static unsigned unannounced, late;
static int64_t slowest_ns;

/* The victim */

static void write_on(void *context) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  uint64_t random = seed + round_now;
  for (;;) {
    int64_t number = add(&shared->begun, 1);
    expect_ok(kept_set_int64(store, "number", number, &why), "write");
    store_word(&shared->acknowledged, number);
    let_pass(random_below(&random, 100));
  }
}

/* Observers: two with callbacks from the library, where one also reads, so that its maintenance thread is running; and
 * two with an event loop */

static int64_t number_in(const kept_value *value) {
  int64_t number = 0;
  if (value != NULL) expect_ok(kept_value_int64(value, &number, &why), "read a value in a notice");
  return number;
}

static void receive(void *own, const kept_notice *notice) {
  struct observer *observer = own;
  int64_t old = number_in(kept_notice_old(notice, 0)), new = number_in(kept_notice_new(notice, 0));
  if (kept_notice_origin(notice) != KEPT_ORIGIN_INITIAL && (old != observer->received || new <= old)) {
    fail("delivered %" PRId64 " to %" PRId64 " after %" PRId64, old, new, observer->received);
  }
  store_word(&observer->received, new);
}

static void run_loop(kept_store *store) {
  struct pollfd due = { .events = POLLIN };
  expect_ok(kept_store_fd(store, &due.fd, &why), "get the descriptor");
  for (;;) {
    poll(&due, 1, -1);
    expect_ok(kept_store_dispatch(store, 0, NULL, &why), "dispatch");
  }
}

static void listen(void *own) {
  struct observer *observer = own;
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  kept_subscription *subscription;
  uint32_t flags = KEPT_OBSERVE_KEY | KEPT_OBSERVE_INITIAL;
  int64_t number;
  if (observer->kind >= 2) options.delivery = KEPT_BY_HOST;
  expect_ok(kept_open(folder, &options, &store, &why), "open");
  expect_ok(kept_observe(store, "number", flags, receive, observer, NULL, &subscription, &why), "observe");
  store_word(&observer->listens, 1);
  if (observer->kind >= 2) run_loop(store);
  for (;;) {
    if (observer->kind == 1) kept_get_int64(store, "number", &number, &why);
    let_pass(observer->kind == 1 ? 100000 : 10000000);
  }
}

static pid_t start_observer(int number) {
  struct observer *observer = &shared->observers[number];
  *observer = (struct observer){ .kind = number };
  pid_t process = start(listen, observer);
  await_word(&observer->listens, 1, "the observer did not subscribe");
  return process;
}

/* Rounds */

/** In a process of its own, so that nothing is open in the one that starts the others. */
static void look(void *unused) {
  int64_t number = 0;
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_get_int64(store, "number", &number, &why), "read");
  store_word(&shared->committed, number);
  kept_close(store);
}

static int64_t committed(void) {
  finish(start(look, NULL));
  return load(&shared->committed);
}

/* Stops the victim in a commit, if possible after it was published. */
static void stop_after_commit(pid_t victim, uint64_t *random) {
  for (int tries = 0; tries < TRIES && stop_at(victim, COMMITTING, folder, random); tries++) {
    if (committed() > load(&shared->acknowledged)) return;
    kill(victim, SIGCONT);
  }
}

static void expect_received(int64_t last, int64_t since) {
  for (int i = 0; i < OBSERVERS; i++) {
    while (load(&shared->observers[i].received) < last) {
      if (now_ns() - since > (BOUND_MS + SLACK_MS) * INT64_C(1000000)) {
        fail("observer %d has received %" PRId64 " and not %" PRId64, i, load(&shared->observers[i].received), last);
      }
      let_pass(100);
    }
  }
  int64_t took = now_ns() - since;
  if (took > slowest_ns) slowest_ns = took;
  late += took > BOUND_MS * INT64_C(1000000);
}

static void play_round(pid_t *observers, uint64_t *random) {
  int64_t before = load(&shared->acknowledged);
  store_word(&shared->begun, round_now == 0 ? 0 : committed());
  pid_t victim = start(write_on, NULL);
  await_word(&shared->acknowledged, before + 20, "nothing was written");
  if (random_below(random, 4) > 0) stop_after_commit(victim, random);
  else let_pass(random_below(random, 3000));
  kill_now(victim);
  int64_t killed_at = now_ns(), last = committed();
  unannounced += last > load(&shared->acknowledged);
  expect_received(last, killed_at);
  store_word(&shared->acknowledged, last);
  int next = (int)random_below(random, OBSERVERS);
  kill_now(observers[next]);
  observers[next] = start_observer(next);
}

int main(int argc, char **argv) {
  pid_t observers[OBSERVERS];
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  folder = fresh_folder();
  uint64_t random = seed;
  for (int i = 0; i < OBSERVERS; i++) observers[i] = start_observer(i);
  for (round_now = 0; round_now < rounds; round_now++) play_round(observers, &random);
  for (int i = 0; i < OBSERVERS; i++) kill_now(observers[i]);
  return end_torture("%u writers killed (%u between commit and answer) and as many "
                     "waiting observers; the others had received everything after %.0f ms at most, %u times after more "
                     "than %d ms",
    rounds, unannounced, (double)slowest_ns / 1e6, late, BOUND_MS);
}
