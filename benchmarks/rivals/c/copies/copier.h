/* Operations on all keys of a store at once, in Kept and its rivals. */
#ifndef BENCH_COPIER_H
#define BENCH_COPIER_H

#include "../engine.h"

typedef enum act { SNAPSHOT, EXPORT, IMPORT, BACKUP, MIGRATION, REPLACING_IMPORT, RESTORE, ACTS } act;

/* An open store. */
typedef struct life {
  const char *folder;
  void *store, *session; /* of its engine */
  walk walk;             /* walk.steps is the number of keys: each gets an integer in place of a text */
  uint32_t version;      /* how often it was migrated */
} life;

/* An operation ends the program if it fails. One that an engine does not have is NULL.
 *
 *   SNAPSHOT          a copy in memory that is independent of later changes; it is freed again
 *   EXPORT            to a file of JSON at the path, synced
 *   IMPORT            from such a file
 *   REPLACING_IMPORT  the same, and removes all other keys
 *   BACKUP            a copy at the path, where no file exists yet, synced
 *   MIGRATION         sets each key, all in one transaction; before that a backup, to the path if it asks for one
 *   RESTORE           from a backup at the path, while the store is open */
typedef struct copier {
  const engine *engine;
  void (*acts[ACTS])(life *life, const char *path);
} copier;

extern const copier kept_copier, sqlite_copier, lmdb_copier;

/* Syncs a file to the disk. */
void sync_file(const char *path);

#endif
