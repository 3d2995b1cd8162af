/* The smallest program that writes and reads a value, and checks that it was built for the library it runs with. */
#include <kept.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  kept_error error;
  kept_store *store;
  int64_t volume = 0;
  char header[32];

  snprintf(header, sizeof header, "%d.%d.%d", KEPT_VERSION_MAJOR, KEPT_VERSION_MINOR, KEPT_VERSION_PATCH);
  if (strcmp(header, kept_version()) != 0) {
    printf("the header is %s, the library %s\n", header, kept_version());
    return 1;
  }
  if (kept_open("memory:", NULL, &store, &error) != KEPT_OK ||
    kept_set_int64(store, "audio.volume", 70, &error) != KEPT_OK ||
    kept_get_int64(store, "audio.volume", &volume, &error) != KEPT_OK) {
    printf("%s\n", error.message);
    return 1;
  }
  kept_close(store);
  printf("Kept %s: audio.volume is %d\n", kept_version(), (int)volume);
  return volume == 70 ? 0 : 1;
}
