/* Writing that must succeed. */
#ifndef TRANSACTING_H
#define TRANSACTING_H

#include <kept.h>

kept_store *begin(kept_store *store);
void set(kept_store *store, const char *key, int64_t value);

#endif
