/* Fair measuring: the players of a row take turns, A B C A B C …, so that what the machine does meanwhile meets all.
 *
 * The median of the turns counts. On a busy machine a turn that is shorter than the scheduler's slice is mostly left
 * alone, where a long one never is. */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

#define MAX_ROUNDS 151

typedef struct plan {
  size_t rounds;
  uint64_t turn_ns;   /* how long a turn should take; it never has less than one step */
} plan;

typedef struct player {
  uint64_t (*turn)(void *state, size_t operations);   /* the nanoseconds that it took */
  void *state;
  size_t step;             /* a turn has a multiple of so many operations */
  size_t operations;       /* in each turn */
  double ns[MAX_ROUNDS];   /* for one operation, in each round */
} player;

void rounds_play(player *players, size_t count, plan plan);

#endif
