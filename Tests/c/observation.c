/* Observation: which observers are notified of which changes, on which thread, and never after the end. */
#include "recorder.h"
#include "suite.h"
#include "transacting.h"

#include <string.h>

TEST(initial_values_are_delivered_on_this_thread_before_the_call_returns) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  set(store, "a", 1);
  set(store, "b", 2);
  record(recorder, store, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL);
  CHECK_INT(1, recorder->notices);
  CHECK(pthread_equal(pthread_self(), recorder->thread));
  CHECK_TEXT("I a:->1 b:->2;", recorded(recorder, 1));
  CHECK_UINT(2, recorder->revision);
  set(store, "a", 3);
  CHECK_TEXT("I a:->1 b:->2;S a:1>3;", recorded(recorder, 2));
  CHECK(!pthread_equal(pthread_self(), recorder->thread));
}

TEST(commits_are_delivered_in_order) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  record(recorder, store, "n", KEPT_OBSERVE_KEY);
  for (int i = 1; i <= 9; i++) set(store, "n", i);
  CHECK_TEXT("S n:->1;S n:1>2;S n:2>3;S n:3>4;S n:4>5;S n:5>6;S n:6>7;S n:7>8;S n:8>9;", recorded(recorder, 9));
}

/* The end */

TEST(after_the_end_no_callback_begins_and_the_context_is_released) {
  kept_store *store = fresh_store();
  recorder *ended = new_recorder(), *other = new_recorder();
  record(ended, store, "", KEPT_OBSERVE_PREFIX);
  record(other, store, "", KEPT_OBSERVE_PREFIX);
  set(store, "key", 1);
  recorded(ended, 1);
  kept_unobserve(ended->subscription);
  CHECK_INT(1, released(ended));
  set(store, "key", 2);
  CHECK_TEXT("S key:->1;S key:1>2;", recorded(other, 2));
  CHECK_TEXT("S key:->1;", recorded(ended, 1));
  CHECK_INT(0, other->releases);
}

TEST(ending_twice_or_ending_NULL_is_allowed) {
  recorder *recorder = new_recorder();
  record(recorder, fresh_store(), "key", KEPT_OBSERVE_KEY);
  kept_unobserve(NULL);
  kept_unobserve(recorder->subscription);
  kept_unobserve(recorder->subscription);
  CHECK_INT(1, released(recorder));
}

TEST(closing_the_store_ends_its_subscriptions) {
  const char *location = fresh_location();
  kept_store *closed = open_at(location), *open = open_at(location);
  recorder *ended = new_recorder(), *other = new_recorder();
  record(ended, closed, "", KEPT_OBSERVE_PREFIX);
  record(other, open, "", KEPT_OBSERVE_PREFIX);
  kept_close(closed);
  CHECK_INT(1, released(ended));
  set(open, "key", 1);
  CHECK_TEXT("S key:->1;", recorded(other, 1));
  CHECK_TEXT("", recorded(ended, 0));
  kept_unobserve(ended->subscription);
  CHECK_INT(1, released(ended));
}

static void end_itself(recorder *recorder) { kept_unobserve(recorder->subscription); }

TEST(a_subscription_may_end_itself_at_its_first_value) {
  kept_store *store = fresh_store();
  recorder *ending = new_recorder();
  ending->then = end_itself;
  record(ending, store, "key", KEPT_OBSERVE_INITIAL);
  CHECK_INT(1, released(ending));
  CHECK_TEXT("I key:->-;", recorded(ending, 1));
}

/** Writes for a while, so that a call that does not wait for a running callback is detected. */
static void write_for_a_while(recorder *recorder) {
  for (int i = 0; i < 30; i++) CHECK_INT(KEPT_OK, kept_set_int64(recorder->store, "elsewhere", i, NULL));
  enter_gate(&recorder->gate);
  strcat(recorder->text, " done");
  leave_gate(&recorder->gate);
}

TEST(ending_waits_for_a_running_callback) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  recorder->then = write_for_a_while;
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", 1);
  recorded(recorder, 1);
  kept_unobserve(recorder->subscription);
  CHECK_TEXT("S key:->1; done", recorder->text);
  CHECK_INT(1, released(recorder));
}

/* From inside a callback */

static void answer(recorder *recorder) {
  char *json = NULL;
  CHECK_INT(KEPT_OK, kept_get_json(recorder->store, "question", &json, NULL));
  CHECK_INT(KEPT_OK, kept_set_json(recorder->store, "answer", json, NULL));
  kept_free(json);
}

TEST(a_callback_may_read_and_write) {
  kept_store *store = fresh_store();
  recorder *asked = new_recorder(), *answered = new_recorder();
  asked->then = answer;
  record(asked, store, "question", KEPT_OBSERVE_KEY);
  record(answered, store, "answer", KEPT_OBSERVE_KEY);
  set(store, "question", 42);
  CHECK_TEXT("S answer:->42;", recorded(answered, 1));
}

static recorder *second;

static void observe_more(recorder *recorder) {
  kept_observe(recorder->store, "", KEPT_OBSERVE_PREFIX, recorder_notice, second, NULL, &second->subscription, NULL);
}

TEST(a_callback_may_subscribe) {
  kept_store *store = fresh_store();
  recorder *first = new_recorder();
  second = new_recorder();
  first->then = observe_more;
  record(first, store, "first", KEPT_OBSERVE_INITIAL);
  first->then = NULL;
  set(store, "key", 1);
  CHECK_TEXT("S key:->1;", recorded(second, 1));
}

/* Bad arguments */

static kept_status observe(kept_store *store, const char *key, uint32_t flags, recorder *recorder) {
  return kept_observe(store, key, flags, recorder_notice, recorder, recorder_release, &recorder->subscription, &why);
}

TEST(bad_arguments_are_refused_and_nothing_is_released) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  EXPECT(KEPT_INVALID, observe(NULL, "key", KEPT_OBSERVE_KEY, recorder));
  EXPECT(KEPT_INVALID, observe(store, NULL, KEPT_OBSERVE_KEY, recorder));
  EXPECT(KEPT_INVALID, observe(store, "key", 8, recorder));
  EXPECT(KEPT_INVALID, kept_observe(store, "key", 0, NULL, recorder, recorder_release, &recorder->subscription, &why));
  EXPECT(KEPT_INVALID, kept_observe(store, "key", 0, recorder_notice, recorder, recorder_release, NULL, &why));
  for (size_t i = 0; bad_key(i) != NULL; i++) EXPECT(KEPT_INVALID, observe(store, bad_key(i), 0, recorder));
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, observe(store, bad_text(i), KEPT_OBSERVE_PREFIX, recorder));
  }
  CHECK(recorder->subscription == NULL);
  CHECK_INT(0, recorder->releases);
}

TEST(a_transaction_cannot_be_observed) {
  kept_store *store = fresh_store(), *transaction = NULL;
  recorder *recorder = new_recorder();
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, observe(transaction, "key", KEPT_OBSERVE_KEY, recorder));
  kept_rollback(transaction);
}

TEST(a_closed_store_returns_closed) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  kept_close(store);
  EXPECT(KEPT_CLOSED, observe(store, "key", KEPT_OBSERVE_INITIAL, recorder));
  CHECK_INT(0, recorder->notices + recorder->releases);
}
