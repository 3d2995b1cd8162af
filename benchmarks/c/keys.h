/* The keys and values that every engine is asked for, and the order in which it is asked.
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

#define TEXT_LENGTH 20
extern const char text_value[TEXT_LENGTH + 1];

/* The key at a place in the sorted order. */
key key_of(size_t index);

/* So many keys; made once, and never freed. */
const keys *keys_of(size_t count);

typedef enum kind { INTEGER, TEXT } kind;

/* A walk around a ring of keys: what to ask for next, and how many times. */
typedef struct walk {
  const key *ring;
  size_t count, at;
  size_t steps;    /* operations to do */
  kind kind;       /* what is written */
  int64_t stamp;   /* the last integer written: each is new, for writing what is stored already may cost less */
  uint64_t sum;    /* of what was read, so that no compiler leaves the reading out */
} walk;

static inline const key *walk_next(walk *walk) {
  const key *next = &walk->ring[walk->at];
  if (++walk->at == walk->count) walk->at = 0;
  return next;
}

#endif
