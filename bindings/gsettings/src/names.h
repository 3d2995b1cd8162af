/* Names: GSettings' paths as Kept's keys, and back.
 *
 *   /org/gnome/desktop/sound/event-sounds   org.gnome.desktop.sound.event-sounds
 *   /org/example/v1.2/50%/name              org.example.v1%2E2.50%25.name
 *
 * The slashes become dots. A dot, a percent sign and a byte that is not UTF-8 become %, followed by two digits. */
#ifndef KEPT_GSETTINGS_NAMES_H
#define KEPT_GSETTINGS_NAMES_H

#include <glib.h>

/* Returns the key for a path that begins with a slash, or for a path that ends with one, the prefix of its keys; to be
 * freed with g_free(). NULL for a text that does not begin with a slash. */
char *key_of_path(const char *path);

/* Returns the path that has this key; to be freed with g_free(). NULL if no path has it, because another program has
 * set it for itself. */
char *path_of_key(const char *key);

#endif
