/* The virtual functions of a GSettingsBackend.
 *
 * Kept calls an observer on a thread of its own. GLib hands what that thread announces to the main context of each
 * GSettings object, so no signal is emitted there: see forward(). */
#include "backend.h"

#include "names.h"
#include "opening.h"
#include "values.h"

#include <json-c/json.h>
#include <kept.h>
#include <string.h>
#include <unistd.h>

/* A GSettings object aborts when it is told of 256 keys at once. */
enum { most_keys_at_once = 255 };

/* `store` and `context` stay what they are from construction on; `lock` guards the others. Without a store, everything
 * is locked; see open_store_or_memory(). */
typedef struct {
  GSettingsBackend parent;
  kept_store *store;
  GMainContext *context;
  GMutex lock;
  guint subscribers;
  kept_subscription *subscription;
  /* The process that has subscribed: a forked child's copy of the subscription receives nothing. */
  pid_t process;
  /* The last failure that was reported, so that a full disk gives one warning. */
  kept_status reported;
} KeptSettingsBackend;

typedef struct {
  GSettingsBackendClass parent;
} KeptSettingsBackendClass;

G_DEFINE_DYNAMIC_TYPE(KeptSettingsBackend, kept_settings_backend, G_TYPE_SETTINGS_BACKEND)

#define SELF(object) ((KeptSettingsBackend *)(object))

/* ------------------------------------------------------------------------------------------------------------------
 * Reading
 * --------------------------------------------------------------------------------------------------------------- */

static GVariant *read_text(kept_store *store, const char *key) {
  char buffer[512];
  size_t length;
  if (kept_get_string(store, key, buffer, sizeof buffer, &length, NULL) != KEPT_OK) return NULL;
  return strlen(buffer) == length ? g_variant_new_string(buffer) : NULL;
}

static GVariant *read_json(kept_store *store, const char *key, const GVariantType *type) {
  char *json = NULL;
  if (kept_get_json(store, key, &json, NULL) != KEPT_OK) return NULL;
  GVariant *value = variant_of_json(json, type);
  kept_free(json);
  return value;
}

/* The value of the highest layer; the most frequent types without JSON. */
static GVariant *read_effective(kept_store *store, const char *key, const GVariantType *type) {
  bool truth, is_there = false;
  int64_t number;
  double real;
  GVariant *value = NULL;
  /* A declared default does not count: the schema has one, perhaps a translated one. */
  if (kept_contains(store, key, &is_there, NULL) != KEPT_OK || !is_there) return NULL;
  switch (*g_variant_type_peek_string(type)) {
    case 'b':
      if (kept_get_bool(store, key, &truth, NULL) == KEPT_OK) value = g_variant_new_boolean(truth);
      break;
    case 'i':
      if (kept_get_int64(store, key, &number, NULL) == KEPT_OK && number >= G_MININT32 && number <= G_MAXINT32)
        value = g_variant_new_int32((gint32)number);
      break;
    case 'u':
      if (kept_get_int64(store, key, &number, NULL) == KEPT_OK && number >= 0 && number <= G_MAXUINT32)
        value = g_variant_new_uint32((guint32)number);
      break;
    case 'd':
      if (kept_get_double(store, key, &real, NULL) == KEPT_OK) value = g_variant_new_double(real);
      break;
    case 's': value = read_text(store, key); break;
    default: break;
  }
  return value != NULL ? g_variant_take_ref(value) : read_json(store, key, type);
}

/* What kept_explain_json() says; NULL if it says nothing. Freed with json_object_put(). */
static json_object *explain(kept_store *store, const char *key) {
  char *json = NULL;
  if (kept_explain_json(store, key, &json, NULL) != KEPT_OK) return NULL;
  json_object *tree = tree_of_json(json);
  kept_free(json);
  return tree;
}

/* The value of the highest of some layers that has one of the type. */
static GVariant *read_layers(kept_store *store, const char *key, const GVariantType *type, const char *const *names) {
  json_object *tree = explain(store, key), *layers = NULL;
  GVariant *found = NULL;
  gsize count = json_object_object_get_ex(tree, "layers", &layers) ? json_object_array_length(layers) : 0;
  for (gsize i = 0; found == NULL && i < count; i++) {
    json_object *layer = json_object_array_get_idx(layers, i), *name = NULL, *value = NULL;
    if (json_object_object_get_ex(layer, "layer", &name) && json_object_object_get_ex(layer, "value", &value) &&
      g_strv_contains(names, json_object_get_string(name)))
      found = variant_of_tree(value, type);
  }
  json_object_put(tree);
  return found;
}

static GVariant *kept_read(
  GSettingsBackend *backend, const char *path, const GVariantType *type, gboolean wants_default) {
  static const char *const defaults[] = { "managed", "system", NULL };
  char *key = key_of_path(path);
  if (key == NULL) return NULL;
  GVariant *value = wants_default ? read_layers(SELF(backend)->store, key, type, defaults)
                                  : read_effective(SELF(backend)->store, key, type);
  g_free(key);
  return value;
}

static gboolean is_of_user(kept_store *store, const char *key) {
  uint32_t layer;
  return kept_layer_of(store, key, &layer, NULL) == KEPT_OK && layer == KEPT_LAYER_USER;
}

static GVariant *kept_read_user_value(GSettingsBackend *backend, const char *path, const GVariantType *type) {
  static const char *const user[] = { "user", NULL };
  kept_store *store = SELF(backend)->store;
  char *key = key_of_path(path);
  if (key == NULL) return NULL;
  /* An explanation has no values of secrets, and takes longer. */
  GVariant *value = is_of_user(store, key) ? read_effective(store, key, type) : read_layers(store, key, type, user);
  g_free(key);
  return value;
}

/* A path that ends with a slash is writable if a key that stood there would be. */
static gboolean kept_get_writable(GSettingsBackend *backend, const char *path) {
  char *key = key_of_path(path);
  if (key == NULL || SELF(backend)->store == NULL) return g_free(key), FALSE;
  json_object *tree = explain(SELF(backend)->store, *key != 0 ? key : "."), *locked = NULL;
  gboolean is_writable = !json_object_object_get_ex(tree, "locked", &locked) || !json_object_get_boolean(locked);
  json_object_put(tree);
  g_free(key);
  return is_writable;
}

static GPermission *kept_get_permission(GSettingsBackend *backend, const char *path) {
  return g_simple_permission_new(kept_get_writable(backend, path));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Writing: a change is announced with its origin before the call returns
 * --------------------------------------------------------------------------------------------------------------- */

static gboolean check(GSettingsBackend *backend, kept_status status, const kept_error *error) {
  KeptSettingsBackend *self = SELF(backend);
  if (status != KEPT_LOCKED && self->store != NULL) {
    g_mutex_lock(&self->lock);
    gboolean is_new = status < 0 && self->reported != status;
    self->reported = status < 0 ? status : KEPT_OK;
    g_mutex_unlock(&self->lock);
    if (is_new) g_warning("A setting was not changed: %s", error->message);
  }
  return status >= 0;
}

static kept_status set(kept_store *store, const char *key, GVariant *value, kept_error *error) {
  if (g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
    return kept_set_bool(store, key, g_variant_get_boolean(value), error);
  if (g_variant_is_of_type(value, G_VARIANT_TYPE_INT32))
    return kept_set_int64(store, key, g_variant_get_int32(value), error);
  if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING)) {
    gsize length;
    const char *text = g_variant_get_string(value, &length);
    return kept_set_string(store, key, text, length, error);
  }
  char *json = json_of_variant(value);
  kept_status status = kept_set_json(store, key, json, error);
  g_free(json);
  return status;
}

/* Sets the value of a path, or resets it if there is none. */
static kept_status change(kept_store *store, const char *path, GVariant *value, kept_error *error) {
  char *key = key_of_path(path);
  if (key == NULL) return KEPT_INVALID;
  kept_status status = value != NULL ? set(store, key, value, error) : kept_reset(store, key, error);
  g_free(key);
  return status;
}

/* Whether the user has set just this, or nothing if `value` is NULL: then dconf announces no change either. */
static gboolean is_there(kept_store *store, const char *path, GVariant *value) {
  char *key = key_of_path(path);
  uint64_t revision;
  gboolean is_same = FALSE;
  if (key != NULL && value == NULL) is_same = kept_revision_of(store, key, &revision, NULL) == KEPT_ABSENT;
  else if (key != NULL) {
    GVariant *present = read_effective(store, key, g_variant_get_type(value));
    is_same = present != NULL && g_variant_equal(present, value) && is_of_user(store, key);
    if (present != NULL) g_variant_unref(present);
  }
  g_free(key);
  return is_same;
}

static gboolean kept_write(GSettingsBackend *backend, const char *path, GVariant *value, gpointer origin) {
  kept_error error = { .message = "" };
  kept_store *store = SELF(backend)->store;
  if (is_there(store, path, value)) return TRUE;
  if (!check(backend, change(store, path, value, &error), &error)) return FALSE;
  g_settings_backend_changed(backend, path, origin);
  return TRUE;
}

static void kept_reset_path(GSettingsBackend *backend, const char *path, gpointer origin) {
  kept_write(backend, path, NULL, origin);
}

/* A change of several settings, and how far it has come. */
typedef struct {
  kept_store *store, *transaction;
  gboolean has_effect;
  kept_status status;
  kept_error error;
} Changing;

static gboolean change_next(gpointer path, gpointer value, gpointer changing_) {
  Changing *changing = changing_;
  changing->status = change(changing->transaction, path, value, &changing->error);
  return changing->status < 0;
}

static gboolean compare_next(gpointer path, gpointer value, gpointer changing_) {
  Changing *changing = changing_;
  return changing->has_effect = !is_there(changing->store, path, value);
}

static void change_all(GTree *tree, Changing *changing) {
  changing->status = kept_begin(changing->store, NULL, &changing->transaction, &changing->error);
  if (changing->status < 0) return;
  g_tree_foreach(tree, change_next, changing);
  if (changing->status < 0) kept_rollback(changing->transaction);
  else changing->status = kept_commit(changing->transaction, NULL, &changing->error);
}

/* Announces keys below a path. */
static void announce(GSettingsBackend *backend, const char *path, const char **keys, gsize count, gpointer origin) {
  for (gsize start = 0; start < count; start += most_keys_at_once) {
    const char *some[most_keys_at_once + 1] = { NULL };
    memcpy(some, keys + start, MIN(count - start, most_keys_at_once) * sizeof *keys);
    g_settings_backend_keys_changed(backend, path, some, origin);
  }
}

static gboolean kept_write_tree(GSettingsBackend *backend, GTree *tree, gpointer origin) {
  Changing changing = { .store = SELF(backend)->store, .status = KEPT_CONFLICT };
  g_tree_foreach(tree, compare_next, &changing);
  if (!changing.has_effect) return TRUE;
  /* Another program may change the same keys meanwhile: then this is the later one. */
  for (int attempt = 0; attempt < 100 && changing.status == KEPT_CONFLICT; attempt++) change_all(tree, &changing);
  if (!check(backend, changing.status, &changing.error)) return FALSE;
  char *path;
  const char **keys;
  g_settings_backend_flatten_tree(tree, &path, &keys, NULL);
  announce(backend, path, keys, g_strv_length((char **)keys), origin);
  g_free(path), g_free(keys);
  return TRUE;
}

/* Every change has reached all programs when it returned, and survives a crash of this one; this also makes it survive
 * that of the machine. */
static void kept_sync(GSettingsBackend *backend) {
  kept_error error;
  check(backend, kept_flush(SELF(backend)->store, &error), &error);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Observing: one subscription to everything, so that no object hears twice of a change below two observed paths
 * --------------------------------------------------------------------------------------------------------------- */

/* A program that sets `a.` or `a..b` means no setting, and GSettings would read beyond the end of its name. */
static gboolean may_be_a_setting(const char *path) {
  return strstr(path, "//") == NULL && !g_str_has_suffix(path, "/");
}

static void forward_changes(GSettingsBackend *backend, const kept_notice *notice) {
  GPtrArray *paths = g_ptr_array_new_with_free_func(g_free), *keys = g_ptr_array_new();
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    char *path = path_of_key(kept_notice_key(notice, i));
    if (path == NULL) continue;
    g_ptr_array_add(paths, path);
    if (may_be_a_setting(path)) g_ptr_array_add(keys, path + 1);
  }
  announce(backend, "/", (const char **)keys->pdata, keys->len, NULL);
  g_ptr_array_free(keys, TRUE);
  g_ptr_array_free(paths, TRUE);
}

static void forward(void *self_, const kept_notice *notice) {
  KeptSettingsBackend *self = self_;
  uint32_t origin = kept_notice_origin(notice);
  /* Announced when it was written. */
  if (origin == KEPT_ORIGIN_STORE) return;
  /* GLib would call objects of the default main context right here while no thread runs that context, if this thread
   * had no other. */
  g_main_context_push_thread_default(self->context);
  if (origin == KEPT_ORIGIN_LAYER || origin == KEPT_ORIGIN_SEVERAL)
    g_settings_backend_path_writable_changed(&self->parent, "/");
  forward_changes(&self->parent, notice);
  g_main_context_pop_thread_default(self->context);
}

static void kept_subscribe(GSettingsBackend *backend, const char *path) {
  (void)path;
  KeptSettingsBackend *self = SELF(backend);
  kept_error error = { .message = "" };
  kept_status status = KEPT_OK;
  g_mutex_lock(&self->lock);
  /* The first object makes it, and later ones try again. */
  self->subscribers++;
  if (self->process != getpid()) self->subscription = NULL;
  self->process = getpid();
  if (self->subscription == NULL)
    status = kept_observe(self->store, "", KEPT_OBSERVE_PREFIX, forward, self, NULL, &self->subscription, &error);
  g_mutex_unlock(&self->lock);
  check(backend, status, &error);
}

static void kept_unsubscribe(GSettingsBackend *backend, const char *path) {
  (void)path;
  KeptSettingsBackend *self = SELF(backend);
  kept_subscription *last = NULL;
  g_mutex_lock(&self->lock);
  if (--self->subscribers == 0) {
    last = self->subscription;
    self->subscription = NULL;
  }
  g_mutex_unlock(&self->lock);
  kept_unobserve(last);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The type
 * --------------------------------------------------------------------------------------------------------------- */

static void kept_settings_backend_init(KeptSettingsBackend *self) {
  g_mutex_init(&self->lock);
  self->context = g_main_context_new();
  self->store = open_store_or_memory();
}

static void finalize(GObject *object) {
  KeptSettingsBackend *self = SELF(object);
  kept_unobserve(self->subscription);
  kept_close(self->store);
  g_main_context_unref(self->context);
  g_mutex_clear(&self->lock);
  G_OBJECT_CLASS(kept_settings_backend_parent_class)->finalize(object);
}

static void kept_settings_backend_class_init(KeptSettingsBackendClass *class) {
  GSettingsBackendClass *functions = &class->parent;
  functions->read = kept_read;
  functions->read_user_value = kept_read_user_value;
  functions->get_writable = kept_get_writable;
  functions->get_permission = kept_get_permission;
  functions->write = kept_write;
  functions->write_tree = kept_write_tree;
  functions->reset = kept_reset_path;
  functions->sync = kept_sync;
  functions->subscribe = kept_subscribe;
  functions->unsubscribe = kept_unsubscribe;
  G_OBJECT_CLASS(class)->finalize = finalize;
}

static void kept_settings_backend_class_finalize(KeptSettingsBackendClass *class) { (void)class; }

void kept_settings_backend_register(GTypeModule *module) {
  kept_settings_backend_register_type(module);
  /* Below dconf's 100: used without being asked only where dconf is not installed. */
  g_io_extension_point_implement(G_SETTINGS_BACKEND_EXTENSION_POINT_NAME, KEPT_TYPE_SETTINGS_BACKEND, "kept", 50);
}
