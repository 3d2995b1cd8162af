/* A walk around a ring of keys: what to ask for next, how many times, and with which values.
 *
 * Values are integers or texts of one length. Each that is written is new, for writing what is stored already may cost
 * less. */
#ifndef BENCH_WALK_H
#define BENCH_WALK_H

#include "keys.h"

typedef struct walk {
  const key *ring;
  size_t count, at;
  size_t steps;    /* operations to do */
  size_t length;   /* of the texts; 0: integers */
  char *text;      /* so many bytes and a NUL: the last that was read or written */
  int64_t stamp;   /* the last integer written */
  uint64_t sum;    /* of what was read, so that no compiler leaves the reading out */
} walk;

/* From the beginning of a ring; walk_end() it. */
walk walk_begin(const key *ring, size_t count, size_t length);
void walk_end(walk *walk);

static inline const key *walk_next(walk *walk) {
  const key *next = &walk->ring[walk->at];
  if (++walk->at == walk->count) walk->at = 0;
  return next;
}

/* The next text to write: the stamp in letters, and then always the same. */
static inline const char *walk_text(walk *walk) {
  uint64_t left = (uint64_t)++walk->stamp;
  for (int at = 0; at < 8; at++, left >>= 4) walk->text[at] = (char)('a' + (left & 15));
  return walk->text;
}

#endif
