/* A process may end in every way while changes are delivered, without hanging or crashing. */
#define _XOPEN_SOURCE 700
#include "../check.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { rounds = 10, seconds = 60 };

static kept_store *store;
static int received;

static void receive(void *context, const kept_notice *notice) {
  (void)context, (void)notice;
  __atomic_add_fetch(&received, 1, __ATOMIC_RELEASE);
}

static void *write_for_ever(void *context) {
  for (int64_t next = 1; kept_set_int64(store, "key", next, NULL) == KEPT_OK; next++) {}
  return context;
}

static void *exit_here(void *context) {
  (void)context;
  exit(0);
}

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

static void return_from_main(const char *location) { be_busy(location); }

static void close_and_return(const char *location) {
  be_busy(location);
  kept_close(store);
}

static void exit_at_once(const char *location) {
  be_busy(location);
  _exit(0);
}

static void exit_in_a_thread(const char *location) {
  pthread_t thread;
  be_busy(location);
  CHECK_INT(0, pthread_create(&thread, NULL, exit_here, NULL));
  pthread_join(thread, NULL);
}

static void exit_inside(void *context, const kept_notice *notice) {
  (void)notice;
  exit_here(context);
}

static void exit_in_a_callback(const char *location) {
  kept_subscription *subscription = NULL;
  be_busy(location);
  kept_observe(store, "", KEPT_OBSERVE_PREFIX, exit_inside, NULL, NULL, &subscription, NULL);
  while (1) pause();
}

static void flush_at_exit(void) { CHECK_INT(KEPT_OK, kept_flush(store, NULL)); }

static void use_it_at_exit(const char *location) {
  atexit(flush_at_exit);
  be_busy(location);
}

static void each_time(const char *role) {
  for (int round = 0; round < rounds; round++) {
    child child = start_child(role, fresh_folder());
    CHECK_INT(0, finish_child(&child));
  }
}

static void a_program_may_return_from_main(void) { each_time("return_from_main"); }
static void a_program_may_close_and_return(void) { each_time("close_and_return"); }
static void a_program_may_end_at_once(void) { each_time("exit_at_once"); }
static void any_thread_may_exit(void) { each_time("exit_in_a_thread"); }
static void a_callback_may_exit(void) { each_time("exit_in_a_callback"); }
static void what_runs_at_exit_may_use_the_store(void) { each_time("use_it_at_exit"); }

int main(int argc, char **argv) {
  static const test tests[] = {
    FOLDER_TEST(a_program_may_return_from_main),
    FOLDER_TEST(a_program_may_close_and_return),
    FOLDER_TEST(a_program_may_end_at_once),
    FOLDER_TEST(any_thread_may_exit),
    FOLDER_TEST(a_callback_may_exit),
    FOLDER_TEST(what_runs_at_exit_may_use_the_store),
    { 0 },
  };
  static const role roles[] = {
    ROLE(return_from_main),
    ROLE(close_and_return),
    ROLE(exit_at_once),
    ROLE(exit_in_a_thread),
    ROLE(exit_in_a_callback),
    ROLE(use_it_at_exit),
    { 0 },
  };
  return run_tests(argc, argv, tests, roles);
}
