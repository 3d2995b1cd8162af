/* Runs one row and prints the result. */
#ifndef BENCH_COMPARISON_H
#define BENCH_COMPARISON_H

#include "rounds.h"
#include "rows.h"

/* @param folder  where stores may be created and removed */
void comparison_run(const row *row, plan plan, const char *folder);

#endif
