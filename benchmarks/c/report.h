/* The line of JSON that a measuring program prints for a row: runner/rows.py reads it. Nothing is escaped, for every
 * name is our own. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stddef.h>

/* @param unit   "ns", "bytes", "count": what the figures are
 * @param goals  ends with NULL; runner/goals.py says how one is written */
void report_begin(const char *section, const char *row, const char *unit, const char *const *goals);
/* @param role    "candidate", "floor" or "base"
 * @param rounds  the figure of each round, the median of which counts */
void report_measured(const char *name, const char *role, const double *rounds, size_t count);
void report_end(void);

#endif
