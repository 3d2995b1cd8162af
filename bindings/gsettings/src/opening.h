/* Which store the settings are in, and whether that is still where it was opened. */
#ifndef KEPT_GSETTINGS_OPENING_H
#define KEPT_GSETTINGS_OPENING_H

#include <glib.h>
#include <kept.h>

/* An open store of settings. Only open_below() changes one. */
typedef struct OpenStore OpenStore;

/* The store that KEPT_GSETTINGS_STORE names, by default `gsettings`. */
const char *store_location(void);
/* Replaces that for the rest of the program. */
void set_store_location(const char *location);

/* Opens it, with the administrator's files. `tag` tells other programs who writes. */
kept_status open_store(const char *tag, kept_store **store, kept_error *error);

/* Receives what no call can return. */
typedef void (*SettingsReport)(void *context, OpenStore *settings, const kept_error *error);

/* Opens it for the backend, or if that fails a store in memory, with a warning that says why. Never NULL. */
OpenStore *open_settings_or_memory(SettingsReport report, void *context);
/* Opens it in place of one that is no longer in place, whose handle may be closed. NULL with an error if that fails. */
OpenStore *open_settings_again(OpenStore *gone, SettingsReport report, void *context, kept_error *error);
void close_settings(OpenStore *settings);

/* The handle. NULL if the administrator's locks cannot be read: then every setting has its default and is locked. */
kept_store *handle_of(const OpenStore *settings);
/* Another handle on the same store, without the administrator's files: it reaches what the user has set below a lock.
 * Opened at its first use; NULL with an error if that fails. */
kept_store *open_below(OpenStore *settings, kept_error *error);

/* Whether other programs still find this store at its location. FALSE after its folder was removed, moved or
 * replaced. */
gboolean is_in_place(const OpenStore *settings);

#endif
