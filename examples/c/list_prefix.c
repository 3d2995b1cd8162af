/* Lists the keys of a store that begin with a prefix: each with the layer that its value comes from, the summary of its
 * declaration, and its value as JSON. Declared keys come first, even those without a value, then the others.
 *
 *   list_prefix LOCATION PREFIX */
#define _POSIX_C_SOURCE 199309L
#include <json.h>
#include <kept.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const layer_names[] = { "absent", "declared", "registered", "system", "user", "environment",
  "arguments", "managed" };

struct listing {
  kept_store *settings; /* a transaction, so that listing and reading see the same revision */
  const char *prefix;
  json_object *declared; /* JSON Schemas by key */
  int count;
  kept_status status; /* of the last key */
  kept_error error;
};

static const char *layer_name(uint32_t layer) {
  return layer < sizeof layer_names / sizeof *layer_names ? layer_names[layer] : "unknown";
}

/* Prints one key, below the prefix; a declared one may be absent. */
static kept_status print_key(struct listing *listing, const char *key, const char *summary) {
  uint32_t layer;
  char *json = NULL;
  kept_status status = kept_layer_of(listing->settings, key, &layer, &listing->error);
  if (status == KEPT_OK) status = kept_get_json(listing->settings, key, &json, &listing->error);
  if (status < 0 && status != KEPT_ABSENT) return status;
  printf("        %-20s %-9s %-38s %s\n", key + strlen(listing->prefix), layer_name(layer), summary, json ? json : "");
  kept_free(json);
  listing->count++;
  return KEPT_OK;
}

static kept_status print_declared(struct listing *listing) {
  json_object_object_foreach(listing->declared, key, schema) {
    json_object *summary = json_object_object_get(schema, "summary");
    kept_status status = print_key(listing, key, summary ? json_object_get_string(summary) : "");
    if (status != KEPT_OK) return status;
  }
  return KEPT_OK;
}

/* Receives each key that has a value in some layer. */
static int print_undeclared(void *context, const char *key) {
  struct listing *listing = context;
  if (json_object_object_get_ex(listing->declared, key, NULL)) return 0;
  listing->status = print_key(listing, key, "(not declared)");
  return listing->status != KEPT_OK;
}

static kept_status list(kept_store *store, struct listing *listing) {
  char *text = NULL;
  kept_status status = kept_declarations_json(store, listing->prefix, &text, &listing->error);
  if (status != KEPT_OK) return status;
  json_object *schema = json_tokener_parse(text);
  kept_free(text);
  listing->declared = json_object_object_get(schema, "properties");

  status = kept_begin(store, NULL, &listing->settings, &listing->error);
  if (status == KEPT_OK) status = print_declared(listing);
  if (status == KEPT_OK)
    status = kept_list(listing->settings, listing->prefix, print_undeclared, listing, &listing->error);
  kept_rollback(listing->settings);
  json_object_put(schema);
  return status == KEPT_OK ? listing->status : status;
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
  struct listing listing = { .prefix = arguments[2] };
  printf("C:      %s\n", listing.prefix);
  kept_status status = kept_open(arguments[1], NULL, &store, &listing.error);
  if (status >= 0) status = list(store, &listing);
  kept_close(store);
  if (status != KEPT_OK) {
    fprintf(stderr, "%s\n", listing.error.message);
    return 1;
  }
  printf("        %d keys, opened, read and closed in %.1f ms\n", listing.count, milliseconds_now() - began);
  return 0;
}
