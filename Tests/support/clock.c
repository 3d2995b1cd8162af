#include "clock.h"

int64_t time_on(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

int64_t now_ns(void) { return time_on(CLOCK_MONOTONIC); }

int64_t wall_clock(void) { return time_on(CLOCK_REALTIME); }

void let_pass(uint64_t microseconds) {
  struct timespec pause = { (time_t)(microseconds / 1000000), (long)(microseconds % 1000000) * 1000 };
  nanosleep(&pause, NULL);
}
