/* What is done to all keys of a store at once, by Kept and by its rivals. */
#ifndef BENCH_COPIER_H
#define BENCH_COPIER_H

#include "../engine.h"

typedef enum act { SNAPSHOT, EXPORT, IMPORT, BACKUP, MIGRATION, RESTORE, ACTS } act;

/* A store that is open. */
typedef struct life {
  const char *folder;
  void *store, *session;   /* as its engine has them */
  walk walk;               /* once around all keys is walk.steps: each gets an integer in place of a text */
  uint32_t version;        /* how often it was migrated */
} life;

/* An act complains if it fails. One that cannot be done is NULL.
 *
 *   SNAPSHOT    a copy in memory that outlives all changes; it is let go again
 *   EXPORT      to a file of JSON at the path, synced
 *   IMPORT      from such a file, into an empty store
 *   BACKUP      a copy at the path, which is not there yet, synced
 *   MIGRATION   sets each key, all in one transaction; before that a backup, to the path if the engine asks for one
 *   RESTORE     from a backup at the path, while the store is open */
typedef struct copier {
  const engine *engine;
  void (*acts[ACTS])(life *life, const char *path);
} copier;

extern const copier kept_copier, sqlite_copier, lmdb_copier;

/* Until what was written to a file is on the disk. */
void sync_file(const char *path);

#endif
