/* GSettings on dconf: an object that is kept for each section of 1,000 keys, for GSettings wants each key in a schema.
 *
 * Its set only queues: this process sees the value at once, others when the service has written its whole file anew,
 * and a kill may lose it. A set that must be durable waits for that. */
#include "gsettings.h"

#include "complaint.h"
#include "engine.h"
#include "session.h"

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "/org/example/bench/"
#define INTEGERS "org.example.bench.integers"
#define TEXTS "org.example.bench.texts"
#define SECTIONS 100
#define SECTION_KEYS 1000
#define NAME "setting-%03d"

typedef struct session {
  bool durable;
  GSettings *integers[SECTIONS], *texts[SECTIONS];   /* made at first use */
  char names[SECTION_KEYS][16];   /* likewise */
} session;

/* ------------------------------------------------------------------------------------------------------------------
 * Schemas
 * --------------------------------------------------------------------------------------------------------------- */

static void add_schema(GString *list, const char *name, const char *type, const char *value) {
  g_string_append_printf(list, "<schema id='%s'>", name);
  for (int key = 0; key < SECTION_KEYS; key++) {
    g_string_append_printf(list, "<key name='" NAME "' type='%s'><default>%s</default></key>", key, type, value);
  }
  g_string_append(list, "</schema>");
}

void enter_gsettings_session(const char *folder, char **arguments) {
  GString *list = g_string_new("");
  add_schema(list, INTEGERS, "x", "0");
  add_schema(list, TEXTS, "s", "''");
  enter_session(folder, arguments, list->str);
  g_string_free(list, TRUE);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The store: dconf has one for each session, wherever the folder is
 * --------------------------------------------------------------------------------------------------------------- */

/* As `dconf reset -f` does. */
static void create(const char *folder) {
  (void)folder;
  expect_dconf();
  GError *error = NULL;
  GVariant *nothing = g_variant_new_maybe(G_VARIANT_TYPE_VARIANT, NULL);
  GVariant *entry = g_variant_new_dict_entry(g_variant_new_string(ROOT), nothing);
  GVariant *change = g_variant_ref_sink(g_variant_new_array(NULL, &entry, 1));
  GVariant *bytes = g_variant_new_from_data(G_VARIANT_TYPE_BYTESTRING, g_variant_get_data(change),
                                            g_variant_get_size(change), TRUE, NULL, NULL);
  GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
  GVariant *answer = !bus ? NULL
    : g_dbus_connection_call_sync(bus, "ca.desrt.dconf", "/ca/desrt/dconf/Writer/user", "ca.desrt.dconf.Writer",
        "Change", g_variant_new_tuple(&bytes, 1), NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
  if (!answer) complain("dconf cannot reset: %s", error->message);
  g_variant_unref(answer);
  g_variant_unref(change);
  g_object_unref(bus);
}

static void *open_store(const char *folder, bool durable) {
  (void)folder;
  session *opened = calloc(1, sizeof *opened);
  if (!opened) complain("no memory");
  opened->durable = durable;
  return opened;
}

static void close_store(void *store) { free(store); }

static void *join(void *store) { return store; }

static void settle(void *session) {
  (void)session;
  g_settings_sync();
}

static void leave(void *session_) {
  session *session = session_;
  settle(session);
  for (int section = 0; section < SECTIONS; section++) {
    g_clear_object(&session->integers[section]);
    g_clear_object(&session->texts[section]);
  }
}

static GSettings *object_at(GSettings **objects, const char *schema, int section) {
  if (!objects[section]) {
    char path[sizeof ROOT + 16];
    snprintf(path, sizeof path, ROOT "section-%03d/", section);
    objects[section] = g_settings_new_with_path(schema, path);
  }
  return objects[section];
}

/* The key "section-012.setting-012345" is setting-345 of the object of section 12. */
static int number_at(const char *digits) {
  return (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
}

static GSettings *object_of(session *session, const key *key, size_t length) {
  int section = number_at(key->text + sizeof "section-" - 1);
  return length ? object_at(session->texts, TEXTS, section) : object_at(session->integers, INTEGERS, section);
}

static const char *name_of(session *session, const key *key) {
  int number = number_at(key->text + key->length - 3);
  char *name = session->names[number];
  if (!*name) snprintf(name, sizeof *session->names, NAME, number);
  return name;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Operations
 * --------------------------------------------------------------------------------------------------------------- */

static void get_next(session *session, walk *walk) {
  const key *key = walk_next(walk);
  GSettings *object = object_of(session, key, walk->length);
  const char *name = name_of(session, key);
  if (!walk->length) {
    int64_t integer = g_settings_get_int64(object, name);
    if (!integer) complain("GSettings lacks %s", name);
    walk->sum += (uint64_t)integer;
    return;
  }
  char *text = g_settings_get_string(object, name);
  size_t length = strlen(text);
  if (length != walk->length) complain("GSettings has a text of %zu bytes", length);
  walk->sum += length + (unsigned char)text[0];
  g_free(text);
}

static void get(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) get_next(session, walk);
}

static GSettings *set_next(session *session, walk *walk) {
  const key *key = walk_next(walk);
  GSettings *object = object_of(session, key, walk->length);
  const char *name = name_of(session, key);
  if (!(walk->length ? g_settings_set_string(object, name, walk_text(walk))
                     : g_settings_set_int64(object, name, ++walk->stamp))) complain("GSettings cannot set %s", name);
  return object;
}

static void set(void *session_, walk *walk) {
  session *session = session_;
  for (size_t step = 0; step < walk->steps; step++) {
    set_next(session, walk);
    if (session->durable) settle(session);
  }
}

/* One change of dconf's, for the keys of a transaction are all of one section. */
static void set_together(void *session_, walk *walk) {
  session *session = session_;
  GSettings *object = object_of(session, &walk->ring[walk->at], walk->length);
  g_settings_delay(object);
  for (size_t step = 0; step < walk->steps; step++) {
    if (set_next(session, walk) != object) complain("a transaction of GSettings is about one section");
  }
  g_settings_apply(object);
}

const engine gsettings = {
  .name = "GSettings", .library = g_settings_new,
  .create = create, .open = open_store, .join = join, .leave = leave, .close = close_store,
  .get = get, .set = set, .set_together = set_together, .settle = settle,
};
