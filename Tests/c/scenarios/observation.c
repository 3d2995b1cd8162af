/* Steps that observe. The notices of an observer are recorded in the form of the scenarios, and compared by
 * `notices`. */
#include <inttypes.h>
#include <stdlib.h>

#include "clock.h"
#include "gate.h"
#include "run.h"

/* What an observer has received; filled on the library's thread. */
struct observer {
  kept_subscription *subscription;
  gate gate;
  json_object *received; /* an array of notices in the form of the scenarios */
  size_t expected_count; /* how many of them a step has expected */
  int released;
  bool once; /* it cancels itself inside its first callback */
};

static json_object *text_or_null(const char *text) { return text ? json_object_new_string(text) : NULL; }

static void receive_notice(void *context, const kept_notice *notice) {
  static const char *const origins[] = { "store", "process", "other", "initial", "several", "layer" };
  struct observer *observer = context;
  json_object *received = json_object_new_object(), *changes = json_object_new_array();
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    json_object *change = json_object_new_object();
    json_object_object_add(change, "key", text_or_null(kept_notice_key(notice, i)));
    json_object_object_add(change, "old", text_or_null(kept_notice_old_json(notice, i)));
    json_object_object_add(change, "new", text_or_null(kept_notice_new_json(notice, i)));
    json_object_object_add(change, "layer", json_object_new_string(layer_name(kept_notice_layer(notice, i))));
    json_object_object_add(change, "secret", json_object_new_boolean(kept_notice_secret(notice, i)));
    json_object_array_add(changes, change);
  }
  uint32_t origin = kept_notice_origin(notice);
  json_object_object_add(received, "revision", json_object_new_uint64(kept_notice_revision(notice)));
  json_object_object_add(received, "first", json_object_new_uint64(kept_notice_first_revision(notice)));
  json_object_object_add(received, "tag", text_or_null(kept_notice_tag(notice)));
  json_object_object_add(received, "missed", json_object_new_boolean(kept_notice_may_have_missed(notice)));
  json_object_object_add(received, "time", json_object_new_int64(kept_notice_time(notice)));
  json_object_object_add(received, "origin", json_object_new_string(origin < 6 ? origins[origin] : "?"));
  json_object_object_add(received, "changes", changes);
  enter_gate(&observer->gate);
  json_object_array_add(observer->received, received);
  leave_gate(&observer->gate);
  if (observer->once) kept_unobserve(observer->subscription);
}

static void release(void *context) {
  struct observer *observer = context;
  count_up(&observer->gate, &observer->released);
}

void step_observe(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  uint32_t flags = has(step, "prefix") ? KEPT_OBSERVE_PREFIX : KEPT_OBSERVE_KEY;
  json_object *scope = take_text(run, step, has(step, "prefix") ? "prefix" : "key");
  json_object *initial = take(step, "initial"), *once = take(step, "once");
  if (initial) flags |= KEPT_OBSERVE_INITIAL;
  struct thing *thing = place_for(run, take_word(step, "as", "observer"));
  if (thing->observer) end_observer(run, thing->observer);
  struct observer *observer = thing->observer = calloc(1, sizeof *observer);
  make_gate(&observer->gate);
  observer->received = json_object_new_array();
  observer->once = once != NULL;
  outcome->status = kept_observe(on->store, json_object_get_string(scope), flags, receive_notice, observer, release,
    &observer->subscription, &outcome->error);
  if (outcome->status != KEPT_OK) observer->released = 1; /* no callback will */
  json_object_put(initial);
  json_object_put(once);
  json_object_put(scope);
}

/* Waits until the observer has received `count` notices and was released `released` times; false after a minute. */
static bool wait_for(struct observer *observer, size_t count, int released) {
  int64_t begun = now_ns();
  bool in_time = true;
  while (in_time && (json_object_array_length(observer->received) < count || observer->released < released))
    in_time = wait_in_gate(&observer->gate, begun);
  return in_time;
}

/* Removes from the received changes the fields that the scenario does not list. */
static void remove_unlisted(json_object *expected, json_object *received) {
  json_object *listed = json_object_object_get(expected, "changes");
  json_object *changes = json_object_object_get(received, "changes");
  for (size_t i = 0; i < json_object_array_length(changes); i++) {
    json_object *change = json_object_array_get_idx(listed, i);
    if (!has(change, "layer")) json_object_object_del(json_object_array_get_idx(changes, i), "layer");
    if (!has(change, "secret")) json_object_object_del(json_object_array_get_idx(changes, i), "secret");
  }
}

/* Adds the fields that an expected notice leaves out. */
static void complete(json_object *notice) {
  if (!has(notice, "first"))
    json_object_object_add(notice, "first", json_object_get(json_object_object_get(notice, "revision")));
  if (!has(notice, "tag")) json_object_object_add(notice, "tag", NULL);
  if (!has(notice, "missed")) json_object_object_add(notice, "missed", json_object_new_boolean(0));
}

/* Takes the clock out of an expected notice, and returns its time; `otherwise` if it is not there. */
static int64_t take_clock(struct run *run, json_object *notice, const char *field, int64_t otherwise) {
  if (!has(notice, field)) return otherwise;
  const char *name = take_word(notice, field, "");
  struct thing *clock = named(run, name);
  if (clock == NULL) fail_step(run, "no clock has the name \"%s\"", name);
  return clock ? clock->clock : otherwise;
}

/* Compares the time of a notice with clocks of the scenario, and takes both out. */
static void compare_time(struct run *run, json_object *expected, json_object *received) {
  int64_t time = json_object_get_int64(json_object_object_get(received, "time"));
  int64_t first = take_clock(run, expected, "after", time), last = take_clock(run, expected, "before", time);
  if (time < first || time > last)
    fail_step(run, "a notice is of %" PRId64 ", which is not from %" PRId64 " to %" PRId64, time, first, last);
  json_object_object_del(received, "time");
}

void step_notices(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  struct observer *observer = on->observer;
  json_object *expected = json_object_object_get(step, "gives");
  for (size_t i = 0; i < json_object_array_length(expected); i++) complete(json_object_array_get_idx(expected, i));
  enter_gate(&observer->gate);
  size_t first = observer->expected_count;
  observer->expected_count += json_object_array_length(expected);
  if (!wait_for(observer, observer->expected_count, 0)) fail_step(run, "too few notices came in a minute");
  outcome->gives = json_object_new_array();
  for (size_t i = first; i < observer->expected_count; i++) {
    json_object *notice = json_object_array_get_idx(observer->received, i);
    if (notice == NULL) continue;
    compare_time(run, json_object_array_get_idx(expected, i - first), notice);
    remove_unlisted(json_object_array_get_idx(expected, i - first), notice);
    json_object_array_add(outcome->gives, json_object_get(notice));
  }
  leave_gate(&observer->gate);
}

void step_clock(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  place_for(run, take_word(step, "as", "clock"))->clock = wall_clock();
}

void step_unobserve(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_unobserve(on->observer->subscription);
}

void end_observer(struct run *run, struct observer *observer) {
  kept_unobserve(observer->subscription);
  enter_gate(&observer->gate);
  if (!wait_for(observer, 0, 1)) fail_step(run, "an observer was not released in a minute");
  if (observer->released > 1) fail_step(run, "an observer was released %d times", observer->released);
  if (json_object_array_length(observer->received) > observer->expected_count)
    fail_step(run, "an observer received more notices than expected");
  leave_gate(&observer->gate);
  json_object_put(observer->received);
  free(observer);
}
