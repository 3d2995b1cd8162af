/* What every measuring program is told: FOLDER [--quick] [--only TEXT]. */
#ifndef BENCH_ASKED_H
#define BENCH_ASKED_H

#include <stdbool.h>

typedef struct asked {
  const char *folder;   /* where stores may be made and removed */
  bool quick;           /* fewer rounds */
  const char *only;     /* rows that have this text in their name; "" for all */
} asked;

asked asked_of(int count, char **arguments);

/* Whether the row is to be measured; says that it is. */
bool asks_for(asked asked, const char *row);

#endif
