/* How a store gets its values before anything is measured. */
#ifndef BENCH_FILLING_H
#define BENCH_FILLING_H

#include "engine.h"

/* A store in an empty folder, filled with values of one kind in the order of the keys. It was closed and opened again
 * since, so that nothing of the filling is left over; close() it. */
void *open_filled(const engine *engine, const char *folder, bool durable, const keys *keys, kind kind);

#endif
