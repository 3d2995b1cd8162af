/* What a benchmark does when something fails: it says so and ends. A figure of a failed call is worse than none. */
#ifndef BENCH_FATAL_H
#define BENCH_FATAL_H

/* Prints a sentence to stderr and exits with 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
