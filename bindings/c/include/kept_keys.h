/* SPDX-License-Identifier: MIT
 *
 * kept_keys.h — typed keys for C. Declare the name, the type and the default of a setting once; using a wrong type does
 * not compile. Only this header is needed.
 *
 *   KEPT_KEY_INT64(volume, "audio.volume", 50)     declares, at file scope and without a semicolon:
 *
 *   int64_t     volume_get(kept_store *store, kept_error *error);
 *   kept_status volume_set(kept_store *store, int64_t value, kept_error *error);
 *   kept_status volume_reset(kept_store *store, kept_error *error);
 *   const char *volume_key(void);
 *
 * KEPT_KEY_BOOL and KEPT_KEY_DOUBLE do the same for bool and double. KEPT_KEY_STRING(theme, "theme", "system") reads
 * into a buffer of the caller:
 *
 *   const char *theme_get(kept_store *store, char *buffer, size_t capacity, kept_error *error);
 *   kept_status theme_set(kept_store *store, const char *text, kept_error *error);
 *
 * - `_get` returns the value, or the default if the key is absent or could not be read. `error` may be NULL. Otherwise
 *   its status is always set: KEPT_OK if the key was read or is absent, else the reason why it was not read. The text
 *   that theme_get() returns is `buffer` or the default, which is static. A NUL inside a text ends it.
 * - `_set` and `_reset` return the same statuses as the functions of kept.h. Resetting an absent key is KEPT_OK.
 * - `store` may also be a transaction.
 */
#ifndef KEPT_KEYS_H
#define KEPT_KEYS_H

#include <kept.h>
#include <string.h>

#define KEPT_KEY_BOOL(name, key, fallback)   KEPT_KEYS_SCALAR(name, key, fallback, bool, bool)
#define KEPT_KEY_INT64(name, key, fallback)  KEPT_KEYS_SCALAR(name, key, fallback, int64_t, int64)
#define KEPT_KEY_DOUBLE(name, key, fallback) KEPT_KEYS_SCALAR(name, key, fallback, double, double)

#define KEPT_KEY_STRING(name, key, fallback)                                                                           \
  KEPT_KEYS_ANY(name, key)                                                                                             \
  KEPT_KEYS_FUNCTION const char *name##_get(kept_store *store, char *buffer, size_t capacity, kept_error *error) {     \
    kept_status status = kept_get_string(store, key, buffer, capacity, NULL, error);                                   \
    kept_keys_settle(status, error);                                                                                   \
    return status == KEPT_OK ? buffer : (fallback);                                                                    \
  }                                                                                                                    \
  KEPT_KEYS_FUNCTION kept_status name##_set(kept_store *store, const char *text, kept_error *error) {                  \
    return kept_set_string(store, key, text, text != NULL ? strlen(text) : 0, error);                                  \
  }

/* Implementation. */

/* A program may leave functions of a key unused. */
#define KEPT_KEYS_FUNCTION static inline __attribute__((unused))

#define KEPT_KEYS_ANY(name, key)                                                                                       \
  KEPT_KEYS_FUNCTION const char *name##_key(void) { return key; }                                                      \
  KEPT_KEYS_FUNCTION kept_status name##_reset(kept_store *store, kept_error *error) {                                  \
    kept_status status = kept_remove(store, key, error);                                                               \
    return status == KEPT_ABSENT ? kept_keys_settle(status, error) : status;                                           \
  }

#define KEPT_KEYS_SCALAR(name, key, fallback, type, kind)                                                              \
  KEPT_KEYS_ANY(name, key)                                                                                             \
  KEPT_KEYS_FUNCTION type name##_get(kept_store *store, kept_error *error) {                                           \
    type value = (fallback);                                                                                           \
    kept_keys_settle(kept_get_##kind(store, key, &value, error), error);                                               \
    return value;                                                                                                      \
  }                                                                                                                    \
  KEPT_KEYS_FUNCTION kept_status name##_set(kept_store *store, type value, kept_error *error) {                        \
    return kept_set_##kind(store, key, value, error);                                                                  \
  }

/** Turns an absent key into KEPT_OK: a typed key then has its default. */
KEPT_KEYS_FUNCTION kept_status kept_keys_settle(kept_status status, kept_error *error) {
  if (status < 0 && status != KEPT_ABSENT) return status;
  if (error != NULL) {
    error->status = KEPT_OK;
    error->reserved = 0;
    error->offset = -1;
    error->message[0] = 0;
  }
  return KEPT_OK;
}

#endif
