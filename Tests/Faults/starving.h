/* A memory that is short on request: what C libraries allocate (SQLite, PCRE2, json-c, the C library for its
 * callers), and what Kept asks C for, is counted and refused from the allocation that the test chooses. Swift's own
 * allocations are left alone: they cannot fail without ending the process, so Kept bounds them and asks before
 * (Memory.swift). Only allocations of the thread that planned the shortage are concerned. */
#ifndef STARVING_H
#define STARVING_H

#include <stdbool.h>

/** Learns which libraries there are; to be called first. */
void begin_starving(void);

/** Lets the allocations of this thread fail, from number `first` (1, 2, ...): one or all. */
void plan_shortage(long first, bool for_ever);
/** Ends what was planned. @return how many allocations have failed */
long end_shortage(void);

#endif
