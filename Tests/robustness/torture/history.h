/* A history of one key, as seen by its clients, and whether a single register could have given these answers. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kind {
  READ,    /* answered `found` */
  WRITE,   /* put `put` there */
  SWAP,    /* found `found` and put `put` there */
  NO_SWAP, /* found another value than `found`, and did nothing */
  REMOVE,  /* found a value, and removed it */
} kind;

/* No value is written twice, so a value identifies its write. 0 is an absent key. */
typedef struct operation {
  kind kind;
  int64_t found, put;
  int64_t invoked, answered; /* nanoseconds of one clock; an operation invoked after the answer of another follows
                                  it */
} operation;

enum { MOST_OPERATIONS = 256 };

/** Whether some order of the operations respects their times and explains every answer: the search of Wing and Gong,
 *  with Lowe's cache of failed positions. The key is absent at first.
 *  @param count  at most MOST_OPERATIONS */
bool is_linearizable(const operation *operations, int count);

#endif
