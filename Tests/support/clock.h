/* Clocks, in nanoseconds. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

/** Since some time in the past, never set back. */
int64_t now_ns(void);
/** Since 1970, as kept_notice_time() counts. */
int64_t wall_clock(void);
int64_t time_on(clockid_t clock);
/** Sleeps: for what has no event to wait for. */
void let_pass(uint64_t microseconds);

#endif
