/* What a row of the table is: a task that some contestants do by turns. */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "engine.h"

#include <stddef.h>

typedef enum role { CONTESTANT, FLOOR, BASE } role;   /* a base is what a goal compares with, in no column of its own */

typedef struct contestant {
  const engine *engine;
  role role;
  const char *label;   /* what the table calls it; NULL: the engine's name */
  size_t keys;         /* where it differs from the row's; 0: it does not */
  int threads;         /* likewise */
} contestant;

typedef enum operation {
  GET_INTEGERS, GET_TEXTS,
  SET, SET_WORDS, SET_REFUSED, SET_TOGETHER,
  DECLARE_FIRST, DECLARE_AGAIN, LIST_DECLARATIONS
} operation;

typedef struct row row;

/* A way to measure: what is prepared, what a turn is, and what is cleared away. */
typedef struct task {
  void *(*prepare)(const row *row, const contestant *contestant, const char *folder);
  uint64_t (*turn)(void *state, size_t operations);   /* the nanoseconds that it took */
  void (*finish)(void *state);
} task;

extern const task operating;   /* operations on an open store, by one thread or by many */
extern const task opening;     /* from nothing open to the first value */
extern const task declaring;   /* 10,000 keys at once */
extern const task loading;     /* loading the engine's library into a fresh process */

#define MAX_GOALS        3   /* the last is NULL */
#define MAX_CONTESTANTS  8
#define MAX_THREADS      16

struct row {
  const char *section, *name;
  const char *goals[MAX_GOALS];   /* "<= 25 ns", "<= 1.5 x SQLite", ">= 4 x one thread": runner/goals.py explains */
  const task *task;
  operation operation;
  size_t keys;
  int threads;          /* 0: one */
  bool durable;
  bool beside_writer;   /* another process sets keys meanwhile, 1,000 a second */
  contestant contestants[MAX_CONTESTANTS];
};

extern const row rows[];
extern const size_t row_count;

static inline size_t keys_in(const row *row, const contestant *contestant) {
  return contestant->keys ? contestant->keys : row->keys;
}

static inline int threads_in(const row *row, const contestant *contestant) {
  return contestant->threads ? contestant->threads : row->threads ? row->threads : 1;
}

static inline const char *label_of(const contestant *contestant) {
  return contestant->label ? contestant->label : contestant->engine->name;
}

#endif
