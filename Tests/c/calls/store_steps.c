/* Steps that open, close, begin, end, copy, migrate and restore. */
#include "calls.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/** A text from the caller: valid, NULL, empty, or not UTF-8. */
static const char *next_name(script *script, const char *right) {
  uint8_t byte = next_byte(script);
  return byte < 140 ? NULL : byte < 230 ? right : byte < 240 ? "" : byte < 250 ? "\xFF" : next_key(script);
}

static size_t next_struct_size(script *script, size_t right) {
  static const size_t wrong[] = { 0, 8, 15, 16, 4096, 4097, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1 };
  uint8_t byte = next_byte(script);
  return byte < 230 ? right : wrong[byte % (sizeof wrong / sizeof *wrong)];
}

static void report(void *context, const kept_error *error) {
  (void)context;
  must(error->status != KEPT_OK && memchr(error->message, 0, sizeof error->message) != NULL, "a report has a sentence");
  must(is_text(error->message, strlen(error->message)), "a report is UTF-8");
}

static uint32_t next_timeout(script *script) {
  static const uint32_t timeouts[] = { 5000, 0, 1, 50, UINT32_MAX, UINT32_MAX - 1, INT32_MAX, (uint32_t)INT32_MAX + 1 };
  return timeouts[next_byte(script) % (sizeof timeouts / sizeof *timeouts)];
}

/** As large as an options struct can claim to be, with zeros behind it. */
typedef union options {
  kept_options options;
  kept_transaction_options transaction;
  kept_transfer_options transfer;
  char all[4096];
} options;

static const kept_options *next_options(script *script, options *out) {
  static const char *const argv[] = { "program", "-a", "5", "-p.a", "\xFF", "-", NULL };
  static const size_t counts[] = { 3, 6, 0, 1, 7, 8, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1 };
  kept_options initial = KEPT_OPTIONS_INIT;
  if (rarely(script, 2)) return NULL;
  memset(out, 0, sizeof *out);
  out->options = initial;
  out->options.size = next_struct_size(script, sizeof initial);
  out->options.durability = next_flags(script, 1) & (rarely(script, 4) ? UINT32_MAX : KEPT_SHARED);
  out->options.busy_timeout_ms = next_timeout(script);
  out->options.delivery = next_flags(script, 1);
  out->options.access = rarely(script, 32) ? UINT32_MAX : rarely(script, 8) ? KEPT_READ_ONLY : KEPT_READ_WRITE;
  out->options.tag = next_name(script, "calls");
  out->options.managed = rarely(script, 8) ? next_name(script, "./managed.json") : NULL;
  out->options.system = rarely(script, 8) ? next_name(script, "./managed.json") : NULL;
  out->options.environment = next_name(script, "CALLS_");
  out->options.report = rarely(script, 4) ? NULL : report;
  if (rarely(script, 4)) {
    out->options.argv = rarely(script, 8) ? NULL : argv;
    out->options.argc = counts[next_byte(script) % (sizeof counts / sizeof *counts)];
  }
  return &out->options;
}

/** Damage must exist before the store is opened. */
static void prepare(const char *location) {
  if (location == NULL || strcmp(location, "./broken") != 0 || mkdir("broken", 0700) != 0) return;
  FILE *file = fopen("broken/values", "w");
  if (file == NULL) return;
  fputs("KeptVals", file);
  for (int i = 0; i < 8192; i++) fputc(i * 7 & 0xFF, file);
  fclose(file);
}

static void open_store(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = NULL;
  options memory;
  const kept_options *options = next_options(script, &memory);
  const char *location = next_location(script);
  prepare(location);
  if (TRY(error, kept_open, location, options, rarely(script, 32) ? NULL : &store) >= 0) keep_store(script, store);
}

static void close_store(script *script) { NOTE(kept_close), kept_close(next_ending(script)); }

static void flush(script *script) {
  kept_error *error = next_error(script);
  TRY(error, kept_flush, next_handle(script));
}

static void salvaged(script *script) {
  kept_error *error = next_error(script);
  char *path = NULL, **to = rarely(script, 16) ? NULL : &path;
  kept_store *store = next_handle(script);
  if (TRY(error, kept_salvaged, store, to) >= 0) take_text(path);
  if (rarely(script, 3)) TRY(error, kept_acknowledge_salvage, store);
}

static void look(script *script) {
  const uint64_t *word = (NOTE(kept_store_generation), kept_store_generation(next_handle(script)));
  if (word != NULL) (void)__atomic_load_n(word, __ATOMIC_ACQUIRE);
  word = (NOTE(kept_store_layers), kept_store_layers(next_handle(script)));
  if (word != NULL) (void)__atomic_load_n(word, __ATOMIC_ACQUIRE);
  must((NOTE(kept_version), kept_version())[0] != 0, "there is a version");
  const char *text = (NOTE(kept_status_text), kept_status_text((kept_status)next_integer(script)));
  must(text != NULL && text[0] != 0, "every status has a name");
  NOTE(kept_free), kept_free(NULL);
}

/* Transactions and snapshots */

static void begin(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script), *transaction = NULL;
  options memory;
  kept_transaction_options initial = KEPT_TRANSACTION_OPTIONS_INIT, *given = NULL;
  if (rarely(script, 2)) {
    memset(&memory, 0, sizeof memory);
    given = &memory.transaction;
    *given = initial;
    given->size = next_struct_size(script, sizeof initial);
    given->durability = rarely(script, 2) ? next_flags(script, 1) : KEPT_AS_OPENED;
    given->tag = next_name(script, "transaction");
  }
  bool has_place = !rarely(script, 32);
  if (TRY(error, kept_begin, store, given, has_place ? &transaction : NULL) >= 0) keep_store(script, transaction);
}

static void commit(script *script) {
  kept_error *error = next_error(script);
  uint64_t revision = 0, *to = rarely(script, 8) ? NULL : &revision;
  TRY(error, kept_commit, next_ending(script), to);
}

static void rollback(script *script) { NOTE(kept_rollback), kept_rollback(next_ending(script)); }

static void snapshot(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script), *made = NULL;
  bool has_place = !rarely(script, 32);
  if (TRY(error, kept_snapshot, store, next_prefix(script), has_place ? &made : NULL) >= 0) keep_store(script, made);
  store = next_handle(script), made = NULL;
  uint64_t revision = next_word(script) % 64;
  if (TRY(error, kept_snapshot_at, store, next_prefix(script), revision, &made) >= 0) keep_store(script, made);
}

static void end_snapshot(script *script) { NOTE(kept_snapshot_end), kept_snapshot_end(next_ending(script)); }

static void revision(script *script) {
  kept_error *error = next_error(script);
  uint64_t found = 0, *to = rarely(script, 16) ? NULL : &found;
  TRY(error, kept_store_revision, next_handle(script), to);
}

/* Callbacks */

/** Runs some of the next steps inside a callback. A step that runs again after the end of the script does nothing. */
static void act(script *script, kept_store *store) {
  if (script->depth >= 2 || script->place >= script->count) return;
  script->depth++;
  if (store != NULL) {
    kept_error *error = next_error(script);
    const char *key = next_key(script);
    TRY(error, kept_set_int64, store, key, next_integer(script));
    TRY(error, kept_commit, store, NULL);
    NOTE(kept_rollback), kept_rollback(store);
  }
  for (int i = next_byte(script) % 3; i > 0; i--) value_steps[next_byte(script) % value_count](script);
  if (rarely(script, 4)) store_steps[next_byte(script) % store_count](script);
  script->depth--;
}

static int receive_progress(void *context, uint64_t done, uint64_t total) {
  script *script = context;
  must(done <= total, "no more is done than there is");
  if (script->place >= script->count) return 0;
  if (rarely(script, 16)) act(script, NULL);
  return rarely(script, 16);
}

static kept_status migrate_step(void *context, kept_store *transaction, kept_error *error) {
  static const kept_status answers[] = {
    KEPT_OK,
    KEPT_OK,
    KEPT_OK,
    KEPT_SHADOWED,
    KEPT_FAILED,
    KEPT_ABSENT,
    KEPT_BUSY,
  };
  script *script = context;
  act(script, transaction);
  kept_status answer = answers[next_byte(script) % (sizeof answers / sizeof *answers)];
  if (rarely(script, 2)) error->status = answer;
  /* No message, one that ends, or one that is not UTF-8. */
  if (rarely(script, 4)) memset(error->message, next_byte(script), sizeof error->message);
  return answer;
}

static void migrate(script *script) {
  static const size_t absurd[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX / 40, 65537 };
  kept_error own, *error = rarely(script, 8) ? NULL : &own;
  kept_store *store = next_handle(script);
  kept_migration steps[3];
  char *backup = NULL, **to = rarely(script, 3) ? NULL : &backup;
  uint32_t result = 0, *out = rarely(script, 8) ? NULL : &result;
  uint32_t flags = next_flags(script, 15), version = rarely(script, 8) ? UINT32_MAX - 1 : next_byte(script) % 4;
  for (int i = 0; i < 3; i++) {
    version += rarely(script, 8) ? UINT32_MAX : 1;
    kept_migration step = { version, rarely(script, 32), "a step", migrate_step, script };
    if (rarely(script, 32)) step.name = next_key(script);
    if (rarely(script, 32)) step.run = NULL;
    steps[i] = step;
  }
  size_t count = next_byte(script) % 4;
  if (rarely(script, 6)) count = absurd[next_byte(script) % (sizeof absurd / sizeof *absurd)];
  bool has_steps = !rarely(script, 16);
  kept_status status = TRY(error, kept_migrate, store, has_steps ? steps : NULL, count, flags, out, to);
  must(result <= KEPT_MIGRATED_READ_ONLY, "an outcome is one of kept.h's");
  if (status >= 0 && backup != NULL) take_text(backup);
}

static void schema_version(script *script) {
  kept_error *error = next_error(script);
  uint32_t version = 0, *to = rarely(script, 16) ? NULL : &version;
  TRY(error, kept_schema_version, next_handle(script), to);
}

/* Files */

static const kept_transfer_options *next_transfer(script *script, options *memory) {
  kept_transfer_options initial = KEPT_TRANSFER_OPTIONS_INIT, *out = &memory->transfer;
  memset(memory, 0, sizeof *memory);
  *out = initial;
  if (rarely(script, 3)) return NULL;
  out->size = next_struct_size(script, sizeof initial);
  out->flags = next_flags(script, 127);
  out->prefix = next_name(script, "p.");
  out->separator = next_name(script, ".");
  out->progress = rarely(script, 2) ? receive_progress : NULL;
  out->progress_context = script;
  return out;
}

static void export_store(script *script) {
  kept_error own, *error = rarely(script, 8) ? NULL : &own;
  kept_store *store = next_handle(script);
  options memory;
  const kept_transfer_options *options = next_transfer(script, &memory);
  char *json = NULL, **to = rarely(script, 16) ? NULL : &json;
  if (rarely(script, 2)) TRY(error, kept_export_file, store, next_path(script), options);
  else if (TRY(error, kept_export_json, store, options, to) >= 0) take_text(json);
}

static const char *next_text(script *script) {
  static const char *const texts[] = {
    "{\"kept\":1,\"prefix\":\"\",\"revision\":18446744073709551615,\"values\":{\"a\":1,\"b\":\"x\"}}",
    "{\"kept\":1,\"prefix\":\"\",\"schemaVersion\":4294967295,\"values\":{}}",
    "{\"kept\":9223372036854775807}",
    "[section]\na = 1\nb = 'text'\n",
    "[/]\na=uint64 18446744073709551615\nb=[1, -9223372036854775808]\n",
    "A_A=1\nA_B=\"$x\"\n",
    "<plist><dict><key>a</key><integer>-9223372036854775808</integer></dict></plist>",
    "{ a = 1; b = <0fbd77>; }",
    "{\"a\":{\"b\":1e308}}",
    ("bplist00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
     "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
  };
  uint8_t byte = next_byte(script);
  return byte < 200 ? texts[byte % (sizeof texts / sizeof *texts)] : next_json(script);
}

static void import_text(script *script) {
  kept_error own, *error = rarely(script, 8) ? NULL : &own;
  kept_store *store = next_handle(script);
  options memory;
  const kept_transfer_options *options = next_transfer(script, &memory);
  char *report = NULL, **to = rarely(script, 8) ? NULL : &report;
  const char *text = next_text(script);
  size_t length = next_length(script, text ? strlen(text) : 0, 1 << 30);
  if (TRY(error, kept_import, store, text, length, options, to) >= 0 && report != NULL) take_text(report);
}

static void import_file(script *script) {
  kept_error own, *error = rarely(script, 8) ? NULL : &own;
  kept_store *store = next_handle(script);
  options memory;
  const kept_transfer_options *options = next_transfer(script, &memory);
  char *report = NULL;
  kept_status status = TRY(error, kept_import_file, store, next_path(script), options, &report);
  if (status >= 0 && report != NULL) take_text(report);
}

static void declare_file(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  TRY(error, kept_declare_file, store, next_path(script));
}

static void backup(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  uint64_t revision = 0, *to = rarely(script, 8) ? NULL : &revision;
  uint32_t flags = next_flags(script, KEPT_BACKUP_REPLACE);
  TRY(error, kept_backup, store, next_path(script), flags, to);
}

static void restore(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *quarantine = NULL, **to = rarely(script, 4) ? NULL : &quarantine;
  const char *words = rarely(script, 8) ? "words" : NULL;
  if (TRY(error, kept_restore, store, next_path(script), words, to) >= 0 && quarantine != NULL) take_text(quarantine);
}

static void verify(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *json = NULL, **to = rarely(script, 8) ? NULL : &json;
  if (TRY(error, kept_verify_json, store, NULL, NULL, to) >= 0) take_text(json);
}

static void history(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  uint32_t flags = next_flags(script, KEPT_HISTORY_PREFIX);
  char *json = NULL, **to = rarely(script, 8) ? NULL : &json;
  if (TRY(error, kept_history_json, store, next_key(script), flags, to) >= 0) take_text(json);
}

static void undo(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  char *keys = NULL, **to = rarely(script, 8) ? NULL : &keys;
  if (TRY(error, kept_undo, store, next_byte(script) % 16, NULL, to) >= 0 && keys != NULL) take_text(keys);
}

static void limit_history(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  static const char *const limits[] = { "{}", "{\"changes\":0}", "{\"changes\":3,\"changesPerKey\":2}",
    "{\"days\":-1}" };
  const char *json_limits = rarely(script, 4) ? next_json(script) : limits[next_byte(script) % 4];
  TRY(error, kept_set_history_limits, store, json_limits);
  char *json = NULL, **to = rarely(script, 8) ? NULL : &json;
  if (TRY(error, kept_history_limits_json, store, to) >= 0) take_text(json);
}

const step store_steps[] = {
  open_store,
  open_store,
  close_store,
  flush,
  salvaged,
  look,
  begin,
  begin,
  commit,
  commit,
  rollback,
  snapshot,
  end_snapshot,
  revision,
  migrate,
  migrate,
  schema_version,
  export_store,
  import_text,
  import_text,
  import_file,
  declare_file,
  backup,
  restore,
  verify,
  history,
  undo,
  limit_history,
};
const size_t store_count = sizeof store_steps / sizeof *store_steps;
