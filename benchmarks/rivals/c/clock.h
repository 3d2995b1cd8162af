/* The clock of all measurements: monotonic, in nanoseconds; reading it takes about 20 ns. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);

/* The processor time of this thread. */
uint64_t thread_clock_ns(void);

#endif
