/* A row of the table: a task that several candidates perform in turns. */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "filling.h"

#include <stddef.h>

typedef enum role { CANDIDATE, FLOOR, BASE } role; /* a base is compared with in a goal, and has no column */

typedef struct candidate {
  const engine *engine;
  role role;
  const char *label; /* its name in the table; NULL: the engine's name */
  size_t keys;       /* if it differs from the row's; otherwise 0 */
  bool alone;        /* without the other threads or processes of the row */
  bool quiet;        /* without the other process that sets keys */
} candidate;

typedef enum operation {
  GET,
  SET,
  SET_TOGETHER,
  SET_WORDS,
  SET_REFUSED,
  DECLARE_FIRST,
  DECLARE_AGAIN,
  LIST_DECLARATIONS
} operation;

typedef struct row row;

/* A kind of measurement: preparation, a turn, and clean-up. */
typedef struct task {
  void *(*prepare)(const row *row, const candidate *candidate, const char *folder);
  uint64_t (*turn)(void *state, size_t operations); /* returns its time in nanoseconds */
  void (*finish)(void *state);
} task;

extern const task operating; /* operations on an open store, by one or several workers */
extern const task opening;   /* from nothing open to the first value */
extern const task declaring; /* 10,000 keys at once */
extern const task loading;   /* loading the engine's library into a fresh process */

#define MAX_GOALS 5 /* the last is NULL */
#define MAX_CANDIDATES 8
#define MAX_WORKERS 16     /* threads or processes of a row */
#define SETS_TOGETHER 1000 /* sets in one transaction, or between two flushes of deferred work */

struct row {
  const char *section, *name;   /* no two rows have the same name */
  const char *goals[MAX_GOALS]; /* "<= 25 ns", "<= 1.5 x SQLite", ">= 4 x one thread": see runner/goals.py */
  const task *task;
  operation operation;
  size_t keys, some; /* the number of keys, and of those that are read; 0: all */
  size_t length;     /* of the texts; 0: integers */
  int threads;       /* 0: one */
  int processes;     /* 0: one */
  bool durable;
  int seconds;        /* of a turn, with all deferred work in it; 0: a short one */
  bool beside_writer; /* another process sets keys, 1,000 a second */
  candidate candidates[MAX_CANDIDATES];
};

/* The lists of rows, in the order of the table. The last row of a list has no name, and the last list is NULL. */
extern const row *const lists[];
extern const row reading_rows[], writing_rows[], process_rows[], growth_rows[], opening_rows[], declared_rows[];

const row *row_named(const char *name);

static inline contents contents_of(const row *row, const candidate *candidate) {
  return (contents){ candidate->keys ? candidate->keys : row->keys, row->some, row->length };
}

static inline int workers_in(const row *row, const candidate *candidate) {
  if (candidate->alone) return 1;
  return row->threads ? row->threads : row->processes ? row->processes : 1;
}

static inline const char *label_of(const candidate *candidate) {
  return candidate->label ? candidate->label : candidate->engine->name;
}

#endif
