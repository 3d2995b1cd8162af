/* Explains why a key has its value: the administrator's files, the command line, the environment and the user's value.
 *
 *   explain_key LOCATION FOLDER ENVIRONMENT KEY [-KEY VALUE]...
 *
 * FOLDER contains the files managed.json and system.json; ENVIRONMENT is the prefix of the variables' names. */
#include <json.h>
#include <kept.h>
#include <stdio.h>

static const char *member(json_object *object, const char *name) {
  json_object *found = json_object_object_get(object, name);
  return found ? json_object_to_json_string_ext(found, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE) : "";
}

static const char *text(json_object *object, const char *name) {
  json_object *found = json_object_object_get(object, name);
  return found ? json_object_get_string(found) : "";
}

/* Prints an explanation: the value and the reason, then each layer. */
static void print_explanation(json_object *explanation) {
  printf("C:      %s = %s: %s\n", text(explanation, "key"), member(explanation, "value"), text(explanation, "reason"));
  json_object *layers = json_object_object_get(explanation, "layers");
  for (size_t i = 0; i < json_object_array_length(layers); i++) {
    json_object *layer = json_object_array_get_idx(layers, i);
    const char *value = member(layer, "value"), *source = text(layer, "source"), *problem = text(layer, "problem");
    int width = *value || *source || *problem ? 7 : 0;
    printf("        %-11s  %-*s", text(layer, "layer"), width, text(layer, "outcome"));
    if (*value) printf("  %s", value);
    if (*source) printf("  (%s)", source);
    if (*problem) printf("  %s", problem);
    putchar('\n');
  }
}

/* Opens the store with all layers. `arguments` are those of main() from FOLDER on. */
static kept_status open_layered(
  const char *location, int count, char **arguments, kept_store **settings, kept_error *error) {
  char managed[4096], system[4096];
  snprintf(managed, sizeof managed, "%s/managed.json", arguments[0]);
  snprintf(system, sizeof system, "%s/system.json", arguments[0]);
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = managed;
  options.system = system;
  options.environment = arguments[1];
  options.argv = (const char *const *)arguments + 2; /* KEY is in the place of the program's name */
  options.argc = (size_t)count - 2;
  return kept_open(location, &options, settings, error);
}

int main(int count, char **arguments) {
  if (count < 5) {
    fputs("usage: explain_key LOCATION FOLDER ENVIRONMENT KEY [-KEY VALUE]...\n", stderr);
    return 2;
  }
  kept_store *settings = NULL;
  kept_error error;
  char *json = NULL;
  kept_status status = open_layered(arguments[1], count - 2, arguments + 2, &settings, &error);
  if (status >= 0) status = kept_explain_json(settings, arguments[4], &json, &error);
  kept_close(settings);
  if (status != KEPT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  json_object *explanation = json_tokener_parse(json);
  print_explanation(explanation);
  json_object_put(explanation);
  kept_free(json);
  return 0;
}
