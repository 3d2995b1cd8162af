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

/* Opens it, with the administrator's files, and makes it if it is not there. `tag` tells other programs who writes. */
kept_status open_store(const char *tag, kept_store **store, kept_error *error);
/* Opens it to be read; one that does not exist is not made, and is empty. */
kept_status open_store_to_read(const char *tag, kept_store **store, kept_error *error);

/* Receives what no call can return. */
typedef void (*SettingsReport)(void *context, OpenStore *settings, const kept_error *error);

/* Opens it for the backend, or if that fails a substitute, with a warning that says why. Never NULL. */
OpenStore *open_settings_or_stand_in(SettingsReport report, void *context);
/* Opens it in place of one that was given up or is no longer in place, whose handle may be closed. NULL with an error
 * if that fails. */
OpenStore *open_settings_again(OpenStore *gone, SettingsReport report, void *context, kept_error *error);
void close_settings(OpenStore *settings);

/* The handle. NULL if the administrator's locks cannot be read: then every setting has its default and is locked. */
kept_store *handle_of(const OpenStore *settings);
/* Another handle on the same store, without the administrator's files: it reaches what the user has set below a lock.
 * Opened at its first use; NULL with an error if that fails. */
kept_store *open_below(OpenStore *settings, kept_error *error);

/* Whether it has what the administrator prescribes, but nothing of the user, because the store could not be opened.
 * Nothing is written into it: it would be lost. */
gboolean is_stand_in(const OpenStore *settings);
/* Whether it was opened for reading only, because of its permissions or because the disk was full. */
gboolean is_read_only(const OpenStore *settings);

/* Whether other programs still find this store at its location. FALSE after its folder was removed, moved or replaced,
 * and after give_up(). */
gboolean is_in_place(const OpenStore *settings);
/* Has it opened again, because that may succeed now. */
void give_up(OpenStore *settings);

#endif
