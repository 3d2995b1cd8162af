/* A declaration, and what the tests of declarations share. */
#ifndef DECLARING_H
#define DECLARING_H

#include <kept.h>

/** An integer from 0 to 100 with the default 50. */
extern const char *const volume;

void declare(kept_store *store, const char *key, const char *schema);

/** The declaration of a key, or the status if there is none. Valid until the next call. */
const char *declared(kept_store *store, const char *key);

#endif
