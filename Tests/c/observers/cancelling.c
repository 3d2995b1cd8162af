/* Cancelling from every side while callbacks run: no callback begins after the end, and no thread waits forever. */
#include "clock.h"
#include "recorder.h"
#include "suite.h"
#include "transacting.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A barrier at which threads wait until all have arrived. */

enum { most = 3 };
static struct {
  gate gate;
  int expected, come;
  kept_store *store;
  kept_subscription *subscriptions[most];
} meeting = { .gate = GATE };

static void meet(void) {
  count_up(&meeting.gate, &meeting.come);
  await_count(&meeting.gate, &meeting.come, meeting.expected);
}

/** Expects `count` threads at the barrier, and runs `then` in each when all have arrived. */
static void hold_meeting(int count, void (*then)(recorder *recorder)) {
  recorder *recorders[most];
  meeting.expected = count;
  meeting.come = 0;
  meeting.store = fresh_store();
  for (int i = 0; i < count; i++) {
    recorders[i] = new_recorder();
    recorders[i]->then = then;
    record(recorders[i], meeting.store, "key", KEPT_OBSERVE_KEY);
    meeting.subscriptions[i] = recorders[i]->subscription;
  }
  set(meeting.store, "key", 1);
  for (int i = 0; i < count; i++) {
    CHECK_INT(1, released(recorders[i]));
    CHECK_TEXT("S key:->1;", recorders[i]->text);
  }
}

/** Two callbacks run at the same time because the library calls the second on another thread after a while. */
static void cancel_the_next(recorder *recorder) {
  int own = 0;
  meet();
  while (meeting.subscriptions[own] != recorder->subscription) own++;
  kept_unobserve(meeting.subscriptions[(own + 1) % meeting.expected]);
}

TEST(two_callbacks_may_cancel_each_other) { hold_meeting(2, cancel_the_next); }
TEST(three_callbacks_may_cancel_each_other_in_a_cycle) { hold_meeting(3, cancel_the_next); }

static void cancel_all(recorder *recorder) {
  meet();
  for (int i = 0; i < meeting.expected; i++) kept_unobserve(meeting.subscriptions[i]);
}

TEST(three_callbacks_may_each_cancel_all) { hold_meeting(3, cancel_all); }

static void close_store(recorder *recorder) {
  meet();
  kept_close(meeting.store);
}

TEST(two_callbacks_may_close_their_store_at_once) { hold_meeting(2, close_store); }

static recorder *victim;

static void cancel_victim(recorder *recorder) { kept_unobserve(victim->subscription); }

/** A report on the thread that watches the layer files meets an observer at the barrier. */
static void meet_and_unobserve(void *context, const kept_error *error) {
  meet();
  kept_unobserve(meeting.subscriptions[0]);
  meet();
}

static void meet_and_close(recorder *recorder) {
  meet();
  kept_close(meeting.store);
}

TEST(a_report_may_end_a_subscription_whose_callback_closes_the_store) {
  const char *path = fresh_file("{\"values\":{}}");
  kept_options options = KEPT_OPTIONS_INIT;
  recorder *recorder = new_recorder();
  options.system = path;
  options.report = meet_and_unobserve;
  meeting.expected = 2;
  meeting.come = 0;
  EXPECT(KEPT_OK, kept_open(fresh_location(), &options, &meeting.store, &why));
  recorder->then = meet_and_close;
  record(recorder, meeting.store, "key", KEPT_OBSERVE_KEY);
  meeting.subscriptions[0] = recorder->subscription;
  put_file(path, "{ broken");
  set(meeting.store, "key", 1);
  CHECK_INT(1, released(recorder));
  /* The last report. */
  await_count(&meeting.gate, &meeting.come, 3);
}

TEST(a_callback_may_end_another_subscription) {
  kept_store *store = fresh_store();
  recorder *ending = new_recorder(), *last = new_recorder();
  victim = new_recorder();
  ending->then = cancel_victim;
  record(ending, store, "key", KEPT_OBSERVE_KEY);
  record(victim, store, "key", KEPT_OBSERVE_KEY);
  record(last, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", 1);
  set(store, "key", 2);
  recorded(last, 2);
  CHECK_INT(1, released(victim));
  CHECK(victim->notices <= 1);
}

/* A callback that takes long */

static gate bridge = GATE;
static int is_open;

static void wait_until_open(recorder *recorder) { await_count(&bridge, &is_open, 1); }

TEST(a_slow_observer_delays_only_itself) {
  kept_store *store = fresh_store();
  recorder *slow = new_recorder(), *quick = new_recorder();
  is_open = 0;
  slow->then = wait_until_open;
  record(slow, store, "n", KEPT_OBSERVE_KEY);
  record(quick, store, "n", KEPT_OBSERVE_KEY);
  set(store, "n", 1);
  recorded(slow, 1);
  for (int i = 2; i <= 5; i++) {
    set(store, "n", i);
    recorded(quick, i);
  }
  CHECK_INT(1, slow->notices);
  count_up(&bridge, &is_open);
  CHECK_TEXT("S n:->1;S n:1>2;S n:2>3;S n:3>4;S n:4>5;", recorded(slow, 5));
}

static int begun, returned;

static void *unobserve(void *context) {
  recorder *recorder = context;
  __atomic_add_fetch(&begun, 1, __ATOMIC_RELEASE);
  kept_unobserve(recorder->subscription);
  __atomic_add_fetch(&returned, 1, __ATOMIC_RELEASE);
  return recorder->releases == 1 ? NULL : "it returned before the context was released";
}

static void *close_it(void *context) {
  recorder *recorder = context;
  __atomic_add_fetch(&begun, 1, __ATOMIC_RELEASE);
  kept_close(recorder->store);
  __atomic_add_fetch(&returned, 1, __ATOMIC_RELEASE);
  return recorder->releases == 1 ? NULL : "it returned before the context was released";
}

/** Every thread that ends it waits for the running callback. */
static void all_wait_for_a_callback_that_runs(void *(*end)(void *)) {
  enum { threads = 3 };
  kept_store *other = fresh_store();
  recorder *recorder = new_recorder();
  pthread_t enders[threads];
  void *fault;
  is_open = 0;
  begun = returned = 0;
  recorder->then = wait_until_open;
  record(recorder, fresh_store(), "key", KEPT_OBSERVE_KEY);
  set(recorder->store, "key", 1);
  recorded(recorder, 1);
  for (int i = 0; i < threads; i++) CHECK_INT(0, pthread_create(&enders[i], NULL, end, recorder));
  /* Write for a while, so that a thread that does not wait is detected. */
  while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < threads) sched_yield();
  for (int i = 0; i < 100; i++) set(other, "elsewhere", i);
  CHECK_INT(0, __atomic_load_n(&returned, __ATOMIC_ACQUIRE));
  count_up(&bridge, &is_open);
  for (int i = 0; i < threads; i++) {
    CHECK_INT(0, pthread_join(enders[i], &fault));
    CHECK_TEXT(NULL, fault);
  }
  CHECK_INT(1, recorder->releases);
}

TEST(all_threads_that_end_a_subscription_wait_for_its_callback) { all_wait_for_a_callback_that_runs(unobserve); }

TEST(all_threads_that_close_a_store_wait_for_its_callbacks) { all_wait_for_a_callback_that_runs(close_it); }

/* While changes arrive continuously */

static int is_over;
static const int64_t intact = 0x600D;
static int calls;

static int pause_us;

static void *pour(void *context) {
  for (int64_t next = 1; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); next++) {
    if (kept_set_int64(context, "key", next, NULL) != KEPT_OK) return "refused";
    if (pause_us > 0) let_pass((uint64_t)pause_us);
  }
  return NULL;
}

/** Another process that writes until its input is closed. Valgrind does not slow it down, and a process that is far
 *  slower would read its commits for minutes. */
ROLE(pour_too, location) {
  kept_store *store = open_at(location);
  pthread_t writer;
  pause_us = 100;
  CHECK_INT(0, pthread_create(&writer, NULL, pour, store));
  signal_parent();
  await_parent();
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  CHECK_INT(0, pthread_join(writer, NULL));
}

static void touch(void *context, const kept_notice *notice) {
  int64_t *state = context;
  if (*state != intact || kept_notice_count(notice) > 1) abort();
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELEASE);
}

static void wreck(void *context) {
  *(int64_t *)context = 0;
  free(context);
}

static int64_t *new_context(void) {
  int64_t *context = malloc(sizeof *context);
  if (context == NULL) exit(2);
  *context = intact;
  return context;
}

static int wanted_rounds(void) {
  const char *wanted = getenv("KEPT_CANCEL_ROUNDS");
  return wanted ? atoi(wanted) : 1000;
}

/** Waits in every other round for a callback, so that others are about to begin when it is cancelled. */
static void await_call(int round) {
  int before = __atomic_load_n(&calls, __ATOMIC_ACQUIRE);
  while (round % 2 && __atomic_load_n(&calls, __ATOMIC_ACQUIRE) == before) sched_yield();
}

static void unobserve_often(const char *location) {
  kept_store *store = open_at(location);
  for (int round = 0; round < wanted_rounds(); round++) {
    kept_subscription *subscription = NULL;
    uint32_t flags = round % 3 ? KEPT_OBSERVE_KEY : KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL;
    EXPECT(KEPT_OK, kept_observe(store, "key", flags, touch, new_context(), wreck, &subscription, &why));
    await_call(round);
    kept_unobserve(subscription);
  }
}

/** The context is freed by the thread that closes, not in `release`. */
static void close_often(const char *location) {
  for (int round = 0; round < wanted_rounds() / 5; round++) {
    kept_store *store = NULL;
    kept_subscription *subscription = NULL;
    int64_t *context = new_context();
    EXPECT(KEPT_OK, kept_open(location, NULL, &store, &why));
    EXPECT(KEPT_OK, kept_observe(store, "key", KEPT_OBSERVE_KEY, touch, context, NULL, &subscription, &why));
    await_call(round);
    kept_close(store);
    wreck(context);
  }
}

/** Changes come from this process and, in a folder, from another one. */
static void while_changes_pour_in(void (*work)(const char *location), const char *location, int with_child) {
  kept_store *store = open_at(location);
  pthread_t writer;
  void *refused;
  child child = { -1, -1, -1 };
  __atomic_store_n(&is_over, 0, __ATOMIC_RELEASE);
  if (with_child) {
    child = start_child("pour_too", location);
    await_child(&child);
  }
  CHECK_INT(0, pthread_create(&writer, NULL, pour, store));
  work(location);
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  CHECK_INT(0, pthread_join(writer, &refused));
  CHECK_TEXT(NULL, refused);
  if (with_child) CHECK_INT(0, finish_child(&child));
}

TEST(a_context_is_not_touched_after_its_subscription_has_ended) {
  while_changes_pour_in(unobserve_often, fresh_location(), 0);
}

TEST(a_context_is_not_touched_after_its_store_was_closed) { while_changes_pour_in(close_often, fresh_location(), 0); }

FOLDER_TEST(nor_when_another_process_writes) {
  while_changes_pour_in(unobserve_often, fresh_folder(), 1);
  while_changes_pour_in(close_often, fresh_folder(), 1);
}

/* Subscribing and cancelling from inside */

static void replace_itself(void *context, const kept_notice *notice);

static struct {
  pthread_mutex_t lock;
  kept_store *store;
  kept_subscription *subscription;
  int rounds, releases;
} chain = { PTHREAD_MUTEX_INITIALIZER, NULL, NULL, 0, 0 };

static void count_release(void *context) { __atomic_add_fetch(&chain.releases, 1, __ATOMIC_RELEASE); }

static void observe_next(void) {
  CHECK_INT(KEPT_OK,
    kept_observe(chain.store, "key", KEPT_OBSERVE_KEY, replace_itself, NULL, count_release, &chain.subscription, NULL));
}

static void replace_itself(void *context, const kept_notice *notice) {
  pthread_mutex_lock(&chain.lock);
  kept_subscription *own = chain.subscription;
  if (++chain.rounds < 200) observe_next();
  pthread_mutex_unlock(&chain.lock);
  kept_unobserve(own);
}

TEST(a_subscription_may_replace_itself_again_and_again) {
  chain.store = fresh_store();
  chain.rounds = chain.releases = 0;
  pthread_mutex_lock(&chain.lock);
  observe_next();
  pthread_mutex_unlock(&chain.lock);
  for (int64_t next = 1; __atomic_load_n(&chain.releases, __ATOMIC_ACQUIRE) < 200; next++) {
    set(chain.store, "key", next);
  }
  CHECK_INT(200, chain.rounds);
}
