#define _GNU_SOURCE
#include "opening.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct OpenStore {
  kept_store *store, *below;
  GMutex lock; /* guards `below` */
  char *location, *tag;
  SettingsReport report;
  void *context;
  gboolean is_stand_in;
  gint is_given_up;
  /* A file of the store, and which one it was when the store was opened; NULL if there is nothing to compare. */
  char *file;
  dev_t device;
  ino_t inode;
};

/* ------------------------------------------------------------------------------------------------------------------
 * Which store
 * --------------------------------------------------------------------------------------------------------------- */

static char *chosen_location;

/* A set-user-ID program does not obey its caller. */
static const char *variable(const char *name) {
  const char *value = secure_getenv(name);
  return value != NULL && *value != 0 ? value : NULL;
}

static gboolean is_identifier(const char *location) { return strpbrk(location, "/:") == NULL; }

static gboolean is_path(const char *location) {
  return strchr(location, '/') != NULL && !g_str_has_prefix(location, "dir:") && !g_str_has_prefix(location, "memory:");
}

/* A path stays the same one when the program changes its working directory. */
void set_store_location(const char *location) {
  char *folder = g_get_current_dir();
  gboolean is_relative = is_path(location) && *location != '/';
  g_free(chosen_location);
  chosen_location = is_relative ? g_build_filename(folder, location, NULL) : g_strdup(location);
  g_free(folder);
}

const char *store_location(void) {
  const char *location = variable("KEPT_GSETTINGS_STORE");
  if (chosen_location == NULL) set_store_location(location != NULL ? location : "gsettings");
  return chosen_location;
}

static kept_options options_of(const char *tag, const char *standard_managed, const char *standard_system,
  kept_report_callback report, void *context) {
  kept_options options = KEPT_OPTIONS_INIT;
  const char *managed = variable("KEPT_GSETTINGS_MANAGED"), *system = variable("KEPT_GSETTINGS_SYSTEM");
  options.tag = tag;
  options.managed = managed != NULL ? managed : standard_managed;
  options.system = system != NULL ? system : standard_system;
  options.report = report;
  options.report_context = context;
  return options;
}

static kept_status open_layered(
  const char *tag, kept_report_callback report, void *context, kept_store **store, kept_error *error) {
  const char *location = store_location(), *standard = is_identifier(location) ? KEPT_STANDARD_FILE : NULL;
  kept_options options = options_of(tag, standard, standard, report, context);
  return kept_open(location, &options, store, error);
}

static void warn(void *context, const kept_error *error) {
  (void)context;
  /* Users need not know which programs use old keys. */
  if (error->status != KEPT_DEPRECATED) g_warning("%s", error->message);
}

kept_status open_store(const char *tag, kept_store **store, kept_error *error) {
  return open_layered(tag, warn, NULL, store, error);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Where it is
 * --------------------------------------------------------------------------------------------------------------- */

/* The folder where kept_open() has the stores of identifiers. */
static char *folder_of_stores(void) {
  const char *folder = variable("XDG_CONFIG_HOME"), *home = variable("HOME");
  if (folder != NULL && *folder == '/') return g_build_filename(folder, "kept", NULL);
  char buffer[16384];
  struct passwd entry, *user = NULL;
  if (home == NULL || *home != '/')
    home = getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &user) == 0 && user != NULL ? user->pw_dir : "";
  return g_build_filename(home, ".config/kept", NULL);
}

/* A file of a store; NULL if its files have other names. */
static char *file_at(const char *location, const char *name) {
  if (is_path(location)) return g_build_filename(location, name, NULL);
  if (!is_identifier(location)) return NULL;
  char *stores = folder_of_stores(), *folder = g_strconcat(location, ".kept", NULL);
  char *file = g_build_filename(stores, folder, name, NULL);
  g_free(stores), g_free(folder);
  return file;
}

static void note_place(OpenStore *settings) {
  struct stat status;
  /* Its processes share it: the store has the same one as long as it is open. */
  settings->file = file_at(settings->location, "pulse");
  if (settings->file == NULL) return;
  if (stat(settings->file, &status) != 0) {
    /* A store that is open for reading only may have none. Another one was removed just now: it is in no place. */
    if (is_read_only(settings)) g_clear_pointer(&settings->file, g_free);
    return;
  }
  settings->device = status.st_dev;
  settings->inode = status.st_ino;
}

void give_up(OpenStore *settings) { g_atomic_int_set(&settings->is_given_up, TRUE); }

gboolean is_in_place(const OpenStore *settings) {
  struct stat status;
  if (g_atomic_int_get(&settings->is_given_up)) return FALSE;
  if (settings->file == NULL) return TRUE;
  return stat(settings->file, &status) == 0 && status.st_dev == settings->device && status.st_ino == settings->inode;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Opening and closing
 * --------------------------------------------------------------------------------------------------------------- */

static void pass_on(void *settings_, const kept_error *error) {
  OpenStore *settings = settings_;
  settings->report(settings->context, settings, error);
}

static const char *tag_of_program(void) {
  const char *program = g_get_prgname();
  return program != NULL && g_utf8_validate(program, -1, NULL) ? program : "gsettings";
}

static OpenStore *settings_at(const char *location, SettingsReport report, void *context) {
  OpenStore *settings = g_new0(OpenStore, 1);
  *settings = (OpenStore){
    .location = g_strdup(location), .tag = g_strdup(tag_of_program()), .report = report, .context = context
  };
  g_mutex_init(&settings->lock);
  return settings;
}

static OpenStore *open_settings(SettingsReport report, void *context, kept_error *error) {
  OpenStore *settings = settings_at(store_location(), report, context);
  kept_error unwanted;
  if (error == NULL) error = &unwanted;
  kept_status status = open_layered(settings->tag, pass_on, settings, &settings->store, error);
  if (status < 0) return close_settings(settings), NULL;
  if (status > 0) g_warning("%s", error->message);
  note_place(settings);
  return settings;
}

/* A new store in memory, with what the administrator prescribes. */
static kept_status open_layers(
  const char *tag, kept_report_callback report, void *context, kept_store **store, kept_error *error) {
  const char *location = store_location();
  char *managed = g_strdup_printf("/etc/kept/%s/managed.json", location);
  char *system = g_strdup_printf("/etc/kept/%s/system.json", location);
  gboolean has_standard = is_identifier(location);
  kept_options options = options_of(tag, has_standard ? managed : NULL, has_standard ? system : NULL, report, context);
  kept_status status = kept_open("memory:", &options, store, error);
  g_free(managed), g_free(system);
  return status;
}

static OpenStore *open_stand_in(SettingsReport report, void *context) {
  OpenStore *settings = settings_at(store_location(), report, context);
  settings->is_stand_in = TRUE;
  open_layers(settings->tag, pass_on, settings, &settings->store, NULL);
  return settings;
}

kept_status open_store_to_read(const char *tag, kept_store **store, kept_error *error) {
  const char *location = store_location();
  char *file = g_str_has_prefix(location, "dir:") ? g_strdup(location + strlen("dir:")) : file_at(location, "values");
  struct stat status;
  gboolean is_absent = file != NULL && stat(file, &status) != 0 && errno == ENOENT;
  g_free(file);
  return is_absent ? open_layers(tag, warn, NULL, store, error) : open_store(tag, store, error);
}

OpenStore *open_settings_or_stand_in(SettingsReport report, void *context) {
  kept_error error;
  OpenStore *settings = open_settings(report, context, &error);
  if (settings != NULL) return settings;
  g_warning("The settings cannot be read: %s. This program uses defaults and cannot change settings", error.message);
  return open_stand_in(report, context);
}

OpenStore *open_settings_again(OpenStore *gone, SettingsReport report, void *context, kept_error *error) {
  if (!gone->is_stand_in) {
    /* If the folder is the same one, and has other files or none, or was opened for reading only, another handle would
     * share what the old ones have open. */
    kept_close(gone->below);
    kept_close(gone->store);
    /* Another file may have its number from now on. */
    give_up(gone);
  }
  return open_settings(report, context, error);
}

void close_settings(OpenStore *settings) {
  if (settings == NULL) return;
  kept_close(settings->below);
  kept_close(settings->store);
  g_free(settings->location), g_free(settings->tag), g_free(settings->file);
  g_mutex_clear(&settings->lock);
  g_free(settings);
}

kept_store *handle_of(const OpenStore *settings) { return settings->store; }

gboolean is_stand_in(const OpenStore *settings) { return settings->is_stand_in; }

/* It does not know whether other programs have written. */
gboolean is_read_only(const OpenStore *settings) {
  const uint64_t *generation = kept_store_generation(settings->store);
  return generation == NULL || __atomic_load_n(generation, __ATOMIC_ACQUIRE) % 2 == 1;
}

kept_store *open_below(OpenStore *settings, kept_error *error) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.tag = settings->tag;
  g_mutex_lock(&settings->lock);
  if (settings->below == NULL) kept_open(settings->location, &options, &settings->below, error);
  kept_store *below = settings->below;
  g_mutex_unlock(&settings->lock);
  return below;
}
