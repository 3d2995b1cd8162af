#include "opening.h"

#include <string.h>

static const char *variable(const char *name) {
  const char *value = g_getenv(name);
  return value != NULL && *value != 0 ? value : NULL;
}

const char *store_location(void) {
  const char *location = variable("KEPT_GSETTINGS_STORE");
  return location != NULL ? location : "gsettings";
}

static gboolean is_identifier(const char *location) { return strpbrk(location, "/:") == NULL; }

static void report(void *context, const kept_error *error) {
  (void)context;
  /* Which programs use old keys is no concern of users. */
  if (error->status != KEPT_DEPRECATED) g_warning("%s", error->message);
}

static kept_options options_of(const char *tag, const char *standard_managed, const char *standard_system) {
  kept_options options = KEPT_OPTIONS_INIT;
  const char *managed = variable("KEPT_GSETTINGS_MANAGED"), *system = variable("KEPT_GSETTINGS_SYSTEM");
  options.tag = tag;
  options.managed = managed != NULL ? managed : standard_managed;
  options.system = system != NULL ? system : standard_system;
  options.report = report;
  return options;
}

kept_status open_store(const char *tag, kept_store **store, kept_error *error) {
  const char *location = store_location(), *standard = is_identifier(location) ? KEPT_STANDARD_FILE : NULL;
  kept_options options = options_of(tag, standard, standard);
  return kept_open(location, &options, store, error);
}

/* What the administrator prescribes holds there too. NULL if it cannot be read. */
static kept_store *open_memory(const char *tag) {
  const char *location = store_location();
  char *managed = g_strdup_printf("/etc/kept/%s/managed.json", location);
  char *system = g_strdup_printf("/etc/kept/%s/system.json", location);
  gboolean has_standard = is_identifier(location);
  kept_options options = options_of(tag, has_standard ? managed : NULL, has_standard ? system : NULL);
  kept_store *store = NULL;
  kept_open("memory:", &options, &store, NULL);
  g_free(managed), g_free(system);
  return store;
}

kept_store *open_store_or_memory(void) {
  const char *program = g_get_prgname();
  const char *tag = program != NULL && g_utf8_validate(program, -1, NULL) ? program : "gsettings";
  kept_store *store = NULL;
  kept_error error;
  kept_status status = open_store(tag, &store, &error);
  if (status > 0) g_warning("%s", error.message);
  if (status >= 0) return store;
  store = open_memory(tag);
  g_warning("The settings cannot be read: %s. This program uses defaults, and %s", error.message,
    store != NULL ? "what it changes is lost when it ends" : "cannot change them");
  return store;
}
