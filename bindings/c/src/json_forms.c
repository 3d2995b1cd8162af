/* The kinds that JSON lacks. Kept itself converts them, in a transaction on a memory store that is never committed, so
 * that there is one implementation of base64, of the calendar and of the conversion rules. */
#define _XOPEN_SOURCE 700
#include "json_text.h"

#include <pthread.h>
#include <stdlib.h>

static const char key[] = "value";
static kept_store *scratch;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/** A transaction for one conversion; ended with kept_rollback(). NULL if memory is short. */
static kept_store *begin(void) {
  kept_store *place = NULL;
  /* If memory is short, the next call opens it. */
  pthread_mutex_lock(&opening);
  if (scratch == NULL) (void)kept_open("memory:", NULL, &scratch, NULL);
  pthread_mutex_unlock(&opening);
  return kept_begin(scratch, NULL, &place, NULL) == KEPT_OK ? place : NULL;
}

/** Writes a tree in a transaction of its own. @param[out] place  receives the transaction; NULL unless the status is
 * KEPT_OK */
static kept_status put(json_object *value, kept_store **place, kept_error *error) {
  char *text = NULL;
  *place = NULL;
  if (value == NULL) return refuse(error, KEPT_WRONG_TYPE, "the tree is null; check first that there is a value");
  kept_status status = json_text_of(value, &text, error);
  if (status != KEPT_OK) return status;
  kept_store *begun = begin();
  status = begun == NULL ? refuse(error, KEPT_FAILED, "not enough memory to convert the value; free some memory")
                         : kept_set_json(begun, key, text, error);
  free(text);
  if (status == KEPT_OK) *place = begun;
  else kept_rollback(begun);
  return status;
}

/** Reads back the written value as a tree; NULL if it could not be written. */
static json_object *take(kept_status status, kept_store *place) {
  char *text = NULL;
  json_object *tree = NULL;
  if (status == KEPT_OK && kept_get_json(place, key, &text, NULL) == KEPT_OK) (void)json_tree_of(text, &tree, NULL);
  kept_free(text);
  kept_rollback(place);
  return tree;
}

json_object *kept_json_new_bytes(const void *bytes, size_t length) {
  kept_store *place = begin();
  return take(kept_set_bytes(place, key, bytes, length, NULL), place);
}

json_object *kept_json_new_date(int64_t seconds, int32_t nanoseconds) {
  kept_store *place = begin();
  return take(kept_set_date(place, key, seconds, nanoseconds, NULL), place);
}

kept_status kept_json_to_bytes(json_object *value, void *buffer, size_t capacity, size_t *length, kept_error *error) {
  kept_store *place;
  kept_status status = put(value, &place, error);
  if (status == KEPT_OK) status = kept_get_bytes(place, key, buffer, capacity, length, error);
  kept_rollback(place);
  return status;
}

kept_status kept_json_to_date(json_object *value, int64_t *seconds, int32_t *nanoseconds, kept_error *error) {
  kept_store *place;
  kept_status status = put(value, &place, error);
  if (status == KEPT_OK) status = kept_get_date(place, key, seconds, nanoseconds, error);
  kept_rollback(place);
  return status;
}

kept_status kept_json_to_uint64(json_object *value, uint64_t *out, kept_error *error) {
  kept_store *place;
  kept_status status = put(value, &place, error);
  if (status == KEPT_OK) status = kept_get_uint64(place, key, out, error);
  kept_rollback(place);
  return status;
}

kept_status kept_json_to_double(json_object *value, double *out, kept_error *error) {
  kept_store *place;
  kept_status status = put(value, &place, error);
  if (status == KEPT_OK) status = kept_get_double(place, key, out, error);
  kept_rollback(place);
  return status;
}
