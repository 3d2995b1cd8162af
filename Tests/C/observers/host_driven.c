/* Stores and subscriptions whose callbacks the program runs: the descriptor signals, and dispatching calls them. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "../recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

static void set(kept_store *store, const char *key, int64_t value) {
  EXPECT(KEPT_OK, kept_set_int64(store, key, value, &why));
}

static kept_store *open_by_host(const char *location) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.delivery = KEPT_BY_HOST;
  EXPECT(KEPT_OK, kept_open(location, &options, &store, &why));
  return store;
}

static int fd_of(kept_store *store) {
  int fd = -1;
  EXPECT(KEPT_OK, kept_store_fd(store, &fd, &why));
  return fd;
}

static int fd_of_subscription(recorder *recorder) {
  int fd = -1;
  EXPECT(KEPT_OK, kept_subscription_fd(recorder->subscription, &fd, &why));
  return fd;
}

static int is_readable(int fd, int milliseconds) {
  struct pollfd watched = { fd, POLLIN, 0 };
  return poll(&watched, 1, milliseconds) == 1 && watched.revents == POLLIN;
}
#define CHECK_READABLE(fd) CHECK(is_readable(fd, 10000))
#define CHECK_SILENT(fd)   CHECK(!is_readable(fd, 0))

static size_t dispatch(kept_store *store, size_t max) {
  size_t delivered = 4711;
  EXPECT(KEPT_OK, kept_store_dispatch(store, max, &delivered, &why));
  return delivered;
}

static size_t dispatch_polled(recorder *recorder, size_t max) {
  size_t delivered = 4711;
  EXPECT(KEPT_OK, kept_subscription_dispatch(recorder->subscription, max, &delivered, &why));
  return delivered;
}

/* The store's descriptor */

static void no_callback_runs_before_the_program_dispatches(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  int fd = fd_of(store);
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  CHECK_SILENT(fd);
  set(store, "key", 1);
  CHECK_READABLE(fd);
  CHECK_INT(0, recorder->notices);
  CHECK_UINT(1, dispatch(store, 0));
  CHECK_TEXT("S key:->1;", recorder->text);
  CHECK(pthread_equal(pthread_self(), recorder->thread));
  CHECK_SILENT(fd);
  CHECK_UINT(0, dispatch(store, 0));
  EXPECT(KEPT_OK, kept_store_dispatch(store, 1, NULL, &why));
  kept_close(store);
}

static void the_descriptor_is_readable_while_notices_are_due(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *one = new_recorder(), *other = new_recorder();
  int fd = fd_of(store);
  record(one, store, "", KEPT_OBSERVE_PREFIX);
  record(other, store, "b", KEPT_OBSERVE_KEY);
  set(store, "a", 1);
  set(store, "b", 2);
  set(store, "c", 3);
  for (int due = 4; due > 0; due--) {
    CHECK_READABLE(fd);
    CHECK_UINT(1, dispatch(store, 1));
  }
  CHECK_SILENT(fd);
  CHECK_TEXT("S a:->1;S b:->2;S c:->3;", one->text);
  CHECK_TEXT("S b:->2;", other->text);
  kept_close(store);
}

static void epoll_reports_the_descriptor_until_all_is_delivered(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  struct epoll_event event = { EPOLLIN, { 0 } };
  int loop = epoll_create1(EPOLL_CLOEXEC), rounds = 0;
  CHECK_INT(0, epoll_ctl(loop, EPOLL_CTL_ADD, fd_of(store), &event));
  record(recorder, store, "n", KEPT_OBSERVE_KEY);
  for (int i = 1; i <= 5; i++) set(store, "n", i);
  while (epoll_wait(loop, &event, 1, recorder->notices < 5 ? 10000 : 0) == 1) {
    CHECK(dispatch(store, 2) <= 2);
    rounds++;
  }
  CHECK_INT(3, rounds);
  CHECK_TEXT("S n:->1;S n:1>2;S n:2>3;S n:3>4;S n:4>5;", recorder->text);
  close(loop);
  kept_close(store);
}

static void initial_values_are_delivered_without_dispatching(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  record(recorder, store, "key", KEPT_OBSERVE_INITIAL);
  CHECK_TEXT("I key:->-;", recorder->text);
  CHECK_SILENT(fd_of(store));
  kept_close(store);
}

static void *dispatch_elsewhere(void *store) {
  return kept_store_dispatch(store, 0, NULL, NULL) == KEPT_OK ? NULL : "refused";
}

static void another_thread_may_dispatch(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  pthread_t thread;
  void *refused;
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", 1);
  CHECK_INT(0, pthread_create(&thread, NULL, dispatch_elsewhere, store));
  CHECK_INT(0, pthread_join(thread, &refused));
  CHECK(refused == NULL);
  CHECK_TEXT("S key:->1;", recorder->text);
  CHECK(!pthread_equal(pthread_self(), recorder->thread));
  kept_close(store);
}

static void dispatch_inside(recorder *recorder) {
  size_t delivered = 4711;
  CHECK_INT(KEPT_OK, kept_store_dispatch(recorder->store, 0, &delivered, NULL));
  CHECK_UINT(2, delivered);
}

static void a_callback_may_dispatch_for_others_but_is_not_called_inside_itself(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *nesting = new_recorder(), *other = new_recorder();
  nesting->then = dispatch_inside;
  record(nesting, store, "key", KEPT_OBSERVE_KEY);
  record(other, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", 1);
  set(store, "key", 2);
  CHECK_UINT(1, dispatch(store, 1));
  CHECK_TEXT("S key:->1;", nesting->text);
  CHECK_TEXT("S key:->1;S key:1>2;", other->text);
  nesting->then = NULL;
  CHECK_UINT(1, dispatch(store, 0));
  CHECK_TEXT("S key:->1;S key:1>2;", nesting->text);
  kept_close(store);
}

static void write_again(recorder *recorder) {
  CHECK_INT(KEPT_OK, kept_set_int64(recorder->store, "key", recorder->notices + 1, NULL));
}

static void a_callback_that_writes_does_not_keep_the_program_in_dispatch(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  recorder->then = write_again;
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", 1);
  CHECK_UINT(1, dispatch(store, 0));
  CHECK_READABLE(fd_of(store));
  CHECK_UINT(1, dispatch(store, 0));
  CHECK_TEXT("S key:->1;S key:1>2;", recorder->text);
  kept_close(store);
}

static void notices_due_to_an_ended_subscription_are_dropped(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", 1);
  kept_unobserve(recorder->subscription);
  CHECK_INT(1, recorder->releases);
  CHECK_UINT(0, dispatch(store, 0));
  CHECK_SILENT(fd_of(store));
  CHECK_INT(0, recorder->notices);
  kept_close(store);
}

static void another_process_makes_it_readable(void) {
  const char *location = fresh_folder();
  kept_store *store = open_by_host(location);
  recorder *recorder = new_recorder();
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  child child = start_child("writer", location);
  CHECK_READABLE(fd_of(store));
  CHECK_UINT(1, dispatch(store, 0));
  CHECK_TEXT("O key:->7;", recorder->text);
  CHECK_INT(0, finish_child(&child));
  kept_close(store);
}

static void writer(const char *location) { set(open_at(location), "key", 7); }

/* The end of a store */

static void closing_makes_the_descriptor_readable_and_closes_it(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  int fd = fd_of(store), copy = dup(fd);
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", 1);
  kept_close(store);
  CHECK_READABLE(copy);
  CHECK_INT(-1, fcntl(fd, F_GETFD));
  CHECK_INT(1, recorder->releases);
  CHECK_INT(0, recorder->notices);
  EXPECT(KEPT_CLOSED, kept_store_fd(store, &fd, &why));
  EXPECT(KEPT_CLOSED, kept_store_dispatch(store, 0, NULL, &why));
  close(copy);
}

static void close_store(recorder *recorder) { kept_close(recorder->store); }

static void a_callback_may_close_the_store_that_is_dispatched(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *closing = new_recorder(), *other = new_recorder();
  closing->then = close_store;
  record(closing, store, "key", KEPT_OBSERVE_KEY);
  record(other, store, "other", KEPT_OBSERVE_KEY);
  set(store, "key", 1);
  set(store, "other", 1);
  CHECK_UINT(1, dispatch(store, 0));
  CHECK_INT(1, closing->releases);
  CHECK_INT(0, other->notices);
  CHECK_INT(1, other->releases);
}

/* Subscriptions with a descriptor of their own */

static void a_polled_subscription_is_called_only_by_its_own_dispatch(void) {
  const char *location = fresh_location();
  kept_store *by_library = open_at(location), *by_host = open_by_host(location);
  recorder *automatic = new_recorder(), *one = new_recorder(), *other = new_recorder();
  record(automatic, by_library, "key", KEPT_OBSERVE_KEY);
  record(one, by_library, "key", KEPT_OBSERVE_POLLED);
  record(other, by_host, "key", KEPT_OBSERVE_POLLED);
  set(by_library, "key", 1);
  recorded(automatic, 1);
  CHECK_UINT(0, dispatch(by_host, 0));
  CHECK_SILENT(fd_of(by_host));
  CHECK_INT(0, one->notices + other->notices);
  CHECK_UINT(1, dispatch_polled(one, 0));
  CHECK_UINT(1, dispatch_polled(other, 0));
  CHECK_TEXT("S key:->1;", one->text);
  CHECK_TEXT("P key:->1;", other->text);
  kept_close(by_host);
}

static void polled_subscriptions_go_at_their_own_pace(void) {
  kept_store *store = fresh_store();
  recorder *quick = new_recorder(), *slow = new_recorder();
  record(quick, store, "n", KEPT_OBSERVE_POLLED);
  record(slow, store, "n", KEPT_OBSERVE_POLLED | KEPT_OBSERVE_INITIAL);
  CHECK_TEXT("I n:->-;", slow->text);
  CHECK(fd_of_subscription(quick) != fd_of_subscription(slow));
  for (int i = 1; i <= 3; i++) {
    set(store, "n", i);
    CHECK_READABLE(fd_of_subscription(quick));
    CHECK_UINT(1, dispatch_polled(quick, 0));
    CHECK_SILENT(fd_of_subscription(quick));
  }
  CHECK_INT(1, slow->notices);
  CHECK_UINT(2, dispatch_polled(slow, 2));
  CHECK_READABLE(fd_of_subscription(slow));
  CHECK_UINT(1, dispatch_polled(slow, 2));
  CHECK_TEXT("I n:->-;S n:->1;S n:1>2;S n:2>3;", slow->text);
  CHECK_SILENT(fd_of_subscription(slow));
}

static void check_that_it_has_ended(recorder *recorder, int copy) {
  int fd;
  CHECK_READABLE(copy);
  EXPECT(KEPT_CLOSED, kept_subscription_fd(recorder->subscription, &fd, &why));
  EXPECT(KEPT_CLOSED, kept_subscription_dispatch(recorder->subscription, 0, NULL, &why));
  CHECK_INT(1, recorder->releases);
  CHECK_INT(0, recorder->notices);
  close(copy);
}

static void the_end_of_a_polled_subscription_makes_it_readable(void) {
  kept_store *store = fresh_store();
  recorder *ended = new_recorder(), *with_store = new_recorder();
  record(ended, store, "key", KEPT_OBSERVE_POLLED);
  record(with_store, store, "key", KEPT_OBSERVE_POLLED);
  int copies[2] = { dup(fd_of_subscription(ended)), dup(fd_of_subscription(with_store)) };
  kept_unobserve(ended->subscription);
  CHECK_SILENT(copies[1]);
  check_that_it_has_ended(ended, copies[0]);
  kept_close(store);
  check_that_it_has_ended(with_store, copies[1]);
}

static void end_itself(recorder *recorder) { kept_unobserve(recorder->subscription); }

static void a_polled_subscription_may_end_itself(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  recorder->then = end_itself;
  record(recorder, store, "key", KEPT_OBSERVE_POLLED);
  set(store, "key", 1);
  set(store, "key", 2);
  CHECK_UINT(1, dispatch_polled(recorder, 0));
  CHECK_INT(1, recorder->releases);
  EXPECT(KEPT_CLOSED, kept_subscription_dispatch(recorder->subscription, 0, NULL, &why));
}

/* Notices that are taken with kept_subscription_take() */

static kept_subscription *taking(kept_store *store, uint32_t flags, recorder *recorder) {
  kept_subscription *subscription = NULL;
  EXPECT(KEPT_OK, kept_observe(store, "n", flags | KEPT_OBSERVE_POLLED, NULL, recorder, recorder_release, &subscription,
                               &why));
  return subscription;
}

/** The new value in the notice that is taken; "none" if none was due. Valid until the next call. */
static const char *taken(kept_subscription *subscription) {
  static char value[32];
  kept_notice *notice = NULL;
  EXPECT(KEPT_OK, kept_subscription_take(subscription, &notice, &why));
  const char *json = notice ? kept_notice_new_json(notice, 0) : "none";
  snprintf(value, sizeof value, "%s%s", kept_notice_origin(notice) == KEPT_ORIGIN_INITIAL ? "initial " : "",
           json ? json : "absent");
  kept_notice_free(notice);
  return value;
}

static void notices_are_taken_one_by_one_an_initial_one_first(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  int fd = -1;
  set(store, "n", 1);
  kept_subscription *subscription = taking(store, KEPT_OBSERVE_INITIAL, recorder);
  EXPECT(KEPT_OK, kept_subscription_fd(subscription, &fd, &why));
  set(store, "n", 2);
  set(store, "n", 3);
  CHECK_READABLE(fd);
  CHECK_TEXT("initial 1", taken(subscription));
  CHECK_TEXT("2", taken(subscription));
  CHECK_READABLE(fd);
  CHECK_TEXT("3", taken(subscription));
  CHECK_SILENT(fd);
  CHECK_TEXT("none", taken(subscription));
  set(store, "n", 4);
  CHECK_READABLE(fd);
  CHECK_TEXT("4", taken(subscription));
  kept_unobserve(subscription);
  CHECK_INT(1, recorder->releases);
  CHECK_INT(0, recorder->notices);
}

static void a_taken_notice_outlives_its_subscription(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  kept_notice *notice = NULL, *untouched = NULL;
  kept_subscription *subscription = taking(store, 0, recorder);
  set(store, "n", 1);
  set(store, "n", 2);
  EXPECT(KEPT_OK, kept_subscription_take(subscription, &notice, &why));
  kept_close(store);
  CHECK_INT(1, recorder->releases);
  CHECK_TEXT("1", kept_notice_new_json(notice, 0));
  EXPECT(KEPT_CLOSED, kept_subscription_take(subscription, &untouched, &why));
  CHECK(untouched == NULL);
  kept_notice_free(notice);
  kept_notice_free(NULL);
}

static void notices_are_either_taken_or_delivered(void) {
  kept_store *store = fresh_store();
  recorder *one = new_recorder(), *other = new_recorder();
  kept_notice *notice = NULL;
  kept_subscription *subscription = taking(store, 0, one);
  record(other, store, "n", KEPT_OBSERVE_POLLED);
  EXPECT(KEPT_UNSUPPORTED, kept_subscription_dispatch(subscription, 0, NULL, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_subscription_take(other->subscription, &notice, &why));
  EXPECT(KEPT_INVALID, kept_subscription_take(subscription, NULL, &why));
  EXPECT(KEPT_INVALID, kept_subscription_take(NULL, &notice, &why));
  EXPECT(KEPT_INVALID, kept_observe(store, "n", 0, NULL, NULL, NULL, &other->subscription, &why));
  CHECK(notice == NULL);
}

/* What is refused */

static void a_descriptor_exists_only_where_requested(void) {
  kept_store *store = fresh_store(), *transaction = NULL, *by_host = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  int fd = -1;
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_begin(by_host, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_store_fd(store, &fd, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_store_dispatch(store, 0, NULL, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_store_fd(transaction, &fd, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_subscription_fd(recorder->subscription, &fd, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_subscription_dispatch(recorder->subscription, 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_store_fd(NULL, &fd, &why));
  EXPECT(KEPT_INVALID, kept_store_fd(by_host, NULL, &why));
  EXPECT(KEPT_INVALID, kept_store_dispatch(NULL, 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_subscription_fd(NULL, &fd, &why));
  EXPECT(KEPT_INVALID, kept_subscription_fd(recorder->subscription, NULL, &why));
  EXPECT(KEPT_INVALID, kept_subscription_dispatch(NULL, 0, NULL, &why));
  CHECK_INT(-1, fd);
  kept_close(by_host);
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_store_fd(store, &fd, &why));
  EXPECT(KEPT_CLOSED, kept_store_dispatch(store, 0, NULL, &why));
}

static void descriptors_are_not_inherited_by_other_programs(void) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  record(recorder, store, "key", KEPT_OBSERVE_POLLED);
  CHECK_INT(FD_CLOEXEC, fcntl(fd_of(store), F_GETFD) & FD_CLOEXEC);
  CHECK_INT(FD_CLOEXEC, fcntl(fd_of_subscription(recorder), F_GETFD) & FD_CLOEXEC);
  kept_close(store);
}

/** Runs without a free descriptor. */
static void starved(const char *location) {
  (void)location;
  kept_store *store = open_by_host("memory:");
  recorder *recorder = new_recorder();
  struct rlimit limit = { 3, 3 };
  int fd = -1;
  CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &limit));
  EXPECT(KEPT_FAILED, kept_store_fd(store, &fd, &why));
  EXPECT(KEPT_FAILED, kept_observe(store, "key", KEPT_OBSERVE_POLLED, recorder_notice, recorder, recorder_release,
                                   &recorder->subscription, &why));
  CHECK_INT(-1, fd);
  CHECK(recorder->subscription == NULL);
  CHECK_INT(0, recorder->releases);
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
}

static void without_a_free_descriptor_polling_fails_and_the_store_goes_on(void) {
  child child = start_child("starved", "");
  CHECK_INT(0, finish_child(&child));
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(no_callback_runs_before_the_program_dispatches),
    TEST(the_descriptor_is_readable_while_notices_are_due),
    TEST(epoll_reports_the_descriptor_until_all_is_delivered),
    TEST(initial_values_are_delivered_without_dispatching),
    TEST(another_thread_may_dispatch),
    TEST(a_callback_may_dispatch_for_others_but_is_not_called_inside_itself),
    TEST(a_callback_that_writes_does_not_keep_the_program_in_dispatch),
    TEST(notices_due_to_an_ended_subscription_are_dropped),
    FOLDER_TEST(another_process_makes_it_readable),
    TEST(closing_makes_the_descriptor_readable_and_closes_it),
    TEST(a_callback_may_close_the_store_that_is_dispatched),
    TEST(a_polled_subscription_is_called_only_by_its_own_dispatch),
    TEST(polled_subscriptions_go_at_their_own_pace),
    TEST(the_end_of_a_polled_subscription_makes_it_readable),
    TEST(a_polled_subscription_may_end_itself),
    TEST(notices_are_taken_one_by_one_an_initial_one_first),
    TEST(a_taken_notice_outlives_its_subscription),
    TEST(notices_are_either_taken_or_delivered),
    TEST(a_descriptor_exists_only_where_requested),
    TEST(descriptors_are_not_inherited_by_other_programs),
    TEST(without_a_free_descriptor_polling_fails_and_the_store_goes_on),
    { 0 },
  };
  static const role roles[] = { ROLE(writer), ROLE(starved), { 0 } };
  return run_tests(argc, argv, tests, roles);
}
