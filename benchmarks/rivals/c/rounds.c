/* Determines how many operations make a turn, then lets the players take turns. */
#include "rounds.h"

#define LONGEST_TRIAL 100000000 /* nanoseconds */

/* The best of several turns: a single one may have been delayed, and would count as many operations. */
static uint64_t try_turns(player *player) {
  uint64_t best = UINT64_MAX;
  for (int turn = 0; turn < 4; turn++) {
    uint64_t took = player->turn(player->state, player->operations);
    if (took < best) best = took;
  }
  return best;
}

/* Grows a turn until it is long enough to compute how many operations fill one. This warms the caches too. */
static void calibrate(player *player, uint64_t long_turn_ns) {
  uint64_t turn_ns = long_turn_ns < LONGEST_TRIAL ? long_turn_ns : LONGEST_TRIAL;
  player->operations = player->step;
  uint64_t took = try_turns(player);
  while (took < turn_ns / 4) {
    player->operations *= took < turn_ns / 64 ? 8 : 2;
    took = try_turns(player);
  }
  size_t steps = (size_t)((double)player->operations * (double)long_turn_ns / (double)took) / player->step;
  player->operations = (steps ? steps : 1) * player->step;
}

void rounds_play(player *players, size_t count, plan plan) {
  for (size_t at = 0; at < count; at++) calibrate(&players[at], plan.turn_ns);
  for (size_t round = 0; round < plan.rounds; round++) {
    for (size_t at = 0; at < count; at++) {
      player *player = &players[at];
      uint64_t took = player->turn(player->state, player->operations);
      player->ns[round] = (double)took / (double)player->operations;
    }
  }
}
