/* The settings of a music player, each declared once. */
#ifndef PLAYER_KEYS_H
#define PLAYER_KEYS_H

#include <kept_keys.h>

KEPT_KEY_INT64(volume, "audio.volume", 50)
KEPT_KEY_BOOL(shuffle, "playlist.shuffle", false)
KEPT_KEY_DOUBLE(speed, "playback.speed", 1.0)
KEPT_KEY_STRING(theme, "window.theme", "system")

#endif
