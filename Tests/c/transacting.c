#define _XOPEN_SOURCE 700
#include "transacting.h"

kept_store *begin(kept_store *store) {
  kept_store *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  return transaction;
}

void set(kept_store *store, const char *key, int64_t value) {
  EXPECT(KEPT_OK, kept_set_int64(store, key, value, &why));
}

static int count_key(void *context, const char *key) {
  (void)key;
  ++*(int *)context;
  return 0;
}

int count_of(kept_store *store, const char *prefix) {
  int count = 0;
  EXPECT(KEPT_OK, kept_list(store, prefix, count_key, &count, &why));
  return count;
}
