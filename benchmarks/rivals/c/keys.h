/* The keys that every engine reads, and their order.
 *
 * Stores are filled in sorted order and read in random order. The random order is stored in memory once, so that
 * iterating over it is sequential and costs the same for every engine. */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include <stddef.h>
#include <stdint.h>

typedef struct key {
  uint32_t length;
  char text[36];
} key;

typedef struct keys {
  size_t count;
  key *sorted, *shuffled; /* the same keys */
} keys;

/* The key at an index of the sorted order. */
key key_of(size_t index);

/* This number of keys; created once, and never freed. */
const keys *keys_of(size_t count);
/* `some` of them, evenly distributed. */
const keys *some_keys_of(size_t count, size_t some);

#endif
