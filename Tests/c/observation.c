/* Observation: which observers are notified of which changes, on which thread, and never after the end. */
#define _XOPEN_SOURCE 700
#include "recorder.h"

#include <string.h>

static void set(kept_store *store, const char *key, int64_t value) {
  EXPECT(KEPT_OK, kept_set_int64(store, key, value, &why));
}

static void an_observer_of_a_key_receives_changes_of_that_key_only(void) {
  kept_store *store = fresh_store();
  recorder *one = new_recorder();
  record(one, store, "audio", KEPT_OBSERVE_KEY);
  set(store, "audio.volume", 1);
  set(store, "audi", 2);
  set(store, "audio", 3);
  CHECK_TEXT("S audio:->3;", recorded(one, 1));
}

static void an_observer_of_a_prefix_receives_changes_of_all_its_keys(void) {
  kept_store *store = fresh_store();
  recorder *some = new_recorder(), *all = new_recorder();
  record(some, store, "audio.", KEPT_OBSERVE_PREFIX);
  record(all, store, "", KEPT_OBSERVE_PREFIX);
  set(store, "audio", 1);
  set(store, "audio.volume", 2);
  set(store, "video", 3);
  CHECK_TEXT("S audio:->1;S audio.volume:->2;S video:->3;", recorded(all, 3));
  CHECK_TEXT("S audio.volume:->2;", recorded(some, 1));
}

static void initial_values_are_delivered_on_this_thread_before_the_call_returns(void) {
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

static void an_absent_key_has_no_initial_value(void) {
  recorder *recorder = new_recorder();
  record(recorder, fresh_store(), "key", KEPT_OBSERVE_INITIAL);
  CHECK_TEXT("I key:->-;", recorded(recorder, 1));
}

static void a_write_that_changes_nothing_is_not_delivered(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  set(store, "key", 1);
  record(recorder, store, "", KEPT_OBSERVE_PREFIX);
  set(store, "key", 1);
  EXPECT(KEPT_ABSENT, kept_remove(store, "nothing", &why));
  EXPECT(KEPT_OK, kept_set_json(store, "nothing", "null", &why));
  set(store, "end", 1);
  CHECK_TEXT("S end:->1;", recorded(recorder, 1));
}

static void writes_of_another_handle_are_delivered_with_their_origin(void) {
  const char *location = fresh_location();
  kept_store *own = open_at(location), *other = open_at(location);
  recorder *recorder = new_recorder();
  record(recorder, own, "", KEPT_OBSERVE_PREFIX);
  set(other, "key", 1);
  set(own, "key", 2);
  CHECK_TEXT("P key:->1;S key:1>2;", recorded(recorder, 2));
}

static void commits_are_delivered_in_order(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  record(recorder, store, "n", KEPT_OBSERVE_KEY);
  for (int i = 1; i <= 9; i++) set(store, "n", i);
  CHECK_TEXT("S n:->1;S n:1>2;S n:2>3;S n:3>4;S n:4>5;S n:5>6;S n:6>7;S n:7>8;S n:8>9;", recorded(recorder, 9));
}

/* The end */

static void after_the_end_no_callback_begins_and_the_context_is_released(void) {
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

static void ending_twice_or_ending_NULL_is_allowed(void) {
  recorder *recorder = new_recorder();
  record(recorder, fresh_store(), "key", KEPT_OBSERVE_KEY);
  kept_unobserve(NULL);
  kept_unobserve(recorder->subscription);
  kept_unobserve(recorder->subscription);
  CHECK_INT(1, released(recorder));
}

static void closing_the_store_ends_its_subscriptions(void) {
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

static void a_subscription_may_end_itself_from_inside(void) {
  kept_store *store = fresh_store();
  recorder *ending = new_recorder(), *other = new_recorder();
  ending->then = end_itself;
  record(ending, store, "", KEPT_OBSERVE_PREFIX);
  record(other, store, "", KEPT_OBSERVE_PREFIX);
  set(store, "key", 1);
  CHECK_INT(1, released(ending));
  set(store, "key", 2);
  recorded(other, 2);
  CHECK_TEXT("S key:->1;", recorded(ending, 1));
}

static void a_subscription_may_end_itself_at_its_first_value(void) {
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
  pthread_mutex_lock(&recorder->lock);
  strcat(recorder->text, " done");
  pthread_mutex_unlock(&recorder->lock);
}

static void ending_waits_for_a_running_callback(void) {
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

static void a_callback_may_read_and_write(void) {
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

static void a_callback_may_subscribe(void) {
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

static void bad_arguments_are_refused_and_nothing_is_released(void) {
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

static void a_transaction_cannot_be_observed(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  recorder *recorder = new_recorder();
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, observe(transaction, "key", KEPT_OBSERVE_KEY, recorder));
  kept_rollback(transaction);
}

static void a_closed_store_returns_closed(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  kept_close(store);
  EXPECT(KEPT_CLOSED, observe(store, "key", KEPT_OBSERVE_INITIAL, recorder));
  CHECK_INT(0, recorder->notices + recorder->releases);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(an_observer_of_a_key_receives_changes_of_that_key_only),
    TEST(an_observer_of_a_prefix_receives_changes_of_all_its_keys),
    TEST(initial_values_are_delivered_on_this_thread_before_the_call_returns),
    TEST(an_absent_key_has_no_initial_value),
    TEST(a_write_that_changes_nothing_is_not_delivered),
    TEST(writes_of_another_handle_are_delivered_with_their_origin),
    TEST(commits_are_delivered_in_order),
    TEST(after_the_end_no_callback_begins_and_the_context_is_released),
    TEST(ending_twice_or_ending_NULL_is_allowed),
    TEST(closing_the_store_ends_its_subscriptions),
    TEST(a_subscription_may_end_itself_from_inside),
    TEST(a_subscription_may_end_itself_at_its_first_value),
    TEST(ending_waits_for_a_running_callback),
    TEST(a_callback_may_read_and_write),
    TEST(a_callback_may_subscribe),
    TEST(bad_arguments_are_refused_and_nothing_is_released),
    TEST(a_transaction_cannot_be_observed),
    TEST(a_closed_store_returns_closed),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
