/* Steps that read, write, list, declare and explain. */
#include "calls.h"

#include <string.h>

/* No value of a script is longer, so this buffer holds each of them, whatever capacity the call gives. */
static char buffer[room];

static void get_bool(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  bool out = true, *to = rarely(script, 16) ? NULL : &out;
  TRY(error, kept_get_bool, store, next_key(script), to);
}

static void set_bool(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  TRY(error, kept_set_bool, store, next_key(script), next_byte(script) & 1);
}

static void get_int64(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  int64_t out = 42, *to = rarely(script, 16) ? NULL : &out;
  kept_status status = TRY(error, kept_get_int64, store, next_key(script), to);
  must(status >= 0 || out == 42, "an out argument is left alone by a call that fails");
}

static void set_int64(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *key = next_key(script);
  TRY(error, kept_set_int64, store, key, next_integer(script));
}

static void get_uint64(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  uint64_t out = 0, *to = rarely(script, 16) ? NULL : &out;
  TRY(error, kept_get_uint64, store, next_key(script), to);
}

static void set_uint64(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *key = next_key(script);
  TRY(error, kept_set_uint64, store, key, (uint64_t)next_integer(script));
}

static void get_double(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  double out = 0, *to = rarely(script, 16) ? NULL : &out;
  TRY(error, kept_get_double, store, next_key(script), to);
}

static void set_double(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *key = next_key(script);
  TRY(error, kept_set_double, store, key, next_double(script));
}

static void get_date(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  int64_t seconds = 0;
  int32_t nanoseconds = 0;
  bool lacks_one = rarely(script, 16), lacks_other = rarely(script, 16);
  kept_status status =
    TRY(error, kept_get_date, store, next_key(script), lacks_one ? NULL : &seconds, lacks_other ? NULL : &nanoseconds);
  must(status < 0 || (nanoseconds >= 0 && nanoseconds <= 999999999), "nanoseconds are 0 to 999,999,999");
}

static void set_date(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *key = next_key(script);
  int64_t seconds = next_integer(script);
  TRY(error, kept_set_date, store, key, seconds, (int32_t)next_integer(script));
}

/** The arguments for an output buffer: memory and its size, or NULL and any size. */
static char *next_buffer(script *script, size_t *capacity) {
  if (rarely(script, 16)) return *capacity = next_size(script), NULL;
  *capacity = rarely(script, 2) ? next_size(script) : sizeof buffer;
  return buffer;
}

static void get_string(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *key = next_key(script);
  size_t capacity, length = 0, *to = rarely(script, 8) ? NULL : &length;
  char *out = next_buffer(script, &capacity);
  kept_status status = TRY(error, kept_get_string, store, key, out, capacity, to);
  if (status < 0 || out == NULL || to == NULL) return;
  must(length < capacity && out[length] == 0 && is_text(out, length), "text fits, is UTF-8 and ends with a NUL");
}

static void set_string(script *script) {
  static char own[300];
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *text = rarely(script, 8) ? (next_bytes(script, own, 250), own) : next_json(script);
  const char *key = next_key(script);
  TRY(error, kept_set_string, store, key, text, next_length(script, text ? strlen(text) : 0, 16 << 20));
}

static void get_bytes(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *key = next_key(script);
  size_t capacity, length = 0, *to = rarely(script, 8) ? NULL : &length;
  char *out = next_buffer(script, &capacity);
  TRY(error, kept_get_bytes, store, key, out, capacity, to);
}

static void set_bytes(script *script) {
  static char own[300];
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  size_t count = next_bytes(script, own, 250);
  bool is_none = rarely(script, 8);
  const char *key = next_key(script);
  size_t length = next_length(script, is_none ? 0 : count, 16 << 20);
  TRY(error, kept_set_bytes, store, key, is_none ? NULL : own, length);
}

/* JSON */

static void get_json(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_get_json, store, next_key(script), to) >= 0) take_text(json);
}

static void set_json(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *json = next_json(script);
  TRY(error, kept_set_json, store, next_key(script), json);
}

static void set_json_if(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *key = next_key(script), *json = next_json(script);
  uint64_t revision = 0, *to = rarely(script, 8) ? NULL : &revision;
  TRY(error, kept_set_json_if, store, key, json, (uint64_t)next_integer(script), to);
}

/* Prepared keys */

static void prepare(script *script) {
  /* A prepared key takes memory until the process ends, so there are few. */
  static const char *const keys[] = { "a", "p.a", "flag", "text", "unused", "", NULL, "\xFF" };
  kept_error *error = next_error(script);
  const kept_key *key = NULL, **to = rarely(script, 16) ? NULL : &key;
  kept_status status = TRY(error, kept_key_prepare, keys[next_byte(script) % (sizeof keys / sizeof *keys)], to);
  if (status >= 0) script->keys[next_byte(script) % most_keys] = key;
}

static void get_prepared(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const kept_key *key = script->keys[next_byte(script) % most_keys];
  bool flag, is_none = rarely(script, 16);
  int64_t integer;
  double number;
  size_t capacity, length;
  char *out = next_buffer(script, &capacity);
  TRY(error, kept_key_get_bool, store, key, is_none ? NULL : &flag);
  TRY(error, kept_key_get_int64, store, key, is_none ? NULL : &integer);
  TRY(error, kept_key_get_double, store, key, is_none ? NULL : &number);
  TRY(error, kept_key_get_string, store, key, out, capacity, is_none ? NULL : &length);
}

/* Keys */

static void contains(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  bool out = false, *to = rarely(script, 16) ? NULL : &out;
  TRY(error, kept_contains, store, next_key(script), to);
}

static void remove_key(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  TRY(error, kept_remove, store, next_key(script));
}

static void revision_of(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  uint64_t revision = 0, *to = rarely(script, 16) ? NULL : &revision;
  TRY(error, kept_revision_of, store, next_key(script), to);
}

static int receive_key(void *context, const char *key) {
  script *script = context;
  must(key != NULL && is_text(key, strlen(key)), "a key is UTF-8");
  if (script->place >= script->count) return 0;
  if (script->depth == 0 && rarely(script, 4)) {
    script->depth++;
    value_steps[next_byte(script) % value_count](script);
    script->depth--;
  }
  return rarely(script, 8);
}

static void list(script *script) {
  kept_error own, *error = script->depth > 0 ? next_error(script) : rarely(script, 8) ? NULL : &own;
  kept_store *store = next_handle(script);
  const char *prefix = next_prefix(script);
  TRY(error, kept_list, store, prefix, rarely(script, 16) ? NULL : receive_key, script);
}

static void list_json(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_list_json, store, next_prefix(script), to) >= 0) take_text(json);
}

static void reset(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  TRY(error, kept_reset, store, next_key(script));
}

static void remove_all(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  size_t removed = 0, *to = rarely(script, 8) ? NULL : &removed;
  TRY(error, kept_remove_all, store, next_prefix(script), to);
}

static void rename_key(script *script) {
  static char to[64];
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *key = next_key(script);
  bool is_none = rarely(script, 16);
  strncpy(to, rarely(script, 2) ? "p.a" : "b", sizeof to - 1);
  TRY(error, kept_rename, store, key, is_none ? NULL : to);
}

/* Declarations and layers */

static void declare(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *schema = next_schema(script);
  TRY(error, kept_declare_json, store, next_key(script), schema);
}

static void declare_list(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  TRY(error, kept_declare_list, store, next_list(script));
}

static void undeclare(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  TRY(error, kept_undeclare, store, next_key(script));
}

static void declaration(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_declaration_json, store, next_key(script), to) >= 0) take_text(json);
}

static void declarations(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_declarations_json, store, next_prefix(script), to) >= 0) take_text(json);
}

static void explain(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_explain_json, store, next_key(script), to) >= 0) take_text(json);
}

static void layer_of(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  uint32_t layer = 0, *to = rarely(script, 16) ? NULL : &layer;
  TRY(error, kept_layer_of, store, next_key(script), to);
  must(layer <= KEPT_LAYER_MANAGED, "a layer is one that kept.h lists");
}

static void register_defaults(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  const char *json = rarely(script, 2) ? next_json(script) : "{\"a\":1,\"unused\":null}";
  TRY(error, kept_register_json, store, json);
}

static void place(script *script) {
  kept_error *error = next_error(script);
  static const char *const locations[] = { "memory:", "dir:", "com.example.a", "/no/such", "", "a b", "etcd:x", NULL };
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_place_json, locations[next_byte(script) % 8], to) >= 0) take_text(json);
}

static void processes(script *script) {
  kept_error *error = next_error(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_processes_json, rarely(script, 8) ? "/dev/shm" : "/no/such", to) >= 0) take_text(json);
}

static void findings(script *script) {
  kept_error *error = next_error(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  const char *location = rarely(script, 8) ? "memory:" : rarely(script, 4) ? NULL : "/no/such";
  if (TRY(error, kept_findings_json, location, NULL, NULL, NULL, to) >= 0) take_text(json);
}

static void verify_files(script *script) {
  kept_error *error = next_error(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_verify_files_json, next_location(script), to) >= 0) take_text(json);
}

static void places(script *script) {
  kept_error *error = next_error(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_places_json, rarely(script, 8) ? "/dev/shm" : "/no/such", to) >= 0) take_text(json);
}

static void secrets(script *script) {
  static const char *const requests[] = {
    NULL,
    "{}",
    "{\"do\":\"plain\"}",
    "{\"do\":\"rotate\"}",
    "{\"do\":\"add\",\"provider\":{\"kind\":\"file\"}}",
  };
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  size_t choice = next_byte(script) % (sizeof requests / sizeof *requests);
  const char *request = rarely(script, 8) ? next_json(script) : requests[choice];
  if (TRY(error, kept_secrets_json, store, request, to) >= 0) take_text(json);
}

static void layer_files(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (TRY(error, kept_layer_files_json, store, to) >= 0) take_text(json);
}

static void layer_check(script *script) {
  kept_error *error = next_error(script);
  const char *json = rarely(script, 2) ? next_json(script) : "{\"values\":{\"a\":1}}";
  uint32_t layer = next_byte(script) % 9;
  TRY(error, kept_layer_check, json, json ? strlen(json) : 1, layer);
}

static const char *next_type(script *script) {
  static const char *const types[] = { "integer", "string", "bytes", "date", "boolean", "array", "wrong", NULL };
  return types[next_byte(script) % 8];
}

static void text_to_json(script *script) {
  kept_error *error = next_error(script);
  size_t length = next_bytes(script, buffer, 64);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  const char *type = next_type(script);
  if (TRY(error, kept_text_to_json, rarely(script, 16) ? NULL : buffer, length, type, to) >= 0) take_text(json);
}

static void json_to_text(script *script) {
  kept_error *error = next_error(script);
  const char *json = next_json(script), *type = next_type(script);
  char *text = NULL, **to = rarely(script, 16) ? NULL : &text;
  if (TRY(error, kept_json_to_text, json, type, to) >= 0) take_text(text);
}

static void differences(script *script) {
  kept_error *error = next_error(script);
  kept_store *old = rarely(script, 8) ? NULL : next_handle(script), *changed = next_handle(script);
  const char *file = rarely(script, 8) ? "./export.json" : NULL;
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  uint32_t flags = next_flags(script, 1);
  if (TRY(error, kept_differences_json, old, file, changed, NULL, flags, to) >= 0) take_text(json);
}

static void display(script *script) {
  kept_error *error = next_error(script);
  size_t length = next_bytes(script, buffer, 64);
  char *displayed = NULL, **to = rarely(script, 16) ? NULL : &displayed;
  uint32_t form = next_byte(script) % 4;
  if (TRY(error, kept_display_text, rarely(script, 16) ? NULL : buffer, length, form, to) >= 0) take_text(displayed);
}

static void display_cut(script *script) {
  kept_error *error = next_error(script);
  size_t length = next_bytes(script, buffer, 64), used = 0;
  char *cut = NULL, **to = rarely(script, 16) ? NULL : &cut;
  size_t columns = rarely(script, 8) ? SIZE_MAX : next_byte(script) % 32;
  if (TRY(error, kept_display_cut, rarely(script, 16) ? NULL : buffer, length, columns, to, &used) < 0) return;
  must(used <= columns, "a text takes no more columns than it may");
  take_text(cut);
}

const step value_steps[] = {
  get_bool,
  set_bool,
  get_int64,
  set_int64,
  get_uint64,
  set_uint64,
  get_double,
  set_double,
  get_date,
  set_date,
  get_string,
  set_string,
  get_bytes,
  set_bytes,
  get_json,
  set_json,
  set_json_if,
  prepare,
  get_prepared,
  contains,
  remove_key,
  revision_of,
  list,
  list_json,
  reset,
  remove_all,
  rename_key,
  declare,
  declare_list,
  undeclare,
  declaration,
  declarations,
  explain,
  layer_of,
  register_defaults,
  place,
  places,
  processes,
  findings,
  verify_files,
  secrets,
  layer_files,
  layer_check,
  text_to_json,
  json_to_text,
  differences,
  display,
  display_cut,
};
const size_t value_count = sizeof value_steps / sizeof *value_steps;
