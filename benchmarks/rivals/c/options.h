/* The options of every measuring program: FOLDER [--quick] [--only TEXT]. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

typedef struct options {
  const char *folder; /* where stores may be created and removed */
  bool quick;         /* fewer rounds */
  const char *only;   /* measure rows whose name contains this text; "" for all */
} options;

options parse_options(int count, char **arguments);

/* Whether to measure the row; prints its name if so. */
bool wants_row(options options, const char *row);

#endif
