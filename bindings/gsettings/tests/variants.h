/* Values for the tests: through a store and back, compared, and drawn at random. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include <glib.h>
#include <kept.h>

/* A value that is written as GLib writes values; with a reference that is not floating. */
GVariant *parsed(const char *text);
/* What a store has after the value was set, read as its type; NULL if it reads as absent. `why` receives the status and
 * the reason if it cannot be set. */
GVariant *through_store(kept_store *store, GVariant *value, kept_error *why);
/* The value that JSON stored by a program is read as; NULL if it is not a value of the type. */
GVariant *read_as(const char *json, const GVariantType *type);
/* The value with the keys of its dictionaries in order, if they are text, and one NaN for all. */
GVariant *normal_value(GVariant *value);
/* Fails if the values differ in more than the order of dictionaries whose keys are text, and the bits of NaN. */
void assert_same_value(GVariant *expected, GVariant *found);

/* The type has at most `depth` containers in one another. */
GVariantType *random_type(int depth);
/* Returns a floating reference. */
GVariant *random_value(const GVariantType *type, int depth);

#endif
