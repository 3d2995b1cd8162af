/* Kept with all layers: 100 keys in each file, 20 arguments, 20 variables, and 1,000 keys in the deciding layer. */
#include "fatal.h"
#include "folders.h"
#include "variants.h"

#include <stdio.h>
#include <stdlib.h>

/* A key of a layer: in the deciding layer the keys that are read, in all others different keys. */
static char *key_in(uint32_t layer, uint32_t deciding, size_t index) {
  char *key;
  int length = layer == deciding ? asprintf(&key, "%s", keys_of(1000)->sorted[index].text)
                                 : asprintf(&key, "layer-%u.setting-%06zu", layer, index);
  if (length < 0) die("no memory for a key");
  return key;
}

static char *write_file(const char *folder, const char *name, uint32_t layer, uint32_t deciding) {
  char *path = folder_path(folder, name);
  FILE *file = fopen(path, "w");
  if (!file) die("cannot write %s", path);
  fputs("{\"values\":{", file);
  for (size_t at = 0; at < (layer == deciding ? 1000 : 100); at++) {
    char *key = key_in(layer, deciding, at);
    fprintf(file, "%s\"%s\":%zu", at ? "," : "", key, at);
    free(key);
  }
  fputs("}}", file);
  fclose(file);
  return path;
}

/* The words of a command line, never freed. */
static const char **make_arguments(uint32_t deciding, size_t *count) {
  size_t pairs = deciding == KEPT_LAYER_ARGUMENTS ? 1000 : 20;
  char **words = calloc(2 * pairs + 1, sizeof *words);
  if (!words) die("no memory");
  words[(*count)++] = "bench";
  for (size_t at = 0; at < pairs; at++) {
    char *key = key_in(KEPT_LAYER_ARGUMENTS, deciding, at);
    if (asprintf(&words[(*count)++], "-%s", key) < 0 || asprintf(&words[(*count)++], "%zu", at) < 0) {
      die("no memory");
    }
    free(key);
  }
  return (const char **)words;
}

/* As described in docs/guide/layers.md: a hyphen is written as _x2d. */
static void set_variable(const char *prefix, const char *key, size_t value) {
  char name[128], number[24];
  size_t length = (size_t)snprintf(name, sizeof name, "%s", prefix);
  for (; *key && length + 5 < sizeof name; key++) {
    if (*key == '-') length += (size_t)sprintf(name + length, "_x2d");
    else name[length++] = *key == '.' ? '_' : *key >= 'a' ? (char)(*key - 'a' + 'A') : *key;
  }
  name[length] = 0;
  snprintf(number, sizeof number, "%zu", value);
  if (setenv(name, number, 1) != 0) die("cannot set %s", name);
}

static void set_variables(const char *prefix, uint32_t deciding) {
  for (size_t at = 0; at < (deciding == KEPT_LAYER_ENVIRONMENT ? 1000 : 20); at++) {
    char *key = key_in(KEPT_LAYER_ENVIRONMENT, deciding, at);
    set_variable(prefix, key, at);
    free(key);
  }
}

static void register_defaults(kept_store *store, uint32_t deciding) {
  kept_error error;
  if (deciding != KEPT_LAYER_REGISTERED) return;
  char *text;
  size_t length;
  FILE *json = open_memstream(&text, &length);
  if (!json) die("no memory");
  for (size_t at = 0; at < 1000; at++) {
    fprintf(json, "%c\"%s\":%zu", at ? ',' : '{', keys_of(1000)->sorted[at].text, at);
  }
  fputs("}", json);
  fclose(json);
  expect_done(kept_register_json(store, text, &error), &error, "register defaults");
  free(text);
}

static void *open_layered(const char *folder, uint32_t deciding) {
  kept_options options = KEPT_OPTIONS_INIT;
  char *managed = write_file(folder, "managed.json", KEPT_LAYER_MANAGED, deciding);
  char *system = write_file(folder, "system.json", KEPT_LAYER_SYSTEM, deciding);
  char prefix[] = "BENCH_0_";
  prefix[6] += (char)deciding;
  set_variables(prefix, deciding);
  options.busy_timeout_ms = 60000;
  options.managed = managed;
  options.system = system;
  options.environment = prefix;
  options.argv = make_arguments(deciding, &options.argc);
  kept_store *store = open_kept(folder, &options);
  register_defaults(store, deciding);
  free(managed);
  free(system);
  uint32_t layer;
  kept_error error;
  expect_done(kept_layer_of(store, keys_of(1000)->sorted[0].text, &layer, &error), &error, "find the layer");
  if (deciding != KEPT_LAYER_USER && layer != deciding) die("layer %u decides in place of %u", layer, deciding);
  return store;
}

static void create(const char *folder) { create_declared(folder, 1000, BOUNDED_INTEGER); }

#define LAYERED(layer, LAYER, ...) \
  static void *open_##layer(const char *folder, bool durable) { \
    (void)durable; \
    return open_layered(folder, LAYER); \
  } \
  const engine kept_##layer = { .name = "Kept, " #layer, \
    .library = kept_version, \
    .create = create, \
    .open = open_##layer, \
    .join = usual_join, \
    .leave = usual_leave, \
    .close = usual_close, \
    .get = usual_get, \
    .set = usual_set, \
    __VA_ARGS__ }

LAYERED(managed, KEPT_LAYER_MANAGED);
LAYERED(arguments, KEPT_LAYER_ARGUMENTS);
LAYERED(environment, KEPT_LAYER_ENVIRONMENT);
LAYERED(user, KEPT_LAYER_USER, .set_together = usual_set_together);
LAYERED(system, KEPT_LAYER_SYSTEM);
LAYERED(registered, KEPT_LAYER_REGISTERED);
LAYERED(declared, KEPT_LAYER_DECLARED);
