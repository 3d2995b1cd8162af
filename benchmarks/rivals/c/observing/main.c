/* observing FOLDER [--quick] [--only TEXT]: the cost of a set for the calling thread, with and without observers, and
 * the cost of each of many observers.
 *
 * The clock runs during a set only. Between two sets every observer receives the first, so that each is delivered. */
#include "many_observers.h"
#include "many.h"

#include "../options.h"
#include "../clock.h"
#include "../filling.h"
#include "../folders.h"
#include "../report.h"
#include "../rounds.h"
#include "../variants.h"

#include <stdlib.h>
#include <time.h>

#define KEYS 1000
#define PAUSE_NS 300000
#define TURN_NS 1000000 /* about 30 sets */
static const plan full = { 31, TURN_NS }, quick = { 9, TURN_NS };

typedef struct row {
  const char *name;
  size_t here, elsewhere; /* the numbers of observers */
  uint32_t flags;
  bool is_work; /* processor time instead of wall time: the woken threads compete for processors */
} row;

static const row rows[] = {
  { "set, 1 observer of its key in this process", .here = 1, .flags = KEPT_OBSERVE_KEY },
  { "set, 8 observers of its key in this process", .here = 8, .flags = KEPT_OBSERVE_KEY },
  { "set, 64 observers of its key in this process", .here = 64, .flags = KEPT_OBSERVE_KEY },
  { "set, 1 observer of its prefix in this process", .here = 1, .flags = KEPT_OBSERVE_PREFIX },
  { "set, 8 observers of its prefix in this process", .here = 8, .flags = KEPT_OBSERVE_PREFIX },
  { "set, 64 observers of its prefix in this process", .here = 64, .flags = KEPT_OBSERVE_PREFIX },
  { "set, 1 other process observes its key", .elsewhere = 1 },
  { "set, 8 other processes observe its key", .elsewhere = 8 },
  { "set, 16 other processes observe its key", .elsewhere = 16 },
  { "set, 1 other process observes its key, processor time", .elsewhere = 1, .is_work = true },
  { "set, 8 other processes observe its key, processor time", .elsewhere = 8, .is_work = true },
  { "set, 16 other processes observe its key, processor time", .elsewhere = 16, .is_work = true },
};

typedef struct setter {
  kept_store *store;
  observers *observers;
  char *folder;
  uint64_t (*clock)(void);
  walk walk; /* with one key */
} setter;

static setter prepare(const row *row, const char *parent, const char *name, uint64_t (*clock)(void)) {
  const keys *keys = keys_of(KEYS);
  setter setter = {
    .folder = folder_make(parent, name),
    .clock = clock,
    .walk = { .ring = keys->sorted, .count = 1, .steps = 1, .stamp = KEYS }, /* setting the stored value is not a
                                                                                change */
  };
  const char *prefix = row->flags == KEPT_OBSERVE_PREFIX ? "section-000." : keys->sorted[0].text;
  usual_close(open_filled(&kept, setter.folder, false, (contents){ .keys = KEYS }));
  if (row->elsewhere) setter.observers = observers_elsewhere(row->elsewhere, setter.folder, prefix);
  setter.store = usual_open(setter.folder, false);
  if (!row->elsewhere) setter.observers = observers_here(row->here, setter.store, prefix, row->flags);
  return setter;
}

static uint64_t turn(void *setter_, size_t operations) {
  setter *setter = setter_;
  uint64_t took = 0;
  while (operations--) {
    uint64_t began = setter->clock();
    usual_set(setter->store, &setter->walk);
    took += setter->clock() - began;
    nanosleep(&(struct timespec){ 0, PAUSE_NS }, NULL);
    observers_await(setter->observers, setter->walk.stamp);
  }
  return took;
}

static void finish(setter *setter) {
  usual_close(setter->store);
  observers_end(setter->observers);
  folder_remove(setter->folder);
  free(setter->folder);
}

static void run(const row *row, const char *folder, plan plan) {
  static const struct row without = { .name = "no observer" };
  uint64_t (*clock)(void) = row->is_work ? thread_clock_ns : clock_ns;
  setter setters[] = { prepare(row, folder, "A", clock), prepare(&without, folder, "B", clock) };
  player players[] = {
    { .turn = turn, .state = &setters[0], .step = 1 },
    { .turn = turn, .state = &setters[1], .step = 1 },
  };
  rounds_play(players, 2, plan);
  report_begin("Growth, C", row->name, "ns", (const char *[]){ NULL });
  report_measured("Kept", "candidate", players[0].ns, plan.rounds);
  report_measured(without.name, "base", players[1].ns, plan.rounds);
  report_end();
  finish(&setters[0]);
  finish(&setters[1]);
}

int main(int count, char **arguments) {
  options options = parse_options(count, arguments);
  for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
    if (wants_row(options, rows[at].name)) run(&rows[at], options.folder, options.quick ? quick : full);
  }
  many_run(options);
  return 0;
}
