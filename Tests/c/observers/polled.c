/* Subscriptions with a descriptor of their own, whose notices are dispatched or taken. */
#include "polling.h"
#include "suite.h"
#include "transacting.h"

#include <stdio.h>
#include <unistd.h>

/* Subscriptions with a descriptor of their own */

TEST(a_polled_subscription_is_called_only_by_its_own_dispatch) {
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

TEST(polled_subscriptions_go_at_their_own_pace) {
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

TEST(the_end_of_a_polled_subscription_makes_it_readable) {
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

TEST(a_polled_subscription_may_end_itself) {
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
  EXPECT(KEPT_OK,
    kept_observe(store, "n", flags | KEPT_OBSERVE_POLLED, NULL, recorder, recorder_release, &subscription, &why));
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

TEST(notices_are_taken_one_by_one_an_initial_one_first) {
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

TEST(a_taken_notice_outlives_its_subscription) {
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

TEST(notices_are_either_taken_or_delivered) {
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
