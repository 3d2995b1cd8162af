#include "schemas.h"

#include <string.h>

struct Schemas {
  GTree *placed;           /* path: GSettingsSchemaKey */
  GHashTable *relocatable; /* name: GVariantType, or NULL if schemas differ */
};

static void unref_key(gpointer key) { g_settings_schema_key_unref(key); }

static int by_text(gconstpointer a, gconstpointer b, gpointer context) {
  (void)context;
  return strcmp(a, b);
}

static void place(Schemas *schemas, GSettingsSchema *schema, const char *path) {
  char **names = g_settings_schema_list_keys(schema);
  for (char **name = names; *name != NULL; name++)
    g_tree_insert(schemas->placed, g_strconcat(path, *name, NULL), g_settings_schema_get_key(schema, *name));
  g_strfreev(names);
}

static void note_types(Schemas *schemas, GSettingsSchema *schema) {
  char **names = g_settings_schema_list_keys(schema);
  for (char **name = names; *name != NULL; name++) {
    GSettingsSchemaKey *key = g_settings_schema_get_key(schema, *name);
    const GVariantType *type = g_settings_schema_key_get_value_type(key);
    gpointer known = NULL;
    gboolean is_known = g_hash_table_lookup_extended(schemas->relocatable, *name, NULL, &known);
    if (!is_known || (known != NULL && !g_variant_type_equal(known, type)))
      g_hash_table_insert(schemas->relocatable, g_strdup(*name), is_known ? NULL : g_variant_type_copy(type));
    g_settings_schema_key_unref(key);
  }
  g_strfreev(names);
}

static void free_type(gpointer type) {
  if (type != NULL) g_variant_type_free(type);
}

Schemas *read_schemas(void) {
  Schemas *schemas = g_new0(Schemas, 1);
  schemas->placed = g_tree_new_full(by_text, NULL, g_free, unref_key);
  schemas->relocatable = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_type);
  GSettingsSchemaSource *source = g_settings_schema_source_get_default();
  if (source == NULL) return schemas;
  char **lists[2];
  g_settings_schema_source_list_schemas(source, TRUE, &lists[0], &lists[1]);
  for (int list = 0; list < 2; list++) {
    for (char **id = lists[list]; *id != NULL; id++) {
      GSettingsSchema *schema = g_settings_schema_source_lookup(source, *id, TRUE);
      const char *path = g_settings_schema_get_path(schema);
      if (path != NULL) place(schemas, schema, path);
      else note_types(schemas, schema);
      g_settings_schema_unref(schema);
    }
    g_strfreev(lists[list]);
  }
  return schemas;
}

void free_schemas(Schemas *schemas) {
  g_tree_unref(schemas->placed);
  g_hash_table_unref(schemas->relocatable);
  g_free(schemas);
}

gboolean place_schema(Schemas *schemas, const char *id, const char *path) {
  GSettingsSchemaSource *source = g_settings_schema_source_get_default();
  GSettingsSchema *schema = source != NULL ? g_settings_schema_source_lookup(source, id, TRUE) : NULL;
  gboolean is_relocatable = schema != NULL && g_settings_schema_get_path(schema) == NULL;
  if (is_relocatable) place(schemas, schema, path);
  if (schema != NULL) g_settings_schema_unref(schema);
  return is_relocatable;
}

typedef struct {
  void (*call)(gpointer, const char *, GSettingsSchemaKey *);
  gpointer context;
} Caller;

static gboolean call_next(gpointer path, gpointer key, gpointer caller_) {
  Caller *caller = caller_;
  caller->call(caller->context, path, key);
  return FALSE;
}

void each_placed_key(Schemas *schemas, void (*call)(gpointer, const char *, GSettingsSchemaKey *), gpointer context) {
  g_tree_foreach(schemas->placed, call_next, &(Caller){ call, context });
}

const GVariantType *type_at(Schemas *schemas, const char *path) {
  GSettingsSchemaKey *key = g_tree_lookup(schemas->placed, path);
  if (key != NULL) return g_settings_schema_key_get_value_type(key);
  return g_hash_table_lookup(schemas->relocatable, strrchr(path, '/') + 1);
}
