/* The text of `dconf dump /`, and of the files in /etc/dconf/db. */
#ifndef KEPT_GSETTINGS_DUMP_H
#define KEPT_GSETTINGS_DUMP_H

#include "schemas.h"

#include <json-c/json.h>

/* One setting of a dump. */
typedef struct {
  char *path;
  GVariant *value;
  /* Whether an installed schema has the path, and expects another type than the value has. */
  gboolean is_misfit;
} Dumped;

/* Reads the settings of a file, "-" for standard input, sorted by path. Values of paths that a schema has are read as
 * its type. Elements are `Dumped`. Values that are not GVariant text are left out, with the reasons on standard error.
 * NULL with an error sentence, freed with g_free(), if it is not a dump. */
GPtrArray *read_dump(const char *file, Schemas *schemas, guint *left_out, char **problem);

/* Prints a dump as JSON of Kept: an object of keys. */
void print_json(GPtrArray *dump);

/* Prints what a store has as a dump. Returns how many settings were left out, with the reasons on standard error. */
guint print_dump(json_object *values, Schemas *schemas);

#endif
