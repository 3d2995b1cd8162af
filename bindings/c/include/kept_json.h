/* SPDX-License-Identifier: MIT
 *
 * kept_json.h — values as json-c trees, for C programs that hold `json_object *` already. Link with libkept_json.
 *
 * The conventions are those of kept.h. What this file adds to them:
 *
 * - A tree is the Extended JSON that kept.h describes, not a decoded form of it: bytes and dates are objects such as
 *   {"$date":"…"}, and an object with a key that begins with a dollar sign stands inside {"$literal":{…}}. The last
 *   section makes and reads these objects.
 * - In json-c, NULL is the JSON null.
 * - Ownership: a tree that is passed in stays the caller's and is neither changed nor kept; of one that is returned,
 *   the caller owns the one reference, to be ended with json_object_put().
 * - Reference counts of json-c are not atomic. No object is shared with another thread by this library: each call makes
 *   its own. Neither should the program hand one object to two threads, not even to read it.
 * - Types and values decide what is written, never the way a tree would print: doubles are written so that they come
 *   back bit for bit, whatever double format or serializer this process or this object has been given.
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
 *  @param[out] value  receives a tree of the caller's own; never NULL, since a null is not stored
 *  @return KEPT_OK or KEPT_ABSENT. The twin of kept_get_json(). */
KEPT_API kept_status kept_json_get(kept_store *store, const char *key, json_object **value, kept_error *error);

/** Writes a tree. NULL removes the key, and is KEPT_OK also where there was none.
 *
 *  Integers of json_object_new_uint64() and doubles that are not numbers need no `$` form: they are given one.
 *  @return KEPT_OK, KEPT_INVALID for text that is not UTF-8 or a `$` form that is none, or KEPT_TOO_LARGE.
 *          `error->offset` is -1: a tree has no bytes. The twin of kept_set_json(). */
KEPT_API kept_status kept_json_set(kept_store *store, const char *key, json_object *value, kept_error *error);

/** Writes a tree if the key still has the revision that the caller read: compare-and-set.
 *  @param value     not NULL: a null is no value to compare and set
 *  @param expected  the revision, from kept_revision_of(); 0 expects that the key is absent
 *  @param[out] revision  receives the key's revision after the call; may be NULL
 *  @return as kept_json_set(), or KEPT_CONFLICT with nothing written. The twin of kept_set_json_if(). */
KEPT_API kept_status kept_json_set_if(kept_store *store, const char *key, json_object *value, uint64_t expected,
                                      uint64_t *revision, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Declarations and layers
 * --------------------------------------------------------------------------------------------------------------- */

/** Declares a key. @return as kept_declare_json(), its twin; `error->offset` is -1. */
KEPT_API kept_status kept_json_declare(kept_store *store, const char *key, json_object *schema, kept_error *error);

/** Reads what a key is declared as. @param[out] schema  receives a tree of the caller's own
 *  @return KEPT_OK or KEPT_ABSENT. The twin of kept_declaration_json(). */
KEPT_API kept_status kept_json_declaration(kept_store *store, const char *key, json_object **schema,
                                           kept_error *error);

/** Reads all declarations of keys that begin with `prefix`; they are the `properties` of the tree.
 *  @param[out] schema  receives a tree of the caller's own
 *  @return as kept_declarations_json(), its twin. */
KEPT_API kept_status kept_json_declarations(kept_store *store, const char *prefix, json_object **schema,
                                            kept_error *error);

/** Says what each layer has for a key, which one wins, and why.
 *  @param[out] explanation  receives a tree of the caller's own, as kept_explain_json() describes it
 *  @return KEPT_OK, also for a key that no layer has. The twin of kept_explain_json(). */
KEPT_API kept_status kept_json_explain(kept_store *store, const char *key, json_object **explanation,
                                       kept_error *error);

/** Registers defaults for this handle. @param defaults  an object of keys and values; null takes one back
 *  @return as kept_register_json(), its twin; `error->offset` is -1. */
KEPT_API kept_status kept_json_register(kept_store *store, json_object *defaults, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Observation
 * --------------------------------------------------------------------------------------------------------------- */

/** One change of a notice. All of it belongs to the library and is valid during the callback: read it there, and make a
 *  json_object_deep_copy() of what is to stay. */
typedef struct kept_json_change {
  const char *key;
  json_object *old_value;   /* as kept_notice_old_json(); NULL where there was none */
  json_object *new_value;   /* as kept_notice_new_json(); NULL where the key was removed */
} kept_json_change;

/** Receives a notice with its changes as trees, which no other thread and no other callback is given.
 *  @param notice   for its origin, its tag, its revisions; see kept.h
 *  @param changes  kept_notice_count() of them; NULL when there is no memory for the trees: the texts of the notice are
 *                  there all the same */
typedef void (*kept_json_callback)(void *context, const kept_notice *notice, const kept_json_change *changes,
                                   size_t count);

/** Subscribes to a key or a prefix. The twin of kept_observe(), with its flags, its threads and its statuses; ended by
 *  kept_unobserve(). Stores opened with KEPT_BY_HOST and KEPT_OBSERVE_POLLED work as with kept_observe(). */
KEPT_API kept_status kept_json_observe(kept_store *store, const char *key, uint32_t flags, kept_json_callback callback,
                                       void *context, void (*release)(void *context),
                                       kept_subscription **subscription, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * The kinds that JSON lacks, wherever they stand in a tree
 *
 * Reading answers KEPT_OK, or KEPT_WRONG_TYPE for a tree of another kind, and converts numbers as kept.h says.
 * --------------------------------------------------------------------------------------------------------------- */

/** Makes a {"$binary":…} of the caller's own. NULL when `bytes` is NULL while `length` is not 0, when there are more
 *  than 16 MiB, or when there is no memory. */
KEPT_API json_object *kept_json_new_bytes(const void *bytes, size_t length);
/** Reads a {"$binary":…} into the caller's buffer, as kept_get_bytes() does. */
KEPT_API kept_status kept_json_to_bytes(json_object *value, void *buffer, size_t capacity, size_t *length,
                                        kept_error *error);

/** Makes a {"$date":…} of the caller's own. NULL outside the years 0 to 9999, when the nanoseconds are not 0 to
 *  999,999,999, or when there is no memory. */
KEPT_API json_object *kept_json_new_date(int64_t seconds, int32_t nanoseconds);
/** Reads a {"$date":…}, as kept_get_date() does. */
KEPT_API kept_status kept_json_to_date(json_object *value, int64_t *seconds, int32_t *nanoseconds, kept_error *error);

/** Reads an integer of 0 to UINT64_MAX: json-c's own, or a {"$numberULong":…}. */
KEPT_API kept_status kept_json_to_uint64(json_object *value, uint64_t *out, kept_error *error);
/** Reads a double: json-c's own, or a {"$numberDouble":…}, which may be NaN or infinite. */
KEPT_API kept_status kept_json_to_double(json_object *value, double *out, kept_error *error);

#ifdef __cplusplus
}
#endif

#endif
