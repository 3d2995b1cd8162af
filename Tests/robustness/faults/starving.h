/* Memory that is short on request: the allocations of C libraries (PCRE2, json-c, the C library for its
 * callers), and the C memory that Kept allocates, are counted and fail from the allocation that the test chooses.
 * Swift's own allocations are left alone: they cannot fail without ending the process, so Kept bounds them and tests
 * for memory first (Memory.swift). Only allocations of the thread that planned the shortage are affected. */
#ifndef STARVING_H
#define STARVING_H

#include <stdbool.h>

/** Finds the loaded libraries; call this first. */
void begin_starving(void);

/** Makes the allocations of this thread fail, from number `first` (1, 2, ...): one or all. */
void plan_shortage(long first, bool for_ever);
/** Ends the planned shortage. @return how many allocations have failed */
long end_shortage(void);

#endif
