/* The virtual functions of a GSettingsBackend.
 *
 * Kept calls an observer on a thread of its own. GLib hands what that thread announces to the main context of each
 * GSettings object, so no signal is emitted there: see forward(). */
#include "backend.h"

#include "changing.h"
#include "names.h"
#include "reading.h"

#include <kept_json.h>
#include <string.h>
#include <unistd.h>

/* A GSettings object aborts when it is told of 256 keys at once. */
enum { most_keys_at_once = 255 };

/* `settings` is exchanged, with `reopening` held, when the store was removed. `lock` guards the others. */
typedef struct {
  GSettingsBackend parent;
  OpenStore *settings;
  GMutex reopening;
  /* The former stores, closed at the end: other threads may be in it. */
  GSList *former;
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

static OpenStore *settings_of(GSettingsBackend *backend) { return g_atomic_pointer_get(&SELF(backend)->settings); }

static kept_store *store_of(GSettingsBackend *backend) { return handle_of(settings_of(backend)); }

/* A store that was removed, or that could not be opened again. */
static gboolean is_gone(kept_status status) { return status == KEPT_UNAVAILABLE || status == KEPT_CLOSED; }

static gboolean reopen(KeptSettingsBackend *self, OpenStore *gone, gboolean may_wait, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Reading
 * --------------------------------------------------------------------------------------------------------------- */

/* The store to read a path from, and the key there; NULL if no key can have the path. A store that was removed is
 * opened again. `is_there` receives whether any layer has a value. A declared default does not count: the schema has
 * one, perhaps a translated one. */
static char *find(GSettingsBackend *backend, const char *path, kept_store **store, bool *is_there) {
  OpenStore *settings = settings_of(backend);
  char *key = key_of_path(path);
  *is_there = false;
  *store = handle_of(settings);
  kept_status status = key != NULL ? kept_contains(*store, key, is_there, NULL) : KEPT_OK;
  if (is_gone(status) && reopen(SELF(backend), settings, TRUE, NULL)) {
    *store = store_of(backend);
    kept_contains(*store, key, is_there, NULL);
  }
  return key;
}

static GVariant *kept_read(
  GSettingsBackend *backend, const char *path, const GVariantType *type, gboolean wants_default) {
  static const char *const defaults[] = { "managed", "system", NULL };
  kept_store *store;
  bool is_there;
  char *key = find(backend, path, &store, &is_there);
  GVariant *value = NULL;
  if (is_there) value = wants_default ? read_layers(store, key, type, defaults) : read_effective(store, key, type);
  g_free(key);
  return value;
}

static GVariant *kept_read_user_value(GSettingsBackend *backend, const char *path, const GVariantType *type) {
  static const char *const user[] = { "user", NULL };
  kept_store *store;
  bool is_there;
  char *key = find(backend, path, &store, &is_there);
  GVariant *value = NULL;
  /* An explanation has no values of secrets, and takes longer. What the user has set below a lock counts. */
  if (is_there && is_of_user(store, key)) value = read_effective(store, key, type);
  else if (key != NULL) value = read_layers(store, key, type, user);
  g_free(key);
  return value;
}

/* A path that ends with a slash is writable if a key that stood there would be. */
static gboolean kept_get_writable(GSettingsBackend *backend, const char *path) {
  json_object *tree = NULL, *locked = NULL;
  OpenStore *settings = settings_of(backend);
  char *key = is_stand_in(settings) ? NULL : key_of_path(path);
  if (key == NULL) return FALSE;
  const char *asked = *key != 0 ? key : ".";
  kept_status status = kept_json_explain(handle_of(settings), asked, &tree, NULL);
  if (is_gone(status) && reopen(SELF(backend), settings, TRUE, NULL))
    kept_json_explain(store_of(backend), asked, &tree, NULL);
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
  /* The warning that a substitute cannot be changed was given when it was made. */
  if (status != KEPT_LOCKED && !is_stand_in(settings_of(backend))) {
    g_mutex_lock(&self->lock);
    gboolean is_new = status < 0 && self->reported != status;
    self->reported = status < 0 ? status : KEPT_OK;
    g_mutex_unlock(&self->lock);
    if (is_new) g_warning("A setting was not changed: %s", error->message);
  }
  return status >= 0;
}

/* Makes a change in the store that is open, if other programs find it there. */
static void try_to_make(Changing *changing, const char *path, GVariant *value, GTree *tree) {
  if (is_stand_in(changing->settings)) give_up(changing->settings);
  if (!is_in_place(changing->settings)) return;
  if (tree != NULL) change_all(changing, tree);
  else change_one(changing, path, value);
  /* Opened while the disk was full: it may have room now. */
  if (changing->status == KEPT_NO_SPACE && is_read_only(changing->settings)) give_up(changing->settings);
  /* The pulse is in place, but another file was removed: no program would find the change. */
  else if (changing->status == KEPT_UNAVAILABLE) give_up(changing->settings);
  /* A write into a store that was removed in between is lost. */
  else if (changing->status != KEPT_LOCKED && !is_in_place(changing->settings)) {
    changing->status = KEPT_UNAVAILABLE;
    changing->has_effect = FALSE;
  }
}

/* Makes a change. If the store is not at its location, or cannot be written, it is opened again, and the change made in
 * the one that is there now. Returns whether it was made. */
static gboolean make(GSettingsBackend *backend, Changing *changing, const char *path, GVariant *value, GTree *tree) {
  gboolean may_try = TRUE;
  for (int attempt = 0; may_try; attempt++) {
    *changing = (Changing){
      .settings = settings_of(backend), .status = KEPT_UNAVAILABLE, .error = { .message = "the store was removed" }
    };
    try_to_make(changing, path, value, tree);
    /* Once more only: it may be removed again and again. */
    may_try = changing->status < 0 && changing->status != KEPT_LOCKED && attempt == 0 &&
      reopen(SELF(backend), changing->settings, TRUE, &changing->error);
  }
  return check(backend, changing->status, &changing->error);
}

/* Announces keys below a path. */
static void announce(GSettingsBackend *backend, const char *path, const char **keys, gsize count, gpointer origin) {
  for (gsize start = 0; start < count; start += most_keys_at_once) {
    const char *some[most_keys_at_once + 1] = { NULL };
    memcpy(some, keys + start, MIN(count - start, most_keys_at_once) * sizeof *keys);
    g_settings_backend_keys_changed(backend, path, some, origin);
  }
}

static gboolean kept_write(GSettingsBackend *backend, const char *path, GVariant *value, gpointer origin) {
  Changing changing;
  gboolean is_made = make(backend, &changing, path, value, NULL);
  if (changing.has_effect) g_settings_backend_changed(backend, path, origin);
  return is_made;
}

static void kept_reset_path(GSettingsBackend *backend, const char *path, gpointer origin) {
  kept_write(backend, path, NULL, origin);
}

static gboolean kept_write_tree(GSettingsBackend *backend, GTree *tree, gpointer origin) {
  Changing changing;
  gboolean is_made = make(backend, &changing, NULL, NULL, tree);
  if (!changing.has_effect) return is_made;
  char *path;
  const char **keys;
  g_settings_backend_flatten_tree(tree, &path, &keys, NULL);
  announce(backend, path, keys, g_strv_length((char **)keys), origin);
  g_free(path), g_free(keys);
  return is_made;
}

/* Every change has reached all programs when it returned, and survives a crash of this one; this also makes it survive
 * that of the machine. */
static void kept_sync(GSettingsBackend *backend) {
  OpenStore *settings = settings_of(backend);
  kept_error error;
  kept_status status = kept_flush(handle_of(settings), &error);
  /* A new store has nothing to sync. */
  if (is_gone(status) && reopen(SELF(backend), settings, TRUE, &error)) return;
  check(backend, status, &error);
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

static GPrivate own_context = G_PRIVATE_INIT((GDestroyNotify)g_main_context_unref);

/* GLib would call objects of the default main context right here while no thread runs that context, if this thread had
 * no other. Each has one of its own, because only one thread at a time can own a context. */
static void push_own_context(void) {
  if (g_private_get(&own_context) == NULL) g_private_set(&own_context, g_main_context_new());
  g_main_context_push_thread_default(g_private_get(&own_context));
}

static void pop_own_context(void) { g_main_context_pop_thread_default(g_private_get(&own_context)); }

static void forward(void *self_, const kept_notice *notice) {
  KeptSettingsBackend *self = self_;
  uint32_t origin = kept_notice_origin(notice);
  /* Announced when it was written. */
  if (origin == KEPT_ORIGIN_STORE) return;
  push_own_context();
  if (origin == KEPT_ORIGIN_LAYER || origin == KEPT_ORIGIN_SEVERAL)
    g_settings_backend_path_writable_changed(&self->parent, "/");
  forward_changes(&self->parent, notice);
  pop_own_context();
}

/* Subscribes if there is no subscription. The lock is held. */
static kept_status observe(KeptSettingsBackend *self, OpenStore *settings, kept_error *error) {
  if (self->process != getpid()) self->subscription = NULL;
  self->process = getpid();
  if (self->subscription != NULL) return KEPT_OK;
  return kept_observe(handle_of(settings), "", KEPT_OBSERVE_PREFIX, forward, self, NULL, &self->subscription, error);
}

static void kept_subscribe(GSettingsBackend *backend, const char *path) {
  (void)path;
  KeptSettingsBackend *self = SELF(backend);
  OpenStore *settings = settings_of(backend);
  kept_error error = { .message = "" };
  g_mutex_lock(&self->lock);
  /* The first object makes it, and later ones try again. */
  self->subscribers++;
  kept_status status = observe(self, settings, &error);
  g_mutex_unlock(&self->lock);
  /* Opening the store again subscribes too. */
  if (is_gone(status) && reopen(self, settings, TRUE, &error)) return;
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
 * A store that was removed while the program runs
 * --------------------------------------------------------------------------------------------------------------- */

static void report(void *self_, OpenStore *settings, const kept_error *error);

static gpointer announce_everything(gpointer self_) {
  KeptSettingsBackend *self = self_;
  push_own_context();
  g_settings_backend_path_writable_changed(&self->parent, "/");
  g_settings_backend_path_changed(&self->parent, "/", NULL);
  pop_own_context();
  g_object_unref(self);
  return NULL;
}

/* The value of any setting may have changed. A thread of its own says so: g_settings_apply() holds a lock that is
 * taken for announcements of this kind. */
static void announce_everything_soon(KeptSettingsBackend *self) {
  GThread *thread = g_thread_try_new("kept-reopened", announce_everything, g_object_ref(self), NULL);
  if (thread != NULL) g_thread_unref(thread);
  else g_object_unref(self);
}

static void exchange(KeptSettingsBackend *self, OpenStore *settings) {
  kept_error error;
  kept_subscription *last = NULL;
  kept_status status = KEPT_OK;
  self->former = g_slist_prepend(self->former, self->settings);
  g_atomic_pointer_set(&self->settings, settings);
  g_mutex_lock(&self->lock);
  if (self->process == getpid()) last = self->subscription;
  self->subscription = NULL;
  if (self->subscribers > 0) status = observe(self, settings, &error);
  g_mutex_unlock(&self->lock);
  kept_unobserve(last);
  if (status < 0) check(&self->parent, status, &error);
}

/* Opens the store again if it was given up, or is not where it was: the next one at the location, or a new one. Returns
 * whether there is another one than `gone` now. */
static gboolean reopen(KeptSettingsBackend *self, OpenStore *gone, gboolean may_wait, kept_error *error) {
  if (is_in_place(gone)) return FALSE;
  /* A report while the store is opened comes here again, on the same thread. */
  if (may_wait) g_mutex_lock(&self->reopening);
  else if (!g_mutex_trylock(&self->reopening)) return FALSE;
  OpenStore *settings = NULL;
  gboolean was_read_only = !is_stand_in(gone) && is_read_only(gone);
  if (self->settings == gone) {
    settings = open_settings_again(gone, report, self, error);
    if (settings != NULL) exchange(self, settings);
  }
  gboolean is_another = self->settings != gone;
  g_mutex_unlock(&self->reopening);
  /* Where the disk is still full everything reads as before. A program that sets a value each time that it is told of
   * changes would never come to an end. */
  if (settings != NULL && !(was_read_only && is_read_only(settings))) announce_everything_soon(self);
  return is_another;
}

/* Reports that no call returns: a file of the administrator that is broken, or a store that cannot be followed any
 * more. */
static void report(void *self_, OpenStore *settings, const kept_error *error) {
  KeptSettingsBackend *self = self_;
  /* Users need not know which programs use old keys. */
  if (error->status == KEPT_DEPRECATED) return;
  if (error->status == KEPT_UNAVAILABLE && !is_in_place(settings)) reopen(self, settings, FALSE, NULL);
  else g_warning("%s", error->message);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The type
 * --------------------------------------------------------------------------------------------------------------- */

static void kept_settings_backend_init(KeptSettingsBackend *self) {
  g_mutex_init(&self->lock);
  g_mutex_init(&self->reopening);
  self->settings = open_settings_or_stand_in(report, self);
}

static void finalize(GObject *object) {
  KeptSettingsBackend *self = SELF(object);
  kept_unobserve(self->subscription);
  for (GSList *former = self->former; former != NULL; former = former->next) close_settings(former->data);
  g_slist_free(self->former);
  close_settings(self->settings);
  g_mutex_clear(&self->lock);
  g_mutex_clear(&self->reopening);
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
