/* A turn creates or ends stores in memory with `count` observers each. The clock runs for one of the two, and its time
 * is divided by the number of observers. */
#include "many.h"

#include "../clock.h"
#include "../report.h"
#include "../rounds.h"
#include "../variants.h"

#include <kept.h>
#include <stdio.h>
#include <stdlib.h>

#define MANY 10000
#define FEW 1000
static const plan full = { 15, 40000000 }, quick = { 5, 20000000 };

typedef enum { MAKING, UNOBSERVING, CLOSING } part;

typedef struct row {
  const char *name;
  uint32_t flags; /* KEPT_OBSERVE_PREFIX: each observes its own prefix; otherwise all observe one key */
  part part;
} row;

static const row rows[] = {
  { "observe a key, with 10,000 observers of it", KEPT_OBSERVE_KEY, MAKING },
  { "observe a prefix, with 10,000 observers of others", KEPT_OBSERVE_PREFIX, MAKING },
  { "unobserve a key, with 10,000 observers of it", KEPT_OBSERVE_KEY, UNOBSERVING },
  { "unobserve a prefix, with 10,000 observers of others", KEPT_OBSERVE_PREFIX, UNOBSERVING },
  { "close a store with 10,000 observers of a key, each", KEPT_OBSERVE_KEY, CLOSING },
  { "close a store with 10,000 observers of prefixes, each", KEPT_OBSERVE_PREFIX, CLOSING },
};

typedef struct group {
  const row *row;
  size_t count;
  kept_subscription *subscriptions[MANY];
} group;

static void ignore(void *context, const kept_notice *notice) { (void)context, (void)notice; }

static kept_store *open_in_memory(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  kept_error error;
  options.delivery = KEPT_BY_HOST; /* no thread of the library takes processor time that the clock would count */
  expect_done(kept_open("memory:", &options, &store, &error), &error, "open");
  return store;
}

static void make(group *group, kept_store *store) {
  char name[32];
  kept_error error;
  for (size_t at = 0; at < group->count; at++) {
    snprintf(name, sizeof name, "section-%05zu.", group->row->flags == KEPT_OBSERVE_KEY ? 0 : at);
    expect_done(kept_observe(store, name, group->row->flags, ignore, NULL, NULL, &group->subscriptions[at], &error),
      &error, "observe");
  }
}

static void end(const group *group) {
  for (size_t at = 0; at < group->count; at++) kept_unobserve(group->subscriptions[at]);
}

static uint64_t turn(void *group_, size_t operations) {
  group *group = group_;
  uint64_t took = 0;
  for (size_t done = 0; done < operations; done += group->count) {
    kept_store *store = open_in_memory();
    uint64_t began = clock_ns();
    make(group, store);
    uint64_t made = clock_ns();
    if (group->row->part == UNOBSERVING) end(group);
    uint64_t ended = clock_ns();
    kept_close(store);
    uint64_t closed = clock_ns();
    took += group->row->part == MAKING ? made - began : group->row->part == UNOBSERVING ? ended - made : closed - ended;
  }
  return took;
}

static void run(const row *row, plan plan) {
  static group many, few;
  many = (group){ .row = row, .count = MANY };
  few = (group){ .row = row, .count = FEW };
  player players[] = {
    { .turn = turn, .state = &many, .step = MANY },
    { .turn = turn, .state = &few, .step = FEW },
  };
  rounds_play(players, 2, plan);
  report_begin("Growth, C", row->name, "ns", (const char *[]){ "<= 2 x 1,000 observers", NULL });
  report_measured("Kept", "candidate", players[0].ns, plan.rounds);
  report_measured("1,000 observers", "base", players[1].ns, plan.rounds);
  report_end();
}

void many_run(options options) {
  for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
    if (wants_row(options, rows[at].name)) run(&rows[at], options.quick ? quick : full);
  }
}
