/* Runs one row and prints what it came to. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "rounds.h"
#include "rows.h"

/* @param folder  where stores may be made and removed */
void contest_run(const row *row, plan plan, const char *folder);

#endif
