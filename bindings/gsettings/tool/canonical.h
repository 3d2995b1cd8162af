/* Values as Kept has them, without a store of the user. */
#ifndef KEPT_GSETTINGS_CANONICAL_H
#define KEPT_GSETTINGS_CANONICAL_H

#include <glib.h>
#include <json-c/json.h>

/* Returns the value as kept_json.h gives it, to be freed with json_object_put(). NULL for a value that no store can
 * have, because it is too large or nested too deep. */
json_object *tree_of_variant(GVariant *value);

/* Returns Kept's text of it, to be freed with kept_free(): equal values have equal text. NULL as above. */
char *text_of_variant(GVariant *value);

#endif
