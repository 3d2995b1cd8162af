/* Questions to a store whose answer alone matters. */
#ifndef STORES_H
#define STORES_H

#include <kept.h>

/** The integer of a key, or -1. */
int64_t int_of(kept_store *store, const char *key);
/** The number of keys that begin with a prefix, or -1. */
int count_of(kept_store *store, const char *prefix);
/** A callback of a listing that counts. @param count  an int */
int count_key(void *count, const char *key);
uint64_t store_revision(kept_store *store);
/** A callback of an observer that only has to exist. */
void ignore_notice(void *context, const kept_notice *notice);

#endif
