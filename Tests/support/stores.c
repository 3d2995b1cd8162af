#include "stores.h"

int64_t int_of(kept_store *store, const char *key) {
  int64_t value = -1;
  return kept_get_int64(store, key, &value, NULL) == KEPT_OK ? value : -1;
}

int count_key(void *context, const char *key) {
  ++*(int *)context;
  return 0;
}

int count_of(kept_store *store, const char *prefix) {
  int count = 0;
  return kept_list(store, prefix, count_key, &count, NULL) == KEPT_OK ? count : -1;
}

uint64_t store_revision(kept_store *store) {
  uint64_t revision = 0;
  return kept_store_revision(store, &revision, NULL) == KEPT_OK ? revision : 0;
}

void ignore_notice(void *context, const kept_notice *notice) {}
