/* Observers of a store: callbacks in this process, or other processes with one callback each. */
#ifndef BENCH_MANY_OBSERVERS_H
#define BENCH_MANY_OBSERVERS_H

#include <kept.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_OBSERVERS 64

typedef struct observers observers;

/* Adds `count` callbacks to a store of this process.
 * @param name   a key, or (KEPT_OBSERVE_PREFIX) a prefix */
observers *observers_here(size_t count, kept_store *store, const char *name, uint32_t flags);
/* Starts `count` processes. Each opens the store in a folder and observes a key. No store may be open in this
 * process. */
observers *observers_elsewhere(size_t count, const char *folder, const char *name);

/* Waits until each has received a value. */
void observers_await(observers *observers, int64_t value);
/* Ends the other processes. Callbacks end with their store, which must be closed already. */
void observers_end(observers *observers);

#endif
