/* The rows of the C programs: a list for each section of the table. */
#include "rows.h"

#include "fatal.h"

#include <string.h>

const row *const lists[] = {
  reading_rows,
  writing_rows,
  process_rows,
  growth_rows,
  opening_rows,
  declared_rows,
  NULL,
};

const row *row_named(const char *name) {
  for (const row *const *list = lists; *list; list++) {
    for (const row *row = *list; row->name; row++) {
      if (strcmp(row->name, name) == 0) return row;
    }
  }
  die("there is no row %s", name);
}
