/* Observers that receive trees: kept_json_observe(). */
#include "json_text.h"

#include <stdlib.h>

typedef struct observer {
  kept_json_callback callback;
  void *context;
  void (*release)(void *context);
} observer;

/* Reads one side of a change; it may have no value, or memory may be too short for its text. */
static kept_status read_side(const char *text, const kept_value *there, json_object **value) {
  if (text == NULL) return there == NULL ? KEPT_OK : KEPT_FAILED;
  return json_tree_of(text, value, NULL);
}

static void free_changes(kept_json_change *changes, size_t count) {
  for (size_t i = 0; changes != NULL && i < count; i++) {
    json_object_put(changes[i].old_value);
    json_object_put(changes[i].new_value);
  }
  free(changes);
}

/* All changes of a notice as separate trees; NULL if memory is short. */
static kept_json_change *changes_of(const kept_notice *notice, size_t count) {
  kept_json_change *changes = calloc(count + 1, sizeof *changes);
  kept_status status = KEPT_OK;
  for (size_t i = 0; changes != NULL && status == KEPT_OK && i < count; i++) {
    changes[i].key = kept_notice_key(notice, i);
    status = read_side(kept_notice_old_json(notice, i), kept_notice_old(notice, i), &changes[i].old_value);
    if (status == KEPT_OK) {
      status = read_side(kept_notice_new_json(notice, i), kept_notice_new(notice, i), &changes[i].new_value);
    }
  }
  if (status == KEPT_OK) return changes;
  free_changes(changes, count);
  return NULL;
}

static void deliver(void *context, const kept_notice *notice) {
  const observer *receiver = context;
  size_t count = kept_notice_count(notice);
  kept_json_change *changes = changes_of(notice, count);
  receiver->callback(receiver->context, notice, changes, count);
  free_changes(changes, count);
}

static void end(void *context) {
  observer *ending = context;
  if (ending->release != NULL) ending->release(ending->context);
  free(ending);
}

kept_status kept_json_observe(kept_store *store, const char *key, uint32_t flags, kept_json_callback callback,
  void *context, void (*release)(void *context), kept_subscription **subscription, kept_error *error) {
  if (callback == NULL) return refuse(error, KEPT_INVALID, "the argument \"callback\" must not be NULL");
  observer *made = malloc(sizeof *made);
  if (made == NULL) return refuse(error, KEPT_FAILED, "not enough memory for the subscription; free some memory");
  *made = (observer){ callback, context, release };
  kept_status status = kept_observe(store, key, flags, deliver, made, end, subscription, error);
  if (status < 0) free(made);
  return status;
}
