/* A process may end in every way while changes are delivered, without hanging or crashing. */
#include "suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { rounds = 10, seconds = 60 };

static kept_store *store;
static int received;

static void receive(void *context, const kept_notice *notice) { __atomic_add_fetch(&received, 1, __ATOMIC_RELEASE); }

static void *write_for_ever(void *context) {
  for (int64_t next = 1; kept_set_int64(store, "key", next, NULL) == KEPT_OK; next++) {}
  return context;
}

static void *exit_here(void *context) { exit(0); }

/** Observes and writes. The store is never closed. */
static void be_busy(const char *location) {
  kept_subscription *subscription = NULL;
  pthread_t writer;
  alarm(seconds);
  EXPECT(KEPT_OK, kept_open(location, NULL, &store, &why));
  EXPECT(KEPT_OK, kept_observe(store, "", KEPT_OBSERVE_PREFIX, receive, NULL, NULL, &subscription, &why));
  EXPECT(KEPT_OK, kept_observe(store, "key", KEPT_OBSERVE_KEY, receive, NULL, NULL, &subscription, &why));
  CHECK_INT(0, pthread_create(&writer, NULL, write_for_ever, NULL));
  CHECK_INT(0, pthread_detach(writer));
  while (__atomic_load_n(&received, __ATOMIC_ACQUIRE) < 4) sched_yield();
}

ROLE(return_from_main, location) { be_busy(location); }

ROLE(close_and_return, location) {
  be_busy(location);
  kept_close(store);
}

ROLE(exit_at_once, location) {
  be_busy(location);
  _exit(0);
}

ROLE(exit_in_a_thread, location) {
  pthread_t thread;
  be_busy(location);
  CHECK_INT(0, pthread_create(&thread, NULL, exit_here, NULL));
  pthread_join(thread, NULL);
}

static void exit_inside(void *context, const kept_notice *notice) { exit_here(context); }

ROLE(exit_in_a_callback, location) {
  kept_subscription *subscription = NULL;
  be_busy(location);
  kept_observe(store, "", KEPT_OBSERVE_PREFIX, exit_inside, NULL, NULL, &subscription, NULL);
  while (1) pause();
}

static void flush_at_exit(void) { CHECK_INT(KEPT_OK, kept_flush(store, NULL)); }

ROLE(use_it_at_exit, location) {
  atexit(flush_at_exit);
  be_busy(location);
}

static void each_time(const char *role) {
  for (int round = 0; round < rounds; round++) {
    child child = start_child(role, fresh_folder());
    CHECK_INT(0, finish_child(&child));
  }
}

FOLDER_TEST(a_program_may_return_from_main) { each_time("return_from_main"); }
FOLDER_TEST(a_program_may_close_and_return) { each_time("close_and_return"); }
FOLDER_TEST(a_program_may_end_at_once) { each_time("exit_at_once"); }
FOLDER_TEST(any_thread_may_exit) { each_time("exit_in_a_thread"); }
FOLDER_TEST(a_callback_may_exit) { each_time("exit_in_a_callback"); }
FOLDER_TEST(what_runs_at_exit_may_use_the_store) { each_time("use_it_at_exit"); }
