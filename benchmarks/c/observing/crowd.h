/* Observers of a store: callbacks in this process, or other processes with a callback each. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <kept.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CROWD 64

typedef struct crowd crowd;

/* So many callbacks on a store of this process.
 * @param name   a key, or (KEPT_OBSERVE_PREFIX) a prefix */
crowd *crowd_here(size_t count, kept_store *store, const char *name, uint32_t flags);
/* So many processes, each of which opens the store in a folder and observes a key. Nothing may be open here. */
crowd *crowd_elsewhere(size_t count, const char *folder, const char *name);

/* Until each has heard of a value. */
void crowd_await(crowd *crowd, int64_t value);
/* Other processes end; callbacks go with their store, which must be closed by now. */
void crowd_end(crowd *crowd);

#endif
