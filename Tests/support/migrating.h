/* A store to migrate, and the steps that the tests of migrations share. */
#ifndef MIGRATING_H
#define MIGRATING_H

#include <kept.h>

/** Opens a store where "volume" is 7. */
kept_store *played_at(const char *location);
kept_store *played(void);

/** Renames "volume" to "audio.volume"; version 1. */
extern const kept_migration moved;
/** Doubles "audio.volume"; version 2. */
extern const kept_migration doubled;
/** The step of `doubled`. @param context  NULL, or an int that counts the calls */
kept_status double_it(void *context, kept_store *transaction, kept_error *error);

/** Migrates without a backup. */
kept_status migrate(kept_store *store, const kept_migration *steps, size_t count, uint32_t flags, uint32_t *result);

uint32_t version_of(kept_store *store);

#endif
