/* Observers of a store: callbacks in this process, or other processes with one callback each. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <kept.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CROWD 64

typedef struct crowd crowd;

/* Adds `count` callbacks to a store of this process.
 * @param name   a key, or (KEPT_OBSERVE_PREFIX) a prefix */
crowd *crowd_here(size_t count, kept_store *store, const char *name, uint32_t flags);
/* Starts `count` processes. Each opens the store in a folder and observes a key. No store may be open in this
 * process. */
crowd *crowd_elsewhere(size_t count, const char *folder, const char *name);

/* Waits until each has received a value. */
void crowd_await(crowd *crowd, int64_t value);
/* Ends the other processes. Callbacks end with their store, which must be closed already. */
void crowd_end(crowd *crowd);

#endif
