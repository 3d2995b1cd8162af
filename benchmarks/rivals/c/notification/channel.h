/* A way to notify another process of a value: Kept, its rivals, and the parts that Kept consists of. */
#ifndef BENCH_CHANNEL_H
#define BENCH_CHANNEL_H

#include "../clock.h"

#include <stdatomic.h>
#include <stdint.h>

#define MAX_SAMPLES 1000000

/* The records of the notified process, in shared memory. */
typedef struct samples {
  _Atomic uint64_t is_ready, count, last;
  uint64_t ns[MAX_SAMPLES]; /* the age of each value at its delivery */
} samples;

/* A value is the time at which its write began. */
static inline void record_delivery(samples *samples, uint64_t value) {
  uint64_t count = atomic_load(&samples->count);
  if (count < MAX_SAMPLES) samples->ns[count] = clock_ns() - value;
  atomic_store(&samples->count, count + 1);
  atomic_store(&samples->last, value);
}

typedef struct channel {
  const char *name, *role;
  void (*receive)(const char *folder, samples *samples); /* in a process of its own, forever */
  void *(*open)(const char *folder);                     /* in the writing process, when the other is ready */
  void (*write)(void *writer, uint64_t value);
} channel;

extern const channel kept_channel, gsettings_channel, inotify_channel;
extern const channel futex_channel; /* the floor */
extern const channel parts_channel; /* Kept's parts: SQLite commit, futex, SQLite delta read */

/* dconf needs a session around the whole program: session.h. */
void enter_notification_session(const char *folder, char **arguments);

/* A futex word and a value in a file that two processes map. */
typedef struct event {
  _Atomic uint32_t word;
  _Atomic uint64_t value;
} event;
event *event_map(const char *folder);
void event_signal(event *event);
/* Sleeps until the word differs from `seen`; returns it. */
uint32_t event_await(event *event, uint32_t seen);

#endif
