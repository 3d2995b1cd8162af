/* Reading a key. */
#ifndef KEPT_GSETTINGS_READING_H
#define KEPT_GSETTINGS_READING_H

#include <glib.h>
#include <kept.h>

/* The value of the highest layer, with a reference that is not floating; NULL if it is not a value of the type. */
GVariant *read_effective(kept_store *store, const char *key, const GVariantType *type);

/* The value of the highest of some layers, whose names end with NULL, that has one of the type. */
GVariant *read_layers(kept_store *store, const char *key, const GVariantType *type, const char *const *names);

/* Whether the key reads as what the user has set. */
gboolean is_of_user(kept_store *store, const char *key);

#endif
