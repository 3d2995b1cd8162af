/* Handles failures in a benchmark: prints them and exits, since the time of a failed call is meaningless. */
#ifndef BENCH_FATAL_H
#define BENCH_FATAL_H

/* Prints a message to stderr and exits with 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
