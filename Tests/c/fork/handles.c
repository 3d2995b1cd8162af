/* What each kind of handle does in a child: stores continue to work; transactions and subscriptions belong to the
 * parent. */
#include "polling.h"
#include "recorder.h"
#include "suite.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_and_write(void *context) {
  kept_store *store = context;
  MUST(int_of(store, "parent") == 1);
  MUST(kept_set_int64(store, "child", 2, NULL) == KEPT_OK);
  MUST(int_of(store, "child") == 2);
  MUST(kept_flush(store, NULL) == KEPT_OK);
  return 0;
}

FOLDER_TEST(parent_and_child_go_on_with_the_same_handle) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_int64(store, "parent", 1, &why));
  CHECK_INT(0, in_child(read_and_write, store));
  CHECK_INT(2, int_of(store, "child"));
  EXPECT(KEPT_OK, kept_set_int64(store, "parent", 3, &why));
  CHECK_INT(3, int_of(store, "parent"));
}

TEST(a_memory_store_is_copied) {
  kept_store *store = open_at("memory:");
  EXPECT(KEPT_OK, kept_set_int64(store, "parent", 1, &why));
  CHECK_INT(0, in_child(read_and_write, store));
  CHECK_TEXT("absent", json_of(store, "child"));
}

static int fork_again(void *context) {
  MUST(in_child(read_and_write, context) == 0);
  MUST(int_of(context, "child") == 2);
  return 0;
}

FOLDER_TEST(a_grandchild_goes_on_with_the_handle_too) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_int64(store, "parent", 1, &why));
  CHECK_INT(0, in_child(fork_again, store));
  CHECK_INT(2, int_of(store, "child"));
}

static int close_it(void *context) {
  kept_close(context);
  MUST(kept_set_int64(context, "late", 1, NULL) == KEPT_CLOSED);
  return 0;
}

FOLDER_TEST(a_child_that_closes_leaves_the_parent_s_store_alone) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "before", 1, &why));
  CHECK_INT(0, in_child(close_it, store));
  EXPECT(KEPT_OK, kept_set_int64(store, "after", 2, &why));
  CHECK_INT(1, int_of(store, "before"));
  kept_close(store);
  store = open_at(location);
  CHECK_INT(1, int_of(store, "before"));
  CHECK_INT(2, int_of(store, "after"));
}

static int ends[2]; /* of a pipe */

static int write_on_signal(void *context) {
  char byte;
  MUST(read(ends[0], &byte, 1) == 1);
  return read_and_write(context);
}

FOLDER_TEST(a_parent_that_closes_leaves_the_child_s_store_alone) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "parent", 1, &why));
  CHECK_INT(0, pipe(ends));
  pid_t child = fork_child(write_on_signal, store);
  kept_close(store);
  CHECK_INT(1, write(ends[1], "!", 1));
  CHECK_INT(0, end_of(child));
  close(ends[0]), close(ends[1]);
  CHECK_INT(2, int_of(open_at(location), "child"));
}

static int use_transaction(void *context) {
  kept_store *transaction = context;
  MUST(kept_set_int64(transaction, "b", 1, NULL) == KEPT_FORKED);
  MUST(kept_commit(transaction, NULL, NULL) == KEPT_FORKED);
  kept_rollback(transaction);
  return 0;
}

TEST(a_transaction_belongs_to_the_parent) {
  kept_store *store = fresh_store();
  kept_store *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  CHECK_INT(0, in_child(use_transaction, transaction));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("1", json_of(store, "a"));
  CHECK_TEXT("absent", json_of(store, "b"));
}

static int receive_only_own_notices(void *context) {
  recorder *inherited = context;
  recorder *own = new_recorder();
  record(own, inherited->store, "", KEPT_OBSERVE_PREFIX);
  MUST(kept_set_int64(inherited->store, "here", 1, NULL) == KEPT_OK);
  MUST(strcmp(recorded(own, 1), "S here:->1;") == 0);
  MUST(inherited->notices == 1);
  kept_unobserve(inherited->subscription);
  MUST(inherited->releases == 1);
  kept_close(inherited->store);
  MUST(released(own) == 1);
  return 0;
}

TEST(a_subscription_belongs_to_the_parent) {
  kept_store *store = fresh_store();
  recorder *observer = new_recorder();
  observer->store = store;
  record(observer, store, "parent.", KEPT_OBSERVE_PREFIX);
  EXPECT(KEPT_OK, kept_set_int64(store, "parent.first", 1, &why));
  recorded(observer, 1);
  CHECK_INT(0, in_child(receive_only_own_notices, observer));
  EXPECT(KEPT_OK, kept_set_int64(store, "parent.second", 2, &why));
  CHECK_TEXT("S parent.first:->1;S parent.second:->2;", recorded(observer, 2));
  kept_unobserve(observer->subscription);
  CHECK_INT(1, released(observer));
}

FOLDER_TEST(parent_and_child_are_two_processes_to_an_observer) {
  recorder *observer = new_recorder();
  record(observer, fresh_store(), "child", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_set_int64(observer->store, "parent", 1, &why));
  CHECK_INT(0, in_child(read_and_write, observer->store));
  CHECK_TEXT("O child:->2;", recorded(observer, 1));
}

/* Host-driven stores */

static kept_store *by_host;
static int by_host_fd;

static int dispatch_only_what_is_subscribed_here(void *context) {
  recorder *inherited = context, *own = new_recorder();
  int fd = -1;
  size_t delivered = 4711;
  MUST(!is_readable(by_host_fd, 0));
  MUST(kept_store_fd(by_host, &fd, NULL) == KEPT_OK && fd == by_host_fd);
  MUST(kept_store_dispatch(by_host, 0, &delivered, NULL) == KEPT_OK && delivered == 0);
  record(own, by_host, "", KEPT_OBSERVE_PREFIX);
  MUST(kept_set_int64(by_host, "here", 1, NULL) == KEPT_OK);
  MUST(is_readable(fd, 10000));
  MUST(kept_store_dispatch(by_host, 0, &delivered, NULL) == KEPT_OK && delivered == 1);
  MUST(strcmp(own->text, "S here:->1;") == 0);
  MUST(inherited->notices == 0);
  int copy = dup(fd);
  kept_close(by_host);
  MUST(is_readable(copy, 0) && own->releases == 1);
  return 0;
}

TEST(a_host_driven_store_goes_on_in_both_under_the_same_number) {
  kept_options options = KEPT_OPTIONS_INIT;
  recorder *observer = new_recorder();
  options.delivery = KEPT_BY_HOST;
  EXPECT(KEPT_OK, kept_open(fresh_location(), &options, &by_host, &why));
  EXPECT(KEPT_OK, kept_store_fd(by_host, &by_host_fd, &why));
  record(observer, by_host, "first", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_set_int64(by_host, "first", 1, &why));
  CHECK(is_readable(by_host_fd, 10000));
  CHECK_INT(0, in_child(dispatch_only_what_is_subscribed_here, observer));
  CHECK(is_readable(by_host_fd, 0));
  CHECK_INT(KEPT_OK, kept_store_dispatch(by_host, 0, NULL, NULL));
  CHECK_TEXT("S first:->1;", observer->text);
  kept_close(by_host);
}

static int dispatch_inherited(void *context) {
  recorder *inherited = context;
  size_t delivered = 4711;
  int fd = -1;
  MUST(kept_subscription_fd(inherited->subscription, &fd, NULL) == KEPT_OK && !is_readable(fd, 0));
  MUST(kept_set_int64(inherited->store, "key", 2, NULL) == KEPT_OK);
  MUST(kept_subscription_dispatch(inherited->subscription, 0, &delivered, NULL) == KEPT_OK && delivered == 0);
  kept_unobserve(inherited->subscription);
  MUST(inherited->releases == 1 && inherited->notices == 0);
  return 0;
}

TEST(a_polled_subscription_belongs_to_the_parent) {
  recorder *polled = new_recorder();
  record(polled, fresh_store(), "key", KEPT_OBSERVE_POLLED);
  EXPECT(KEPT_OK, kept_set_int64(polled->store, "key", 1, &why));
  CHECK_INT(0, in_child(dispatch_inherited, polled));
  CHECK_INT(KEPT_OK, kept_subscription_dispatch(polled->subscription, 1, NULL, NULL));
  CHECK_INT(0, strncmp(polled->text, "S key:->1;", 10));
  CHECK_INT(0, polled->releases);
}

static pid_t from_callback;

static int use_inside_callback(void *context) {
  recorder *inherited = context;
  MUST(kept_set_int64(inherited->store, "child", 2, NULL) == KEPT_OK);
  kept_unobserve(inherited->subscription);
  kept_close(inherited->store);
  return 0;
}

static void fork_here(recorder *recorder) {
  recorder->then = NULL;
  from_callback = fork_child(use_inside_callback, recorder);
}

FOLDER_TEST(a_callback_may_fork) {
  const char *location = fresh_folder();
  recorder *observer = new_recorder();
  observer->store = open_at(location);
  observer->then = fork_here;
  record(observer, observer->store, "parent", 0);
  EXPECT(KEPT_OK, kept_set_int64(observer->store, "parent", 1, &why));
  recorded(observer, 1);
  kept_unobserve(observer->subscription);
  CHECK_INT(0, end_of(from_callback));
  CHECK_INT(2, int_of(observer->store, "child"));
}

ROLE(look_at_descriptors, location) {
  char path[64], target[4096];
  int found = 0;
  for (int file = 3; file < 256; file++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = 0;
    if (strstr(target, location)) found++;
  }
  _exit(found);
}

/** The number of event descriptors. The C library and valgrind create none. */
ROLE(count_event_descriptors, location) {
  char path[64], target[4096];
  int found = 0;
  for (int file = 3; file < 256; file++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = 0;
    if (strstr(target, "eventfd")) found++;
  }
  _exit(found);
}

FOLDER_TEST(spawned_programs_inherit_no_descriptor) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  recorder *polled = new_recorder();
  int fd;
  pid_t pid;
  options.delivery = KEPT_BY_HOST;
  EXPECT(KEPT_OK, kept_open(fresh_folder(), &options, &store, &why));
  EXPECT(KEPT_OK, kept_store_fd(store, &fd, &why));
  record(polled, store, "key", KEPT_OBSERVE_POLLED);
  char program[] = "/proc/self/exe", child[] = "--child", role[] = "count_event_descriptors", nowhere[] = "";
  char *arguments[] = { program, child, role, nowhere, NULL };
  CHECK_INT(0, posix_spawn(&pid, program, NULL, NULL, arguments, environ));
  CHECK_INT(0, end_of(pid));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  CHECK_INT(KEPT_OK, kept_subscription_dispatch(polled->subscription, 0, NULL, NULL));
  CHECK_TEXT("S key:->1;", polled->text);
  kept_close(store);
}

FOLDER_TEST(exec_inherits_no_file) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 1, &why));
  EXPECT(KEPT_OK, kept_flush(store, &why));
  child child = start_child("look_at_descriptors", location);
  CHECK_INT(0, finish_child(&child));
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 2, &why));
  CHECK_INT(2, int_of(store, "a"));
}

FOLDER_TEST(a_store_opened_by_a_relative_path_is_found_again) {
  const char *location = fresh_folder();
  char here[4096], parent[4096];
  CHECK(getcwd(here, sizeof here) != NULL);
  snprintf(parent, sizeof parent, "%s", location);
  *strrchr(parent, '/') = 0;
  CHECK_INT(0, chdir(parent));
  char relative[64];
  snprintf(relative, sizeof relative, "./%s", strrchr(location, '/') + 1);
  kept_store *store = open_at(relative);
  CHECK_INT(0, chdir(here));
  EXPECT(KEPT_OK, kept_set_int64(store, "parent", 1, &why));
  CHECK_INT(0, in_child(read_and_write, store));
  CHECK_INT(2, int_of(store, "child"));
}
