/* Stores whose callbacks the program runs: the descriptor signals, and dispatching calls them. polled.c tests
 * subscriptions with a descriptor of their own. */
#include "polling.h"
#include "suite.h"
#include "transacting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

/* The store's descriptor */

TEST(no_callback_runs_before_the_program_dispatches) {
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

TEST(the_descriptor_is_readable_while_notices_are_due) {
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

TEST(epoll_reports_the_descriptor_until_all_is_delivered) {
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

TEST(initial_values_are_delivered_without_dispatching) {
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

TEST(another_thread_may_dispatch) {
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

TEST(a_callback_may_dispatch_for_others_but_is_not_called_inside_itself) {
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

TEST(a_callback_that_writes_does_not_keep_the_program_in_dispatch) {
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

TEST(notices_due_to_an_ended_subscription_are_dropped) {
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

FOLDER_TEST(another_process_makes_it_readable) {
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

ROLE(writer, location) { set(open_at(location), "key", 7); }

/* The end of a store */

TEST(closing_makes_the_descriptor_readable_and_closes_it) {
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

TEST(a_callback_may_close_the_store_that_is_dispatched) {
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

/* Refusals */

TEST(a_descriptor_exists_only_where_requested) {
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

TEST(descriptors_are_not_inherited_by_other_programs) {
  kept_store *store = open_by_host(fresh_location());
  recorder *recorder = new_recorder();
  record(recorder, store, "key", KEPT_OBSERVE_POLLED);
  CHECK_INT(FD_CLOEXEC, fcntl(fd_of(store), F_GETFD) & FD_CLOEXEC);
  CHECK_INT(FD_CLOEXEC, fcntl(fd_of_subscription(recorder), F_GETFD) & FD_CLOEXEC);
  kept_close(store);
}

/** Runs without a free descriptor. */
ROLE(starved, location) {
  kept_store *store = open_by_host("memory:");
  recorder *recorder = new_recorder();
  struct rlimit limit = { 3, 3 };
  int fd = -1;
  CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &limit));
  EXPECT(KEPT_FAILED, kept_store_fd(store, &fd, &why));
  EXPECT(KEPT_FAILED,
    kept_observe(
      store, "key", KEPT_OBSERVE_POLLED, recorder_notice, recorder, recorder_release, &recorder->subscription, &why));
  CHECK_INT(-1, fd);
  CHECK(recorder->subscription == NULL);
  CHECK_INT(0, recorder->releases);
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
}

TEST(without_a_free_descriptor_polling_fails_and_the_store_goes_on) {
  child child = start_child("starved", "");
  CHECK_INT(0, finish_child(&child));
}
