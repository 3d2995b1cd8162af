/* SPDX-License-Identifier: MIT
 *
 * kept_json.h — values as json-c trees, for C programs that already use `json_object *`. Link with libkept_json.
 *
 * The conventions are those of kept.h. This header adds:
 *
 * - A tree is the Extended JSON that kept.h describes, not a decoded form of it: bytes and dates are objects such as
 *   {"$date":"…"}, and an object with a key that begins with a dollar sign is wrapped in {"$literal":{…}}. The last
 *   section makes and reads these objects.
 * - In json-c, NULL is the JSON null.
 * - Ownership: a tree that you pass in remains yours and is neither changed nor retained. Of a tree that is returned,
 *   you own the only reference; release it with json_object_put().
 * - The reference counts of json-c are not atomic. This library shares no object between threads: each call makes its
 *   own. Do not give one object to two threads, not even to read it.
 * - The types and values of a tree decide the written value, never its printed form. Doubles are written so that they
 *   read back bit for bit, whatever double format or serializer the process or the object uses.
 */
#ifndef KEPT_JSON_H
#define KEPT_JSON_H

#include <json-c/json_object.h>
#include <kept.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------------
 * Reading and writing
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads any value as a tree.
 *  @param[out] value  receives a tree that you own; never NULL, because a null is not stored
 *  @return KEPT_OK or KEPT_ABSENT.
 *  As text: kept_get_json(). */
KEPT_API kept_status kept_json_get(kept_store *store, const char *key, json_object **value, kept_error *error);

/** Writes a tree. NULL removes the key, and is KEPT_OK even if the key was absent.
 *
 *  Integers from json_object_new_uint64() and doubles that are not numbers need no `$` form: they are converted.
 *  @return KEPT_OK; KEPT_INVALID for text that is not UTF-8 or a malformed `$` form; or KEPT_TOO_LARGE. `error->offset`
 *          is -1, because a tree has no byte positions.
 *  As text: kept_set_json(). */
KEPT_API kept_status kept_json_set(kept_store *store, const char *key, json_object *value, kept_error *error);

/** Writes a tree if the key still has the revision that you read: compare-and-set.
 *  @param value     not NULL: a null cannot be set this way
 *  @param expected  the revision from kept_revision_of(); 0 expects that the key is absent
 *  @param[out] revision  receives the key's revision after the call; may be NULL
 *  @return as kept_json_set(), or KEPT_CONFLICT with nothing written.
 *  As text: kept_set_json_if(). */
KEPT_API kept_status kept_json_set_if(kept_store *store, const char *key, json_object *value, uint64_t expected,
                                      uint64_t *revision, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Declarations, layers and exports
 * --------------------------------------------------------------------------------------------------------------- */

/** Declares a key.
 *  @return as kept_declare_json(), its form for text; `error->offset` is -1. */
KEPT_API kept_status kept_json_declare(kept_store *store, const char *key, json_object *schema, kept_error *error);

/** Reads the declaration of a key.
 *  @param[out] schema  receives a tree that you own
 *  @return KEPT_OK or KEPT_ABSENT.
 *  As text: kept_declaration_json(). */
KEPT_API kept_status kept_json_declaration(kept_store *store, const char *key, json_object **schema,
                                           kept_error *error);

/** Reads the declarations of all keys that begin with `prefix`; they are the `properties` of the tree.
 *  @param[out] schema  receives a tree that you own
 *  @return as kept_declarations_json(), its form for text. */
KEPT_API kept_status kept_json_declarations(kept_store *store, const char *prefix, json_object **schema,
                                            kept_error *error);

/** Explains what each layer has for a key, which layer wins, and why.
 *  @param[out] explanation  receives a tree that you own, as described at kept_explain_json()
 *  @return KEPT_OK, even for a key that no layer has.
 *  As text: kept_explain_json(). */
KEPT_API kept_status kept_json_explain(kept_store *store, const char *key, json_object **explanation,
                                       kept_error *error);

/** Registers defaults for this handle.
 *  @param defaults  an object of keys and values; null withdraws a default
 *  @return as kept_register_json(), its form for text; `error->offset` is -1. */
KEPT_API kept_status kept_json_register(kept_store *store, json_object *defaults, kept_error *error);

/** Exports the store or a part of it, as of one revision.
 *  @param options  NULL for everything but secrets and declarations
 *  @param[out] tree  receives an object that you own, as described at kept_export_json()
 *  @return as kept_export_json(), its form for text. */
KEPT_API kept_status kept_json_export(kept_store *store, const kept_transfer_options *options, json_object **tree,
                                      kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Observation
 * --------------------------------------------------------------------------------------------------------------- */

/** One change of a notice. It belongs to the library and is valid during the callback. To keep a tree longer, copy it
 *  with json_object_deep_copy(). */
typedef struct kept_json_change {
  const char *key;
  json_object *old_value;   /* as kept_notice_old_json(); NULL if there was none */
  json_object *new_value;   /* as kept_notice_new_json(); NULL if the key was removed */
} kept_json_change;

/** Receives a notice with its changes as trees. The trees are passed to no other thread and no other callback.
 *  @param notice   for its origin, tag and revisions; see kept.h
 *  @param changes  kept_notice_count() changes; NULL if there is no memory for the trees: the texts of the notice can
 *                  still be read */
typedef void (*kept_json_callback)(void *context, const kept_notice *notice, const kept_json_change *changes,
                                   size_t count);

/** Subscribes to a key or a prefix, like kept_observe(), with the same flags, threads and statuses, including
 *  KEPT_OBSERVE_POLLED and stores opened with KEPT_BY_HOST. End it with kept_unobserve(). */
KEPT_API kept_status kept_json_observe(kept_store *store, const char *key, uint32_t flags, kept_json_callback callback,
                                       void *context, void (*release)(void *context),
                                       kept_subscription **subscription, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * The kinds that JSON lacks, anywhere in a tree
 *
 * Reading returns KEPT_OK, or KEPT_WRONG_TYPE for a tree of another kind, and converts numbers as kept.h says.
 * --------------------------------------------------------------------------------------------------------------- */

/** Makes a {"$binary":…} that you own. NULL if `bytes` is NULL and `length` is not 0, if there are more than 16 MiB, or
 *  if there is no memory. */
KEPT_API json_object *kept_json_new_bytes(const void *bytes, size_t length);
/** Reads a {"$binary":…} into the caller's buffer, like kept_get_bytes(). */
KEPT_API kept_status kept_json_to_bytes(json_object *value, void *buffer, size_t capacity, size_t *length,
                                        kept_error *error);

/** Makes a {"$date":…} that you own. NULL outside the years 0 to 9999, if the nanoseconds are not 0 to 999,999,999, or
 *  if there is no memory. */
KEPT_API json_object *kept_json_new_date(int64_t seconds, int32_t nanoseconds);
/** Reads a {"$date":…}, like kept_get_date(). */
KEPT_API kept_status kept_json_to_date(json_object *value, int64_t *seconds, int32_t *nanoseconds, kept_error *error);

/** Reads an integer from 0 to UINT64_MAX: json-c's own, or a {"$numberULong":…}. */
KEPT_API kept_status kept_json_to_uint64(json_object *value, uint64_t *out, kept_error *error);
/** Reads a double: json-c's own, or a {"$numberDouble":…}, which may be NaN or infinite. */
KEPT_API kept_status kept_json_to_double(json_object *value, double *out, kept_error *error);

#ifdef __cplusplus
}
#endif

#endif
