/* A walk around a ring of keys: the next key, the number of operations, and the values.
 *
 * Values are integers or texts of one length. Each value that is written is new, since writing the stored value may
 * cost less. */
#ifndef BENCH_WALK_H
#define BENCH_WALK_H

#include "keys.h"

typedef struct walk {
  const key *ring;
  size_t count, at;
  size_t steps;  /* operations to do */
  size_t length; /* of the texts; 0: integers */
  char *text;    /* buffer for `length` bytes and a NUL: the last text that was read or written */
  int64_t stamp; /* the last integer written */
  uint64_t sum;  /* of the values that were read, so that the compiler keeps the reads */
} walk;

/* From the beginning of a ring; walk_end() it. */
walk walk_begin(const key *ring, size_t count, size_t length);
void walk_end(walk *walk);

static inline const key *walk_next(walk *walk) {
  const key *next = &walk->ring[walk->at];
  if (++walk->at == walk->count) walk->at = 0;
  return next;
}

/* The next text to write: the stamp in letters, then a constant part. */
static inline const char *walk_text(walk *walk) {
  uint64_t left = (uint64_t)++walk->stamp;
  for (int at = 0; at < 8; at++, left >>= 4) walk->text[at] = (char)('a' + (left & 15));
  return walk->text;
}

#endif
