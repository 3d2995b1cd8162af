/* GSettings on dconf. It needs each key in a schema, and aborts the program when 256 keys of one object change at once:
 * here there is one object for each section of 250 keys.
 *
 * Its set is only queued: this process sees the value at once, others when the service has rewritten its whole file,
 * and a kill may lose it. A durable set waits for that. */
#include "gsettings.h"

#include "backend.h"
#include "fatal.h"
#include "engine.h"
#include "session.h"

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "/org/example/bench/"
#define INTEGERS "org.example.bench.integers"
#define TEXTS "org.example.bench.texts"
#define SECTIONS 400
#define SECTION_KEYS 250
#define PATH_SIZE 96
#define SECTION ROOT "section-%03zu/"
#define NAME_SIZE 32
#define NAME "setting-%03zu"

typedef struct session {
  bool durable;
  GSettings *integers[SECTIONS], *texts[SECTIONS]; /* created at first use */
  char names[SECTION_KEYS][NAME_SIZE];             /* likewise */
} session;

/* ------------------------------------------------------------------------------------------------------------------
 * Schemas
 * --------------------------------------------------------------------------------------------------------------- */

static void add_schema(GString *list, const char *name, const char *type, const char *value) {
  g_string_append_printf(list, "<schema id='%s'>", name);
  for (size_t key = 0; key < SECTION_KEYS; key++) {
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

/* Sends the service the same request as dconf's own programs: paths, each with a value or none. */
static void change(GVariant *entries) {
  g_variant_ref_sink(entries);
  GVariant *bytes = g_variant_new_from_data(
    G_VARIANT_TYPE_BYTESTRING, g_variant_get_data(entries), g_variant_get_size(entries), TRUE, NULL, NULL);
  GError *error = NULL;
  GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
  GVariant *answer = !bus
    ? NULL
    : g_dbus_connection_call_sync(bus, "ca.desrt.dconf", "/ca/desrt/dconf/Writer/user", "ca.desrt.dconf.Writer",
        "Change", g_variant_new_tuple(&bytes, 1), NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
  if (!answer) die("dconf cannot change: %s", error->message);
  g_variant_unref(answer);
  g_variant_unref(entries);
  g_object_unref(bus);
}

/* As `dconf reset -f` does. */
static void create(const char *folder) {
  (void)folder;
  expect_backend();
  change(g_variant_new_parsed("@a{smv} {'" ROOT "': nothing}"));
}

static void *open_store(const char *folder, bool durable) {
  (void)folder;
  session *opened = calloc(1, sizeof *opened);
  if (!opened) die("no memory");
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
  for (size_t section = 0; section < SECTIONS; section++) {
    g_clear_object(&session->integers[section]);
    g_clear_object(&session->texts[section]);
  }
}

static GSettings *object_at(GSettings **object, const char *schema, size_t section) {
  if (!*object) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, SECTION, section);
    *object = g_settings_new_with_path(schema, path);
  }
  return *object;
}

static const char *name_at(char *name, size_t number) {
  if (!*name) snprintf(name, NAME_SIZE, NAME, number);
  return name;
}

/* A key in GSettings. */
typedef struct entry {
  GSettings *object;
  const char *name;
} entry;

/* "section-012.setting-012345" is number 12345: setting-095 of section 49. */
static size_t next_number(walk *walk) {
  const key *key = walk_next(walk);
  size_t number = 0;
  for (const char *digit = key->text + key->length - 6; *digit; digit++) number = number * 10 + (size_t)(*digit - '0');
  if (number >= SECTIONS * SECTION_KEYS) die("GSettings has no schema for %s", key->text);
  return number;
}

static entry next_entry(session *session, walk *walk) {
  size_t number = next_number(walk), section = number / SECTION_KEYS, within = number % SECTION_KEYS;
  return (entry){ walk->length ? object_at(&session->texts[section], TEXTS, section)
                               : object_at(&session->integers[section], INTEGERS, section),
    name_at(session->names[within], within) };
}

/* ------------------------------------------------------------------------------------------------------------------
 * Operations
 * --------------------------------------------------------------------------------------------------------------- */

static void get_text(entry entry, walk *walk) {
  char *text = g_settings_get_string(entry.object, entry.name);
  size_t length = strlen(text);
  if (length != walk->length) die("GSettings has a text of %zu bytes", length);
  walk->sum += length + (unsigned char)text[0];
  g_free(text);
}

/* For an unset key GSettings returns the default, which is never written here. */
static void get_integer(entry entry, walk *walk) {
  int64_t integer = g_settings_get_int64(entry.object, entry.name);
  if (integer == 0) die("GSettings lacks %s", entry.name);
  walk->sum += (uint64_t)integer;
}

static void get(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) {
    entry entry = next_entry(session, walk);
    if (walk->length) get_text(entry, walk);
    else get_integer(entry, walk);
  }
}

static void set_next(entry entry, walk *walk) {
  gboolean done = walk->length ? g_settings_set_string(entry.object, entry.name, walk_text(walk))
                               : g_settings_set_int64(entry.object, entry.name, ++walk->stamp);
  if (!done) die("GSettings cannot set %s", entry.name);
}

static void set(void *session_, walk *walk) {
  session *session = session_;
  for (size_t step = 0; step < walk->steps; step++) {
    set_next(next_entry(session, walk), walk);
    if (session->durable) settle(session);
  }
}

/* As `dconf load` does: GSettings cannot commit changes of more than one object. */
static void set_together(void *session, walk *walk) {
  (void)session;
  GVariantBuilder entries;
  g_variant_builder_init(&entries, G_VARIANT_TYPE("a{smv}"));
  for (size_t step = 0; step < walk->steps; step++) {
    size_t number = next_number(walk);
    char path[PATH_SIZE + NAME_SIZE];
    snprintf(path, sizeof path, SECTION NAME, number / SECTION_KEYS, number % SECTION_KEYS);
    GVariant *value = walk->length ? g_variant_new_string(walk_text(walk)) : g_variant_new_int64(++walk->stamp);
    g_variant_builder_add(&entries, "{smv}", path, value);
  }
  change(g_variant_builder_end(&entries));
  /* It replies before it sends the change signals, and a program that starts before them would receive one for each
   * key: wait. */
  change(g_variant_new_parsed("@a{smv} {}"));
}

const engine gsettings = {
  .name = "GSettings",
  .library = g_settings_new,
  .create = create,
  .open = open_store,
  .join = join,
  .leave = leave,
  .close = close_store,
  .get = get,
  .set = set,
  .set_together = set_together,
  .settle = settle,
};
