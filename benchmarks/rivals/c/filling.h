/* Fills a store before the measurement. */
#ifndef BENCH_FILLING_H
#define BENCH_FILLING_H

#include "engine.h"

/* The contents of a store: a number of keys; some have texts of a length and are read. */
typedef struct contents {
  size_t keys;
  size_t some;   /* 0: all; the other keys have texts of 20 bytes */
  size_t length; /* 0: integers */
} contents;

/* The keys that are read. */
const keys *keys_to_read(contents contents);

/* A store in an empty folder, filled in key order. It was closed and reopened afterwards, so that no state of the
 * filling is left; close() it. */
void *open_filled(const engine *engine, const char *folder, bool durable, contents contents);

#endif
