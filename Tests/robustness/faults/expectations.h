/* What must hold after every failure: the right status with its advice, and a store that is intact for every
 * process. */
#ifndef EXPECTATIONS_H
#define EXPECTATIONS_H

#include "torture.h"

/** Makes a store in a folder, in a process of its own: `number`, `first` and `second` are 1. */
void make_store(const char *folder);

/** The status that must be returned for an errno. */
kept_status status_of(int error);

/** Fails unless a call returned this status, with a message that ends in an advice. */
void expect_status(kept_status wanted, kept_status status, const char *what);

/** Sets `first` and `second` in one transaction; a conflict cannot happen. */
kept_status set_both(kept_store *store, int64_t value, uint32_t durability);
/** Reads both and fails if they differ. */
int64_t get_both(kept_store *store);

/** Fails unless the store is intact and `first` and `second` are within these bounds for a process that opens it now,
 *  nothing is in quarantine, no damage is recorded, and, if files could be removed, no draft is left. */
void expect_whole(const char *folder, int64_t least, int64_t most, bool is_tidy);

/** The distance to the next point of failure: 1 if the program runs more than one round, else 1 to 9 at random. */
long stride(void);

/** Lets the process take this much more address space than it has, in MiB, until free_address_space(). */
void limit_address_space(double mebibytes);
void free_address_space(void);

#endif
