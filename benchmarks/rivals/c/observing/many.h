/* The cost of adding and ending each of many observers: it must not grow with their number. */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#include "../options.h"

/* Prints the selected rows. */
void many_run(options options);

#endif
