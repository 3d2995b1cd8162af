/* What the parts of the interpreter share: the script, the objects that it has created, the arguments that it chooses,
 * and the checks of results. */
#ifndef CALLS_H
#define CALLS_H

#include <kept.h>
#include <stdbool.h>

#include "script.h"

/* Every function of kept.h: those that return a status, and the others. */
// clang-format off
#define EACH_ANSWER(X) \
  X(kept_open) X(kept_flush) X(kept_salvaged) X(kept_acknowledge_salvage) X(kept_get_json) X(kept_set_json) \
  X(kept_set_json_if) X(kept_get_bool) X(kept_set_bool) X(kept_get_int64) X(kept_set_int64) X(kept_get_uint64) \
  X(kept_set_uint64) X(kept_get_double) X(kept_set_double) X(kept_get_date) X(kept_set_date) X(kept_get_string) \
  X(kept_set_string) X(kept_get_bytes) X(kept_set_bytes) X(kept_declare_json) X(kept_declare_list) \
  X(kept_declare_file) X(kept_undeclare) X(kept_declaration_json) X(kept_declarations_json) X(kept_explain_json) \
  X(kept_layer_of) X(kept_register_json) X(kept_key_prepare) X(kept_key_get_bool) X(kept_key_get_int64) \
  X(kept_key_get_double) X(kept_key_get_string) X(kept_contains) X(kept_remove) X(kept_revision_of) X(kept_list) \
  X(kept_list_json) X(kept_begin) X(kept_commit) X(kept_snapshot) X(kept_snapshot_at) \
  X(kept_store_revision) X(kept_reset) X(kept_remove_all) \
  X(kept_export_json) X(kept_export_file) X(kept_import) X(kept_import_file) X(kept_backup) \
  X(kept_history_json) X(kept_undo) X(kept_set_history_limits) X(kept_history_limits_json) \
  X(kept_restore) X(kept_verify_json) X(kept_schema_version) X(kept_migrate) X(kept_rename) X(kept_observe) \
  X(kept_store_fd) \
  X(kept_store_dispatch) X(kept_subscription_fd) X(kept_subscription_dispatch) X(kept_subscription_take) \
  X(kept_value_bool) X(kept_value_int64) X(kept_value_uint64) X(kept_value_double) X(kept_value_date) \
  X(kept_value_string) X(kept_value_bytes) X(kept_display_text) X(kept_display_cut) \
  X(kept_secrets_json) X(kept_layer_files_json) X(kept_layer_check) \
  X(kept_text_to_json) X(kept_json_to_text) X(kept_place_json) X(kept_places_json) \
  X(kept_processes_json) X(kept_findings_json) X(kept_verify_files_json) X(kept_differences_json)
#define EACH_OTHER(X) \
  X(kept_version) X(kept_status_text) X(kept_free) X(kept_close) X(kept_store_generation) X(kept_store_layers) \
  X(kept_rollback) X(kept_snapshot_end) X(kept_unobserve) X(kept_notice_free) X(kept_notice_revision) \
  X(kept_notice_first_revision) X(kept_notice_origin) X(kept_notice_tag) X(kept_notice_may_have_missed) \
  X(kept_notice_count) X(kept_notice_time) \
  X(kept_notice_key) X(kept_notice_old_json) X(kept_notice_new_json) X(kept_notice_layer) X(kept_notice_secret) \
  X(kept_notice_old) X(kept_notice_new)
// clang-format on

#define CALL_NUMBER(name) of_##name,
enum { EACH_ANSWER(CALL_NUMBER) answers, first_other = answers - 1, EACH_OTHER(CALL_NUMBER) all_calls };

/* Checks. The error is the last argument, as in every function; callbacks on other threads have their own. */
#define TRY(error, name, ...) judge(of_##name, name(__VA_ARGS__, prepared(error)), (error))
#define NOTE(name) note_call(of_##name)

/** Fills an error, if there is one, with a pattern that shows whether it was written to. */
kept_error *prepared(kept_error *error);
/** Counts the result, and aborts unless the status and the error are as kept.h documents. @return the status */
kept_status judge(int call, kept_status status, const kept_error *error);
void note_call(int call);
/** Aborts with a message if a guarantee of kept.h does not hold. */
void must(bool holds, const char *promise);
/** Whether bytes are UTF-8. */
bool is_text(const char *bytes, size_t count);
/** Reads text that Kept returned, and frees it. */
void take_text(char *text);

enum { most_stores = 8, most_subscriptions = 6, most_notices = 4, most_keys = 2, room = 1 << 16 };

typedef struct script {
  const uint8_t *bytes;
  size_t count, place;
  kept_store *stores[most_stores]; /* stores, transactions and snapshots, open or closed */
  bool ended[most_stores];         /* those that a step has ended, as far as is known */
  size_t next_store;
  kept_subscription *subscriptions[most_subscriptions];
  size_t next_subscription;
  kept_notice *notices[most_notices]; /* taken, and not freed yet */
  const kept_key *keys[most_keys];
  long begun, released; /* subscriptions with a `release` */
  int depth;            /* of callbacks */
  kept_error error;
} script;

/* Arguments. A text that is created is valid until the next one is created. */
uint8_t next_byte(script *script);
uint64_t next_word(script *script);
/** True one time in `times`. */
bool rarely(script *script, unsigned times);
kept_error *next_error(script *script);
kept_store *next_handle(script *script);
/** A store that is about to be ended. */
kept_store *next_ending(script *script);
kept_subscription *next_subscription(script *script);
const char *next_key(script *script);
const char *next_prefix(script *script);
const char *next_json(script *script);
const char *next_schema(script *script);
const char *next_list(script *script);
const char *next_location(script *script);
const char *next_path(script *script);
int64_t next_integer(script *script);
double next_double(script *script);
/** Any number, usually an invalid one. */
size_t next_size(script *script);
/** A length within a text of `count` bytes, or one so large that Kept must not read any of it. */
size_t next_length(script *script, size_t count, size_t most);
uint32_t next_flags(script *script, uint32_t known);
/** Up to `most` of the next bytes of the script, and a NUL. */
size_t next_bytes(script *script, char *out, size_t most);
void keep_store(script *script, kept_store *store);

/* Calls. Each takes its arguments from the script. */
typedef void (*step)(script *script);
extern const step value_steps[], store_steps[], notice_steps[];
extern const size_t value_count, store_count, notice_count;

/** Calls every function that reads a notice. On any thread. */
void read_notice(const kept_notice *notice);

#endif
