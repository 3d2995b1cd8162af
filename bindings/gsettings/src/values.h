/* Values: GVariant as Kept's JSON, and back by the type that a schema expects. docs/guide/gsettings.md has the table.
 *
 * Values have the form that is natural for Swift, C and Python programs. The others:
 *
 *   maybe                    an array of no element, or of one
 *   variant of b, i, d or s  its value; any other variant {"type":"as","value":[...]}
 *   handle                   its number
 *   dictionary whose keys are not text, or with a key that occurs twice
 *                            an array of arrays of two elements
 */
#ifndef KEPT_GSETTINGS_VALUES_H
#define KEPT_GSETTINGS_VALUES_H

#include <glib.h>
#include <json-c/json.h>

/* Returns the JSON of a value, to be freed with g_free(). */
char *json_of_variant(GVariant *value);

/* Returns the value of a type, with a reference that is not floating. NULL if the tree, which kept_json.h has given,
 * does not represent a value of the type. */
GVariant *variant_of_tree(json_object *tree, const GVariantType *type);

#endif
