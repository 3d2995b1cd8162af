#include "transacting.h"

#include "check.h"

kept_store *begin(kept_store *store) {
  kept_store *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  return transaction;
}

void set(kept_store *store, const char *key, int64_t value) {
  EXPECT(KEPT_OK, kept_set_int64(store, key, value, &why));
}
