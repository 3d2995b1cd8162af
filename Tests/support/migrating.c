#include "migrating.h"

#include "check.h"
#include "fixture.h"

kept_store *played_at(const char *location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 7, &why));
  return store;
}

kept_store *played(void) { return played_at(fresh_location()); }

static kept_status move(void *context, kept_store *transaction, kept_error *error) {
  return kept_rename(transaction, "volume", "audio.volume", error);
}

kept_status double_it(void *context, kept_store *transaction, kept_error *error) {
  int64_t volume = 0;
  kept_status status = kept_get_int64(transaction, "audio.volume", &volume, error);
  if (context) ++*(int *)context;
  return status < 0 ? status : kept_set_int64(transaction, "audio.volume", 2 * volume, error);
}

const kept_migration moved = { 1, 0, "volume becomes audio.volume", move, NULL };
const kept_migration doubled = { 2, 0, "percent", double_it, NULL };

kept_status migrate(kept_store *store, const kept_migration *steps, size_t count, uint32_t flags, uint32_t *result) {
  return kept_migrate(store, steps, count, flags | KEPT_MIGRATE_NO_BACKUP, result, NULL, &why);
}

uint32_t version_of(kept_store *store) {
  uint32_t version = 99;
  EXPECT(KEPT_OK, kept_schema_version(store, &version, &why));
  return version;
}
