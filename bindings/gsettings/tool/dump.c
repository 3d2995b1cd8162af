#include "dump.h"

#include "names.h"
#include "values.h"

#include <string.h>

static void free_dumped(gpointer dumped_) {
  Dumped *dumped = dumped_;
  g_free(dumped->path);
  g_variant_unref(dumped->value);
  g_free(dumped);
}

static gint by_path(gconstpointer a, gconstpointer b) {
  return strcmp((*(Dumped *const *)a)->path, (*(Dumped *const *)b)->path);
}

/* The text of a file, without a byte order mark. */
static char *contents_of(const char *file, GError **error) {
  char *text = NULL;
  gsize length = 0;
  GIOChannel *input = strcmp(file, "-") == 0 ? g_io_channel_unix_new(0) : g_io_channel_new_file(file, "r", error);
  if (input == NULL) return NULL;
  if (g_io_channel_read_to_end(input, &text, &length, error) != G_IO_STATUS_NORMAL) text = NULL;
  g_io_channel_unref(input);
  if (text != NULL && g_str_has_prefix(text, "\xEF\xBB\xBF")) memmove(text, text + 3, length - 2);
  return text;
}

static GVariant *parse(const char *text, const GVariantType *type, gboolean *is_misfit, GError **error) {
  GVariant *value = type != NULL ? g_variant_parse(type, text, NULL, NULL, NULL) : NULL;
  *is_misfit = type != NULL && value == NULL;
  return value != NULL ? value : g_variant_parse(NULL, text, NULL, NULL, error);
}

/* The sentence of GVariant's parser without the place, which comes first. */
static const char *reason_of(const GError *error) {
  const char *reason = strchr(error->message, ':');
  return reason != NULL ? reason + 1 : error->message;
}

/* Whether a text has an escape that is not a character: GLib's parser fails an assertion there. */
static gboolean has_wrong_escape(const char *text) {
  while ((text = strchr(text, '\\')) != NULL && *++text != 0) {
    char digits[9] = "";
    if (*text == 'u' || *text == 'U') g_strlcpy(digits, text + 1, *text == 'u' ? 5 : 9);
    if (!g_unichar_validate((gunichar)g_ascii_strtoull(digits, NULL, 16))) return TRUE;
    text++;
  }
  return FALSE;
}

/* Adds the settings of a group. Returns how many could not be read, which are named on standard error. */
static guint add_group(GPtrArray *settings, GKeyFile *dump, const char *group, Schemas *schemas) {
  char **names = g_key_file_get_keys(dump, group, NULL, NULL);
  GHashTable *last = g_hash_table_new(g_str_hash, g_str_equal);
  guint left_out = 0;
  for (char **name = names; *name != NULL; name++) g_hash_table_replace(last, *name, *name);
  for (char **name = names; *name != NULL; name++) {
    if (g_hash_table_lookup(last, *name) != *name) {
      left_out++, g_printerr("left out %s in [%s]: it is set twice; the last value is used\n", *name, group);
      continue;
    }
    char *path = strcmp(group, "/") == 0 ? g_strconcat("/", *name, NULL) : g_strconcat("/", group, "/", *name, NULL);
    char *text = g_key_file_get_value(dump, group, *name, NULL);
    GError *error = NULL;
    gboolean is_misfit = FALSE;
    gboolean is_wrong = has_wrong_escape(text);
    GVariant *value = is_wrong ? NULL : parse(text, type_at(schemas, path), &is_misfit, &error);
    if (value != NULL) {
      Dumped *dumped = g_new(Dumped, 1);
      *dumped = (Dumped){ path, value, is_misfit };
      g_ptr_array_add(settings, dumped);
    } else {
      const char *reason = is_wrong ? "an escape is not a Unicode character" : reason_of(error);
      left_out++, g_printerr("left out %s: its value is not GVariant text: %s\n", path, reason);
      g_clear_error(&error), g_free(path);
    }
    g_free(text);
  }
  g_hash_table_unref(last);
  g_strfreev(names);
  return left_out;
}

GPtrArray *read_dump(const char *file, Schemas *schemas, guint *left_out, char **problem) {
  GError *error = NULL;
  GKeyFile *dump = g_key_file_new();
  GPtrArray *settings = g_ptr_array_new_with_free_func(free_dumped);
  char *text = contents_of(file, &error);
  /* Otherwise a name such as key[de] would be left out in another language. */
  GKeyFileFlags flags = G_KEY_FILE_KEEP_TRANSLATIONS;
  gboolean is_read = text != NULL && (*text == 0 || g_key_file_load_from_data(dump, text, -1, flags, &error));
  char **groups = g_key_file_get_groups(dump, NULL);
  *left_out = 0;
  for (char **group = groups; is_read && *group != NULL; group++)
    *left_out += add_group(settings, dump, *group, schemas);
  g_strfreev(groups);
  g_key_file_unref(dump);
  g_free(text);
  g_ptr_array_sort(settings, by_path);
  if (is_read) return settings;
  *problem = g_strdup_printf("%s cannot be read: %s; use the output of dconf dump /", file, error->message);
  g_error_free(error);
  g_ptr_array_unref(settings);
  return NULL;
}

void print_json(GPtrArray *dump) {
  for (guint i = 0; i < dump->len; i++) {
    Dumped *dumped = dump->pdata[i];
    char *key = key_of_path(dumped->path), *json = json_of_variant(dumped->value);
    GVariant *name = g_variant_ref_sink(g_variant_new_string(key));
    char *quoted = json_of_variant(name);
    /* Every other object at this place would make the text nested JSON for `kept import`, which splits those. */
    gboolean is_object = *json == '{' && !g_str_has_prefix(json, "{\"$");
    g_print("%s%s:%s%s%s", i == 0 ? "{" : ",\n", quoted, is_object ? "{\"$literal\":" : "", json, is_object ? "}" : "");
    g_variant_unref(name);
    g_free(quoted), g_free(json), g_free(key);
  }
  g_print(dump->len == 0 ? "{}\n" : "}\n");
}

/* The types that JSON most likely represents, where no schema says which. */
static const char *const natural_types[] = { "b", "i", "x", "t", "d", "s", "as", "ai", "ad", "ay", "aas", "a(ss)", "v",
  "a{ss}", "a{sv}" };

/* Whether a number, or one in a list, is a double: 5.0 could be read as an integer too. */
static gboolean has_double(json_object *tree) {
  gboolean is_found = json_object_is_type(tree, json_type_double);
  if (json_object_is_type(tree, json_type_array))
    for (size_t i = 0; !is_found && i < json_object_array_length(tree); i++)
      is_found = has_double(json_object_array_get_idx(tree, i));
  return is_found;
}

static GVariant *value_of(json_object *tree, const GVariantType *type) {
  /* A value that does not fit its schema was not set by GSettings, which ignores it. */
  if (type != NULL) return variant_of_tree(tree, type);
  GVariant *value = NULL;
  gboolean is_double = has_double(tree);
  for (gsize i = 0; value == NULL && i < G_N_ELEMENTS(natural_types); i++)
    if (!is_double || strpbrk(natural_types[i], "ixt") == NULL)
      value = variant_of_tree(tree, G_VARIANT_TYPE(natural_types[i]));
  return value;
}

/* Paths of one folder next to each other. */
static int by_folder(const void *a_, const void *b_) {
  const char *a = *(char *const *)a_, *b = *(char *const *)b_;
  const char *name = strrchr(a, '/') + 1, *other = strrchr(b, '/') + 1;
  gsize length = (gsize)(name - a), other_length = (gsize)(other - b);
  int order = strncmp(a, b, MIN(length, other_length));
  if (order != 0) return order;
  return length != other_length ? (length < other_length ? -1 : 1) : strcmp(name, other);
}

guint print_dump(json_object *values, Schemas *schemas) {
  guint left_out = 0;
  GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
  json_object_object_foreach(values, key, unused) {
    (void)unused;
    char *path = path_of_key(key);
    if (path != NULL) g_ptr_array_add(paths, path);
    else left_out++, g_printerr("left out %s: the key does not correspond to a path\n", key);
  }
  if (paths->len > 0) qsort(paths->pdata, paths->len, sizeof *paths->pdata, by_folder);
  char *last = NULL;
  for (guint i = 0; i < paths->len; i++) {
    const char *path = paths->pdata[i], *name = strrchr(path, '/') + 1;
    char *stored = key_of_path(path), *folder = g_strndup(path, (gsize)(name - path));
    GVariant *value = value_of(json_object_object_get(values, stored), type_at(schemas, path));
    char *text = value != NULL ? g_variant_print(value, TRUE) : NULL;
    if (text == NULL)
      left_out++,
        g_printerr("left out %s: %s\n", path,
          type_at(schemas, path) != NULL ? "its value does not have the schema's type"
                                         : "no schema defines it, and its value has no type in GSettings");
    else {
      gsize length = strlen(folder);
      if (g_strcmp0(last, folder) != 0)
        g_print("%s[%.*s]\n", last ? "\n" : "", length > 1 ? (int)length - 2 : 1, length > 1 ? folder + 1 : folder);
      g_print("%s=%s\n", name, text);
      g_free(last);
      last = g_strdup(folder);
    }
    if (value != NULL) g_variant_unref(value);
    g_free(text), g_free(folder), g_free(stored);
  }
  g_free(last);
  g_ptr_array_unref(paths);
  return left_out;
}
