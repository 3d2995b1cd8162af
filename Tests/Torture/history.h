/* A history of one key, as its clients saw it, and whether a single register could have answered so. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kind {
  READ,       /* answered `found` */
  WRITE,      /* put `put` there */
  SWAP,       /* found `found` and put `put` there */
  NO_SWAP,    /* found something else than `found`, and did nothing */
  REMOVE,     /* found something, and left nothing */
} kind;

/* Values are never written twice, so a value says which write it comes from; 0 is an absent key. */
typedef struct operation {
  kind kind;
  int64_t found, put;
  int64_t invoked, answered;   /* nanoseconds of one clock; what begins after the answer of another is after it */
} operation;

enum { MOST_OPERATIONS = 256 };

/** Whether there is an order of the operations that keeps to their times, and in which each answer is right: the search
 *  of Wing and Gong, with Lowe's memory of what was tried in vain. The key is absent at first.
 *  @param count  at most MOST_OPERATIONS */
bool is_linearizable(const operation *operations, int count);

#endif
