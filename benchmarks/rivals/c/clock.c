/* Reads the clocks. */
#include "clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_ns(void) { return read_ns(CLOCK_MONOTONIC); }

uint64_t thread_clock_ns(void) { return read_ns(CLOCK_THREAD_CPUTIME_ID); }
