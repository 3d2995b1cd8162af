/* What every measuring program is told: FOLDER [--quick] [--only TEXT]. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

typedef struct options {
  const char *folder;   /* where stores may be made and removed */
  bool quick;           /* fewer rounds */
  const char *only;     /* rows that have this text in their name; "" for all */
} options;

options parse_options(int count, char **arguments);

/* Whether the row is to be measured; says that it is. */
bool wants_row(options options, const char *row);

#endif
