/* The installed schemas: the type of each path. */
#ifndef KEPT_GSETTINGS_SCHEMAS_H
#define KEPT_GSETTINGS_SCHEMAS_H

#include <gio/gio.h>

typedef struct Schemas Schemas;

/* Reads them. Freed with free_schemas(). */
Schemas *read_schemas(void);
void free_schemas(Schemas *schemas);

/* Adds a relocatable schema at a path; FALSE if it is not installed, or is at a path of its own. */
gboolean place_schema(Schemas *schemas, const char *id, const char *path);

/* Calls a function with each path of the schemas that have one, and its key. */
void each_placed_key(Schemas *schemas, void (*call)(gpointer, const char *, GSettingsSchemaKey *), gpointer context);

/* The type of a path, valid as long as the schemas: of the schema that is there, or else the type that all relocatable
 * schemas with a key of that name have. NULL if there is none. */
const GVariantType *type_at(Schemas *schemas, const char *path);

#endif
