/* notification FOLDER [--quick] [--only TEXT]: the latency from the beginning of a set until its delivery in another
 * process. The candidates take turns; a turn is either an occasional set, or sets at full rate for a while. Prints
 * lines of JSON. */
#include "channel.h"

#include "../options.h"
#include "../fatal.h"
#include "../folders.h"
#include "../report.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define CHANNELS 5
#define MILLISECOND 1000000u
#define IDLE_SETS 40 /* in a turn, one every 3 ms */
#define BUSY_NS (40 * MILLISECOND)
#define PATIENCE_NS (20000ull * MILLISECOND)
#define MAX_ROUNDS 60

static const channel *const channels[CHANNELS] = {
  &kept_channel,
  &gsettings_channel,
  &inotify_channel,
  &futex_channel,
  &parts_channel,
};

/* One row: its kind of turn, and its results. */
typedef struct measure {
  const char *name;
  void (*turn)(const channel *channel, void *writer, samples *samples);
  double middle[CHANNELS][MAX_ROUNDS], nearly_worst[CHANNELS][MAX_ROUNDS];
} measure;

static void nap(uint64_t ns) { nanosleep(&(struct timespec){ 0, (long)ns }, NULL); }

static uint64_t set(const channel *channel, void *writer) {
  uint64_t now = clock_ns();
  channel->write(writer, now);
  return now;
}

static void await(const channel *channel, samples *samples, uint64_t value) {
  uint64_t began = clock_ns();
  while (atomic_load(&samples->last) != value) {
    if (clock_ns() - began > PATIENCE_NS) die("%s: the last value was never received", channel->name);
    nap(MILLISECOND / 10);
  }
}

static void set_now_and_then(const channel *channel, void *writer, samples *samples) {
  for (int i = 0; i < IDLE_SETS; i++) {
    uint64_t value = set(channel, writer);
    nap(3 * MILLISECOND);
    await(channel, samples, value);
  }
}

static void set_at_full_rate(const channel *channel, void *writer, samples *samples) {
  uint64_t value, began = clock_ns();
  do value = set(channel, writer);
  while (value - began < BUSY_NS);
  await(channel, samples, value);
}

static measure measures[] = {
  { .name = "set to callback in another process, one in 3 ms", .turn = set_now_and_then },
  { .name = "set to callback in another process, at full rate", .turn = set_at_full_rate },
};

static int compare(const void *left, const void *right) {
  uint64_t first = *(const uint64_t *)left, second = *(const uint64_t *)right;
  return first < second ? -1 : first > second;
}

static void play(measure *measure, int number, void *writer, samples *samples, size_t round) {
  atomic_store(&samples->count, 0);
  measure->turn(channels[number], writer, samples);
  size_t count = atomic_load(&samples->count);
  if (count == 0 || count > MAX_SAMPLES) die("%zu samples", count);
  qsort(samples->ns, count, sizeof *samples->ns, compare);
  measure->middle[number][round] = (double)samples->ns[count / 2];
  measure->nearly_worst[number][round] = (double)samples->ns[count * 99 / 100];
}

static void report(const measure *measure, const char *what, const double (*figures)[MAX_ROUNDS], size_t rounds,
  const char *const *goals) {
  char name[128];
  snprintf(name, sizeof name, "%s, %s", measure->name, what);
  report_begin("Notification of changes, C", name, "ns", goals);
  for (int at = 0; at < CHANNELS; at++) report_measured(channels[at]->name, channels[at]->role, figures[at], rounds);
  report_end();
}

/* The notified process. It is forked before anything is opened here, and dies with this process. */
static samples *start_notification(const channel *channel, const char *folder) {
  samples *shared = mmap(NULL, sizeof(samples), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) die("no shared memory");
  pid_t process = fork();
  if (process < 0) die("no process");
  if (process > 0) return shared;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  channel->receive(folder, shared);
  die("%s stopped notification", channel->name);
}

/* Sets until the other process is notified: dconf subscribes asynchronously. */
static void *start_writing(const channel *channel, const char *folder, samples *samples) {
  while (!atomic_load(&samples->is_ready)) nap(MILLISECOND);
  void *writer = channel->open(folder);
  for (int tries = 0; tries < 100 && atomic_load(&samples->count) == 0; tries++) {
    set(channel, writer);
    nap(50 * MILLISECOND);
  }
  return writer;
}

static void run(size_t rounds, options options) {
  static const char *const goals[] = { "<= 2 x bare futex", "<= 0.02 x GSettings", NULL };
  samples *shared[CHANNELS];
  void *writers[CHANNELS];
  char *folders[CHANNELS];
  for (int at = 0; at < CHANNELS; at++) {
    folders[at] = folder_make(options.folder, channels[at]->name);
    shared[at] = start_notification(channels[at], folders[at]);
  }
  for (int at = 0; at < CHANNELS; at++) writers[at] = start_writing(channels[at], folders[at], shared[at]);
  for (size_t row = 0; row < sizeof measures / sizeof *measures; row++) {
    measure *measure = &measures[row];
    if (!wants_row(options, measure->name)) continue;
    for (int at = 0; at < CHANNELS; at++) play(measure, at, writers[at], shared[at], 0);
    for (size_t round = 0; round < rounds; round++) {
      for (int at = 0; at < CHANNELS; at++) play(measure, at, writers[at], shared[at], round);
    }
    report(measure, "p50", measure->middle, rounds, goals);
    report(measure, "p99", measure->nearly_worst, rounds, goals + 2);
  }
}

int main(int count, char **arguments) {
  options options = parse_options(count, arguments);
  enter_notification_session(options.folder, arguments);
  run(options.quick ? 10 : 40, options);
  return 0;
}
