/* kept-gsettings: declarations from installed schemas, and moving settings from dconf and back. */
#include "canonical.h"
#include "declaration.h"
#include "dump.h"
#include "names.h"
#include "opening.h"
#include "schemas.h"
#include "values.h"

#include <kept_json.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

/* As `kept` ends. */
enum { done = 0, differs = 1, wrong_usage = 2, refused = 3, unavailable = 4 };

typedef struct {
  gboolean is_dry;
  char *store, *locks, *output;
  char **schemas;
  char **words;
} Options;

static int fail(int status, const char *format, ...) G_GNUC_PRINTF(2, 3);
static int fail(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sentence = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_printerr("kept-gsettings: %s\n", sentence);
  g_free(sentence);
  return status;
}

/* Whether a value is at fault, and not the store. */
static gboolean is_refusal(kept_status status) {
  return status == KEPT_LOCKED || status == KEPT_INVALID || status == KEPT_WRONG_TYPE || status == KEPT_TYPE_CONFLICT ||
    status == KEPT_TOO_LARGE;
}

static int fail_with(const kept_error *error) {
  gboolean is_refused = is_refusal(error->status) || error->status == KEPT_CONFLICT;
  return fail(is_refused ? refused : unavailable, "%s", error->message);
}

static int open_to(gboolean may_write, kept_store **store) {
  kept_error error;
  kept_status status = (may_write ? open_store : open_store_to_read)("kept-gsettings", store, &error);
  return status < 0 ? fail_with(&error) : done;
}

/* ------------------------------------------------------------------------------------------------------------------
 * declare
 * --------------------------------------------------------------------------------------------------------------- */

static void add_declaration(gpointer keys, const char *path, GSettingsSchemaKey *key) {
  char *name = key_of_path(path);
  json_object *schema = declaration_of(key);
  if (schema != NULL) json_object_object_add(keys, name, schema);
  else g_printerr("not declared: %s, because its schema allows values of any type\n", name);
  g_free(name);
}

static int declare(const Options *options, Schemas *schemas) {
  json_object *list = json_object_new_object(), *keys = json_object_new_object();
  json_object_object_add(list, "type", json_object_new_string("object"));
  json_object_object_add(list, "properties", keys);
  each_placed_key(schemas, add_declaration, keys);
  const char *text = json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
  kept_error error;
  kept_store *store = NULL;
  int status = done;
  if (options->is_dry) g_print("%s\n", text);
  else if ((status = open_to(TRUE, &store)) == done) {
    kept_status declared = kept_declare_list(store, text, &error);
    if (declared > 0) g_printerr("kept-gsettings: %s\n", error.message);
    if (declared < 0) status = fail_with(&error);
    else g_print("%d keys are declared\n", json_object_object_length(keys));
  }
  kept_close(store);
  json_object_put(list);
  return status;
}

/* ------------------------------------------------------------------------------------------------------------------
 * import and compare
 * --------------------------------------------------------------------------------------------------------------- */

static gboolean is_secret(kept_store *store, const char *key) {
  json_object *declaration = NULL, *word = NULL;
  if (kept_json_declaration(store, key, &declaration, NULL) != KEPT_OK) return FALSE;
  gboolean is_true = json_object_object_get_ex(declaration, "secret", &word) && json_object_get_boolean(word);
  json_object_put(declaration);
  return is_true;
}

typedef void Difference(const char *key, const char *dumped, const char *stored, gboolean is_secret);

/* Prints how a stored value differs from the dump; secret values are not shown. */
static void print_difference(const char *key, const char *dumped, const char *stored, gboolean is_secret) {
  if (is_secret) g_print("~ %s: (secret)\n", key);
  else g_print("~ %s: %s → %s\n", key, dumped, stored != NULL ? stored : "–");
}

/* Prints what an import changes; secret values are not shown. */
static void print_change(const char *key, const char *dumped, const char *stored, gboolean is_secret) {
  if (is_secret) g_print("%c %s: (secret)\n", stored != NULL ? '~' : '+', key);
  else if (stored == NULL) g_print("+ %s: %s\n", key, dumped);
  else g_print("~ %s: %s → %s\n", key, stored, dumped);
}

/* Returns how many settings of the dump the store has otherwise, after calling `found` with each unless it is NULL. */
static guint differences(kept_store *store, GPtrArray *dump, Difference *found) {
  guint count = 0;
  for (guint i = 0; i < dump->len; i++) {
    Dumped *dumped = dump->pdata[i];
    char *key = key_of_path(dumped->path), *json = json_of_variant(dumped->value), *stored = NULL;
    char *expected = text_of_variant(dumped->value);
    kept_get_json(store, key, &stored, NULL);
    if (expected == NULL || g_strcmp0(expected, stored) != 0) {
      count++;
      if (found != NULL) found(key, json, stored, is_secret(store, key));
    }
    kept_free(expected), kept_free(stored), g_free(json), g_free(key);
  }
  return count;
}

static int compare(kept_store *store, GPtrArray *dump) {
  guint count = differences(store, dump, print_difference);
  g_print("%u of %u settings differ\n", count, dump->len);
  return count == 0 ? done : differs;
}

/* Sets what Kept can hold, and names the rest on standard error. */
static kept_status set_all(kept_store *transaction, GPtrArray *dump, guint *left_out, kept_error *error) {
  kept_status status = KEPT_OK;
  for (guint i = 0; status >= 0 && i < dump->len; i++) {
    Dumped *dumped = dump->pdata[i];
    char *key = key_of_path(dumped->path), *json = json_of_variant(dumped->value);
    status = kept_set_json(transaction, key, json, error);
    if (is_refusal(status)) {
      (*left_out)++, g_printerr("left out %s: %s\n", dumped->path, error->message);
      status = KEPT_OK;
    }
    g_free(json), g_free(key);
  }
  return status;
}

static void warn_of_misfits(GPtrArray *dump) {
  for (guint i = 0; i < dump->len; i++) {
    Dumped *dumped = dump->pdata[i];
    if (dumped->is_misfit)
      g_printerr("%s has the type %s, but its schema has another; GSettings ignores the value\n", dumped->path,
        g_variant_get_type_string(dumped->value));
  }
}

static int import(kept_store *store, const Options *options, GPtrArray *dump) {
  warn_of_misfits(dump);
  kept_store *transaction = NULL;
  kept_error error;
  guint left_out = 0;
  kept_status status = kept_begin(store, NULL, &transaction, &error);
  if (status >= 0 && options->is_dry) differences(store, dump, print_change);
  if (status >= 0) status = set_all(transaction, dump, &left_out, &error);
  /* A key that is locked differs afterwards, too. */
  guint remaining = status >= 0 && options->is_dry ? differences(transaction, dump, NULL) : 0;
  if (status >= 0 && !options->is_dry) status = kept_commit(transaction, NULL, &error);
  else kept_rollback(transaction);
  if (status < 0) return fail_with(&error);
  int compared = options->is_dry ? remaining == 0 ? done : differs : compare(store, dump);
  return compared == done && left_out > 0 ? differs : compared;
}

/* ------------------------------------------------------------------------------------------------------------------
 * export
 * --------------------------------------------------------------------------------------------------------------- */

static int export(Schemas *schemas) {
  json_object *tree = NULL, *values = NULL, *omitted = NULL;
  kept_store *store = NULL;
  kept_error error;
  int status = open_to(FALSE, &store);
  if (status != done) return status;
  if (kept_json_export(store, NULL, &tree, &error) < 0) return kept_close(store), fail_with(&error);
  guint left_out = json_object_object_get_ex(tree, "values", &values) ? print_dump(values, schemas) : 0;
  gsize secrets = json_object_object_get_ex(tree, "omitted", &omitted) ? json_object_array_length(omitted) : 0;
  if (secrets > 0) g_printerr("left out %zu secrets\n", secrets);
  json_object_put(tree);
  kept_close(store);
  return left_out + secrets > 0 ? differs : done;
}

/* ------------------------------------------------------------------------------------------------------------------
 * layer: the administrator's files of dconf as one of Kept
 * --------------------------------------------------------------------------------------------------------------- */

typedef struct {
  json_object *layer, *values, *locked, *prefixes;
  /* Whether something was left out. */
  gboolean is_incomplete;
} Layer;

static int add_values(Layer *layer, const char *file, Schemas *schemas) {
  char *problem = NULL;
  guint left_out;
  GPtrArray *dump = read_dump(file, schemas, &left_out, &problem);
  if (dump == NULL) {
    int status = fail(refused, "%s", problem);
    g_free(problem);
    return status;
  }
  layer->is_incomplete = layer->is_incomplete || left_out > 0;
  for (guint i = 0; i < dump->len; i++) {
    Dumped *dumped = dump->pdata[i];
    char *key = key_of_path(dumped->path);
    json_object *tree = tree_of_variant(dumped->value);
    if (tree != NULL) json_object_object_add(layer->values, key, tree);
    else layer->is_incomplete = TRUE, g_printerr("left out %s: its value is too large or nested too deeply\n", key);
    g_free(key);
  }
  g_ptr_array_unref(dump);
  return done;
}

/* Adds a line of a file of locks: the path of a key, or one of a folder, which ends with a slash. FALSE if it is
 * neither. */
static gboolean add_lock(Layer *layer, const char *path) {
  char *key = key_of_path(path);
  if (key == NULL) return FALSE;
  json_object *list = g_str_has_suffix(path, "/") ? layer->prefixes : layer->locked;
  json_object_array_add(list, json_object_new_string(key));
  g_free(key);
  return TRUE;
}

static int add_locks(Layer *layer, const char *file) {
  char *text;
  GError *error = NULL;
  if (!g_file_get_contents(file, &text, NULL, &error)) {
    int status = fail(unavailable, "%s", error->message);
    g_error_free(error);
    return status;
  }
  guint locks = 0, others = 0;
  char **lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    char *path = g_strstrip(*line);
    if (*path == 0 || *path == '#') continue;
    if (add_lock(layer, path)) locks++;
    else others++, g_printerr("left out \"%s\" in %s: a path must begin with a slash\n", path, file);
  }
  g_strfreev(lines);
  g_free(text);
  layer->is_incomplete = layer->is_incomplete || others > 0;
  if (locks > 0 || others == 0) return done;
  return fail(refused, "%s is not a file of locks; use a file with one path per line", file);
}

static int by_name(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Adds each file of a folder, or a file. */
static int add_all_locks(Layer *layer, const char *path) {
  GDir *folder = g_dir_open(path, 0, NULL);
  if (folder == NULL) return add_locks(layer, path);
  GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
  for (const char *name; (name = g_dir_read_name(folder)) != NULL;)
    g_ptr_array_add(files, g_build_filename(path, name, NULL));
  g_dir_close(folder);
  g_ptr_array_sort(files, by_name);
  int status = done;
  for (guint i = 0; status == done && i < files->len; i++)
    if (!g_file_test(files->pdata[i], G_FILE_TEST_IS_DIR)) status = add_locks(layer, files->pdata[i]);
  g_ptr_array_unref(files);
  return status;
}

/* Prints the layer, or replaces a file by it. */
static int write_layer(const Layer *layer, const char *output) {
  int style = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
  char *text = g_strconcat(json_object_to_json_string_ext(layer->layer, style), "\n", NULL);
  GError *error = NULL;
  int status = done;
  if (output == NULL) g_print("%s", text);
  else if (!g_file_set_contents_full(
             output, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0644, &error)) {
    status = fail(unavailable, "%s", error->message);
    g_error_free(error);
  }
  g_free(text);
  return status;
}

static int print_layer(const Options *options, Schemas *schemas) {
  Layer layer = { json_object_new_object(), json_object_new_object(), json_object_new_array(), json_object_new_array(),
    FALSE };
  int status = done;
  for (char **file = options->words; status == done && file != NULL && *file != NULL; file++) {
    if (!g_file_test(*file, G_FILE_TEST_IS_DIR)) status = add_values(&layer, *file, schemas);
    else g_printerr("skipped %s: it is a folder; --locks reads a folder of locks\n", *file);
  }
  if (status == done && options->locks != NULL) status = add_all_locks(&layer, options->locks);
  if (json_object_object_length(layer.values) > 0)
    json_object_object_add(layer.layer, "values", json_object_get(layer.values));
  if (options->locks != NULL) {
    json_object_object_add(layer.layer, "locked", json_object_get(layer.locked));
    json_object_object_add(layer.layer, "lockedPrefixes", json_object_get(layer.prefixes));
  }
  if (status == done) status = write_layer(&layer, options->output);
  json_object_put(layer.values), json_object_put(layer.locked), json_object_put(layer.prefixes);
  json_object_put(layer.layer);
  return status == done && layer.is_incomplete ? differs : status;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The command line
 * --------------------------------------------------------------------------------------------------------------- */

/* Runs a command that reads a dump. */
static int run_with_dump(const char *command, const Options *options, Schemas *schemas) {
  char *problem = NULL;
  guint left_out;
  GPtrArray *dump = read_dump(options->words != NULL ? options->words[0] : "-", schemas, &left_out, &problem);
  if (dump == NULL) {
    int status = fail(refused, "%s", problem);
    g_free(problem);
    return status;
  }
  gboolean imports = strcmp(command, "import") == 0;
  kept_store *store = NULL;
  int status = done;
  if (strcmp(command, "json") == 0) warn_of_misfits(dump), print_json(dump);
  else if ((status = open_to(imports && !options->is_dry, &store)) == done)
    status = imports ? import(store, options, dump) : compare(store, dump);
  kept_close(store);
  g_ptr_array_unref(dump);
  return status == done && left_out > 0 ? differs : status;
}

static int run(const char *command, const Options *options, Schemas *schemas) {
  guint words = options->words != NULL ? g_strv_length(options->words) : 0;
  gboolean is_layer = strcmp(command, "layer") == 0;
  gboolean takes_file =
    strcmp(command, "json") == 0 || strcmp(command, "import") == 0 || strcmp(command, "compare") == 0;
  if (!is_layer && (options->locks != NULL || options->output != NULL))
    return fail(wrong_usage, "--locks and --output apply only to layer; see kept-gsettings --help");
  if (is_layer) return print_layer(options, schemas);
  if (!takes_file && strcmp(command, "declare") != 0 && strcmp(command, "export") != 0)
    return fail(wrong_usage, "\"%s\" is not a kept-gsettings command; see kept-gsettings --help", command);
  if (words > (takes_file ? 1 : 0))
    return fail(
      wrong_usage, "%s takes %s; see kept-gsettings --help", command, takes_file ? "at most one file" : "no file");
  if (takes_file) return run_with_dump(command, options, schemas);
  return strcmp(command, "declare") == 0 ? declare(options, schemas) : export(schemas);
}

/* Takes ID:PATH for each --schema. */
static gboolean place_schemas(Schemas *schemas, char **given) {
  for (; given != NULL && *given != NULL; given++) {
    char *path = strchr(*given, ':');
    if (path != NULL) *path++ = 0;
    if (path == NULL || *path != '/' || !g_str_has_suffix(path, "/") || !place_schema(schemas, *given, path)) {
      if (path != NULL) *--path = ':';
      return fail(wrong_usage,
               "\"%s\" is not valid for --schema; use ID:PATH, with an installed schema that has no path, and a path "
               "such as /a/b/",
               *given),
             FALSE;
    }
  }
  return TRUE;
}

/* GLib's own would replace what the locale does not have, and lose it. */
static void print_bytes(const char *text) { fputs(text, stdout); }
static void print_error_bytes(const char *text) { fputs(text, stderr); }

int main(int count, char **arguments) {
  setlocale(LC_ALL, "");
  g_set_print_handler(print_bytes);
  g_set_printerr_handler(print_error_bytes);
  Options options = { 0 };
  const GOptionEntry entries[] = {
    { "store", 's', 0, G_OPTION_ARG_STRING, &options.store, "The store; by default the backend's store", "LOCATION" },
    { "schema", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.schemas, "A schema without a path, and its path", "ID:PATH" },
    { "dry-run", 'd', 0, G_OPTION_ARG_NONE, &options.is_dry, "Show what would change, and change nothing", NULL },
    { "locks", 0, 0, G_OPTION_ARG_FILENAME, &options.locks,
      "For layer: a file of locks, one path per line, or a folder", "FILE" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "For layer: write to this file; an existing one is replaced", "FILE" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.words, NULL, NULL },
    G_OPTION_ENTRY_NULL,
  };
  GOptionContext *context = g_option_context_new("COMMAND [FILE]");
  g_option_context_set_summary(context,
    "Moves settings between dconf and Kept, using the installed schemas.\n\n"
    "  declare          declares all keys of the schemas\n"
    "  import [FILE]    imports the output of `dconf dump /`, and compares\n"
    "  compare [FILE]   compares that output with the store\n"
    "  json [FILE]      prints that output as JSON for `kept import`\n"
    "  export           prints the settings in the form that `dconf load /` reads\n"
    "  layer [FILE]...  prints files of /etc/dconf/db as a layer's file");
  g_option_context_add_main_entries(context, entries, NULL);
  GError *error = NULL;
  if (!g_option_context_parse(context, &count, &arguments, &error))
    return fail(wrong_usage, "%s; see kept-gsettings --help", error->message);
  if (options.words == NULL) return fail(wrong_usage, "no command was given; see kept-gsettings --help");
  g_option_context_free(context);
  if (options.store != NULL) set_store_location(options.store);
  char **words = options.words;
  options.words = words[1] != NULL ? words + 1 : NULL;
  Schemas *schemas = read_schemas();
  int status = place_schemas(schemas, options.schemas) ? run(words[0], &options, schemas) : wrong_usage;
  free_schemas(schemas);
  g_strfreev(words), g_strfreev(options.schemas);
  g_free(options.store), g_free(options.locks), g_free(options.output);
  return status;
}
