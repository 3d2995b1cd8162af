/* What is measured: Kept, its rivals and the floors, all behind one face.
 *
 * An engine runs its own loops: a walk of many operations is one call, so that no pointer stands between the clock and
 * what is measured. Every operation checks its result and complains. An engine leaves out (NULL) what it cannot do. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "walk.h"

#include <stdbool.h>

typedef struct engine {
  const char *name;      /* its column in the table */
  const void *library;   /* one of its functions: tells the file that it comes from */

  void (*create)(const char *folder);               /* an empty store in an empty folder; NULL: it keeps nothing */
  void *(*open)(const char *folder, bool durable);  /* what the threads of a process share */
  void *(*join)(void *store);                       /* what one thread works with */
  void (*leave)(void *session);
  void (*close)(void *store);

  void (*get)(void *session, walk *walk);
  void (*set)(void *session, walk *walk);           /* each a commit of its own */
  void (*set_together)(void *session, walk *walk);  /* all of them one commit */
  void (*set_words)(void *session, walk *walk);     /* one of seven words, each a commit of its own */
  void (*set_refused)(void *session, walk *walk);   /* values that are refused */
  void (*settle)(void *session);                    /* waits for what it put off; NULL: it puts nothing off */
} engine;

extern const engine kept, sqlite, lmdb, gsettings;
extern const engine hash_table;   /* the floor of reading */
extern const engine page;         /* the floor of writing */
extern const engine nothing;      /* what a process costs anyway */

#endif
