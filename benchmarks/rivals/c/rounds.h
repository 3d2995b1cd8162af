/* Fair measurements: the players of a row take turns, A B C A B C …, so that other activity affects all of them.
 * of them.
 *
 * The median of the turns is used. On a busy machine a turn shorter than the scheduler's time slice is usually
 * undisturbed, and a long one never is. */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

#define MAX_ROUNDS 151

typedef struct plan {
  size_t rounds;
  uint64_t turn_ns; /* the target time of a turn; it has at least one step */
} plan;

typedef struct player {
  uint64_t (*turn)(void *state, size_t operations); /* returns its time in nanoseconds */
  void *state;
  size_t step;           /* the operations of a turn are a multiple of this */
  size_t operations;     /* in each turn */
  double ns[MAX_ROUNDS]; /* for one operation, in each round */
} player;

void rounds_play(player *players, size_t count, plan plan);

#endif
