/* Lists the keys of a store that begin with a prefix, with their values as JSON: list_prefix LOCATION PREFIX */
#define _POSIX_C_SOURCE 199309L
#include <kept.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct listing {
  kept_store *settings; /* a transaction, so that what is listed and what is read are of one moment */
  const char *prefix;
  int count;
};

/* Prints one key, below the prefix, and its value. */
static int print_key(void *context, const char *key) {
  struct listing *listing = context;
  char *json = NULL;
  kept_error error;
  if (kept_get_json(listing->settings, key, &json, &error) != KEPT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  printf("        %-20s %s\n", key + strlen(listing->prefix), json);
  kept_free(json);
  listing->count++;
  return 0;
}

static double milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fputs("usage: list_prefix LOCATION PREFIX\n", stderr);
    return 2;
  }
  double began = milliseconds_now();
  kept_store *store = NULL;
  struct listing listing = {NULL, arguments[2], 0};
  printf("C:      %s\n", listing.prefix);

  kept_error error;
  kept_status status = kept_open(arguments[1], NULL, &store, &error);
  if (status >= 0) status = kept_begin(store, NULL, &listing.settings, &error);
  if (status == KEPT_OK) status = kept_list(listing.settings, listing.prefix, print_key, &listing, &error);
  kept_rollback(listing.settings);
  kept_close(store);
  if (status != KEPT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  printf("        %d keys, opened, read and closed in %.1f ms\n", listing.count, milliseconds_now() - began);
  return 0;
}
