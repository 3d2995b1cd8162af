/* The clock that everything is measured by: monotonic, in nanoseconds, some 20 ns a reading. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);

/* The time that a processor has worked for this thread: not that in which others had it. */
uint64_t thread_clock_ns(void);

#endif
