/* The line of JSON that a measuring program prints for a row: runner/rows.py reads it. Nothing is escaped, since all
 * names are our own. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stddef.h>

/* @param unit   "ns", "bytes", "count": the unit of the figures
 * @param goals  ends with NULL; runner/goals.py defines their form */
void report_begin(const char *section, const char *row, const char *unit, const char *const *goals);
/* @param role    "candidate", "floor" or "base"
 * @param rounds  the figure of each round; the median is reported */
void report_measured(const char *name, const char *role, const double *rounds, size_t count);
void report_end(void);

#endif
