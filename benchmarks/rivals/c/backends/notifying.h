/* Occasional sets, one in 3 ms, alone or with another process that observes them. */
#ifndef BENCH_BACKENDS_NOTIFYING_H
#define BENCH_BACKENDS_NOTIFYING_H

#include "program.h"

#include <gio/gio.h>

typedef struct listener listener;

/* Forks the process that will observe: to be called before this process uses GSettings. */
listener *listener_fork(void);
/* Lets it open the settings, and returns when it has received a change of the key. */
void listener_await(listener *listener, GSettings *settings, const char *key);

/* @param listener  measures from the set to its handler; NULL: the set alone is measured */
figures set_occasionally(GSettings *settings, const char *key, size_t operations, listener *listener);

#endif
