/* Which store the settings are in. */
#ifndef KEPT_GSETTINGS_OPENING_H
#define KEPT_GSETTINGS_OPENING_H

#include <glib.h>
#include <kept.h>

/* The store that KEPT_GSETTINGS_STORE names, by default `gsettings`. */
const char *store_location(void);

/* Opens it, with the administrator's files. `tag` tells other programs who writes. */
kept_status open_store(const char *tag, kept_store **store, kept_error *error);

/* Opens it, or if that fails one in memory, with a warning that says why. NULL if the administrator's locks cannot be
 * read: then every setting has its default and is locked. */
kept_store *open_store_or_memory(void);

#endif
