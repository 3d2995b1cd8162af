/* The declaration in Kept of a key of a schema, so that other programs are refused what GSettings would refuse. */
#ifndef KEPT_GSETTINGS_DECLARATION_H
#define KEPT_GSETTINGS_DECLARATION_H

#include <gio/gio.h>
#include <json-c/json.h>

/* Returns it, to be freed with json_object_put(). NULL for a key that may have values of any type. */
json_object *declaration_of(GSettingsSchemaKey *key);

#endif
