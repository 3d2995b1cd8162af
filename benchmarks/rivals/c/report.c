/* Prints a row as a line of JSON. */
#include "report.h"

#include <stdbool.h>
#include <stdio.h>

static bool is_first; /* of what the row has measured */

void report_begin(const char *section, const char *row, const char *unit, const char *const *goals) {
  printf("{\"section\": \"%s\", \"row\": \"%s\", \"unit\": \"%s\", \"goals\": [", section, row, unit);
  for (size_t at = 0; goals[at]; at++) printf("%s\"%s\"", at ? ", " : "", goals[at]);
  printf("], \"measured\": [");
  is_first = true;
}

void report_measured(const char *name, const char *role, const double *rounds, size_t count) {
  printf("%s{\"name\": \"%s\", \"role\": \"%s\", \"rounds\": [", is_first ? "" : ", ", name, role);
  for (size_t round = 0; round < count; round++) printf("%s%.3f", round ? ", " : "", rounds[round]);
  printf("]}");
  is_first = false;
}

void report_end(void) {
  printf("]}\n");
  fflush(stdout);
}
