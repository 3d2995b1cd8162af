#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/** A number below `end`, after SplitMix64. Two seeds never give the same sequence. */
uint64_t random_below(uint64_t *state, uint64_t end);

#endif
