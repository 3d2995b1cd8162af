/* Runs one row and prints what it came to. */
#ifndef BENCH_COMPARISON_H
#define BENCH_COMPARISON_H

#include "rounds.h"
#include "rows.h"

/* @param folder  where stores may be made and removed */
void comparison_run(const row *row, plan plan, const char *folder);

#endif
