/* What the tests of transactions and of their conflicts share. */
#ifndef TRANSACTING_H
#define TRANSACTING_H

#include "check.h"

kept_store *begin(kept_store *store);
void set(kept_store *store, const char *key, int64_t value);
/** The number of keys that begin with a prefix. */
int count_of(kept_store *store, const char *prefix);

#endif
