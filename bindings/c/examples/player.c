/* A music player's settings: typed keys for simple values, a json-c tree for a structured one.
 *
 *   cc player.c $(pkg-config --cflags --libs kept-json) -o player && ./player com.example.player */
#include "player_keys.h"

#include <inttypes.h>
#include <kept_json.h>
#include <stdio.h>

static int fail(const kept_error *error) {
  fprintf(stderr, "player: %s\n", error->message);
  return 1;
}

/** Moves the window by ten. KEPT_CONFLICT: another process has moved it in between; try again. */
static kept_status move_window(kept_store *store, kept_error *error) {
  json_object *frame = NULL;
  uint64_t revision = 0;
  kept_status status = kept_revision_of(store, "window.frame", &revision, error);
  if (status == KEPT_OK) status = kept_json_get(store, "window.frame", &frame, error);
  if (status == KEPT_ABSENT) frame = json_object_new_object();
  else if (status != KEPT_OK) return status;

  json_object *x = json_object_object_get(frame, "x");
  json_object_object_add(frame, "x", json_object_new_double(x != NULL ? json_object_get_double(x) + 10 : 0.5));
  status = kept_json_set_if(store, "window.frame", frame, revision, NULL, error);
  json_object_put(frame);
  return status;
}

int main(int argc, char **argv) {
  kept_error error;
  kept_store *store;
  char theme[64], *frame;

  if (kept_open(argc > 1 ? argv[1] : "memory:", NULL, &store, &error) < 0) return fail(&error);
  printf("volume %" PRId64 ", theme %s\n", volume_get(store, NULL), theme_get(store, theme, sizeof theme, NULL));
  if (volume_set(store, (volume_get(store, NULL) + 20) % 101, &error) != KEPT_OK) return fail(&error);
  if (theme_set(store, "dark", &error) != KEPT_OK) return fail(&error);
  if (move_window(store, &error) != KEPT_OK || move_window(store, &error) != KEPT_OK) return fail(&error);
  if (kept_get_json(store, "window.frame", &frame, &error) != KEPT_OK) return fail(&error);
  printf("volume %" PRId64 ", theme %s, window %s\n", volume_get(store, NULL),
    theme_get(store, theme, sizeof theme, NULL), frame);

  kept_free(frame);
  kept_close(store);
  return 0;
}
