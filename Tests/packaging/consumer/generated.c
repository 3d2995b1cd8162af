// Uses keys that the build has generated, under two names.
#include "other.h"
#include "player.h"

#include <stdio.h>

int main(void) {
  kept_store *store = NULL;
  int64_t volume = 0;
  if (kept_open("memory:", NULL, &store, NULL) < 0 || player_declare(store, NULL) < 0) return 1;
  if (player_set_audio_volume(store, PLAYER_AUDIO_VOLUME_DEFAULT + 20, NULL) < 0) return 1;
  if (other_get_loudness(store, &volume, NULL) < 0 || volume != 70) return 1;
  kept_close(store);
  puts("generated keys work");
  return 0;
}
