/* The keys that every engine is asked for, and the order in which it is asked.
 *
 * Stores are filled in sorted order and asked at random. The random order is laid out in memory once, so that the
 * asking itself walks straight on and its cost is the same for everybody. */
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
  key *sorted, *shuffled;   /* the same keys */
} keys;

/* The key at a place in the sorted order. */
key key_of(size_t index);

/* So many keys; made once, and never freed. */
const keys *keys_of(size_t count);
/* So many of them, evenly spread. */
const keys *some_keys_of(size_t count, size_t some);

#endif
