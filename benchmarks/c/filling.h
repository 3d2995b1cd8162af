/* How a store gets its values before anything is measured. */
#ifndef BENCH_FILLING_H
#define BENCH_FILLING_H

#include "engine.h"

/* What a store holds: so many keys, of which some have texts of a length and are asked for. */
typedef struct contents {
  size_t keys;
  size_t some;     /* 0: all of them; the others have texts of 20 bytes */
  size_t length;   /* 0: integers */
} contents;

/* The keys that are asked for. */
const keys *keys_to_read(contents contents);

/* A store in an empty folder, filled in the order of the keys. It was closed and opened again since, so that nothing of
 * the filling is left over; close() it. */
void *open_filled(const engine *engine, const char *folder, bool durable, contents contents);

#endif
