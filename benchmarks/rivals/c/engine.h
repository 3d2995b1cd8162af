/* The subjects of the measurements: Kept, its rivals and the floors, behind one interface.
 *
 * An engine runs its own loops: a walk of many operations is one call, so that no call through a pointer is measured.
 * Every operation checks its result and ends the program if it is wrong. An engine leaves out (NULL) what it cannot
 * do. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "walk.h"

#include <stdbool.h>

typedef struct engine {
  const char *name;    /* its column in the table */
  const void *library; /* one of its functions: identifies the file of the library */

  void (*create)(const char *folder);              /* an empty store in an empty folder; NULL: it stores nothing */
  void *(*open)(const char *folder, bool durable); /* shared by the threads of a process */
  void *(*join)(void *store);                      /* for one thread */
  void (*leave)(void *session);
  void (*close)(void *store);

  void (*get)(void *session, walk *walk);
  void (*set)(void *session, walk *walk);          /* each in its own commit */
  void (*set_together)(void *session, walk *walk); /* all in one commit */
  void (*set_words)(void *session, walk *walk);    /* one of seven words, each in its own commit */
  void (*set_refused)(void *session, walk *walk);  /* values that are refused */
  void (*settle)(void *session);                   /* waits for deferred work; NULL: it defers nothing */
} engine;

extern const engine kept, sqlite, lmdb, gsettings;
extern const engine hash_table; /* the floor of reading */
extern const engine page;       /* the floor of writing */
extern const engine nothing;    /* what an empty process costs */

#endif
