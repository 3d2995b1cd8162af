/* What each of many observers costs when they come and go: it must not grow with their number. */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#include "../options.h"

/* Prints the rows that are asked for. */
void many_run(options options);

#endif
