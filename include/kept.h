/* SPDX-License-Identifier: MIT
 *
 * kept.h — a typed settings store that Swift, C and Python programs share.
 *
 * What is not in this file is not part of the library's interface.
 *
 * Conventions, stated once:
 *
 * - Every function that can fail returns a kept_status: 0 is done, negative is an error, positive is done with a
 *   warning. Arguments come in the order subject, inputs, out, error. An out argument is touched only when the status
 *   is 0 or positive, unless its function says otherwise.
 * - `error` belongs to the caller, needs no initialisation and may be NULL. It is filled whenever the status is not
 *   KEPT_OK, and left alone when it is.
 * - Text is UTF-8. Keys end with a NUL; text and bytes that may hold a NUL come with a length. What Kept is given it
 *   copies before the call returns. What Kept returns in a `char **` is freed with kept_free().
 * - A key is 1 to 1024 bytes of UTF-8 without NUL, compared byte by byte; dots have no special meaning. Any other key
 *   is KEPT_INVALID.
 * - A NULL handle, key or out argument is KEPT_INVALID, never a crash; so is text that is not UTF-8.
 * - Every function may be called from any thread that has 128 KiB of stack left. A closed handle may still be passed:
 *   the call answers KEPT_CLOSED.
 * - Callbacks are called with no lock held; they may call any function of this header.
 * - Callbacks return. One that is left by longjmp(), a C++ exception or pthread_exit() takes no lock with it, but its
 *   call is left half way: its memory is lost, and an opening leaves the store open. A left notice callback is called
 *   no more; end its subscription on the same thread, since any other would wait for ever. After a left migration step
 *   nothing can be migrated or restored until the last handle on the store is closed. On a thread of the library a
 *   callback cannot be left.
 * - No function is a cancellation point: a thread that pthread_cancel() is called for ends at its next one outside of
 *   Kept, such as pthread_testcancel(). Callbacks are inside. Call nothing while PTHREAD_CANCEL_ASYNCHRONOUS is set,
 *   and call pthread_setcancelstate() after a callback was left.
 * - A language whose callbacks can be left by an exception, with any answer (Python), pulls where it can: see
 *   kept_list_json() and kept_subscription_take(). Where it must be called it confirms: see KEPT_MIGRATE_CONFIRMED.
 *
 * Every function that reads or writes may also answer KEPT_CLOSED, KEPT_BUSY, KEPT_NO_SPACE, KEPT_DENIED, KEPT_CORRUPT,
 * KEPT_UNAVAILABLE or KEPT_FAILED, each with its sentence in `error`; the functions below list what they add to these.
 */
#ifndef KEPT_H
#define KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library; the build reads it from here, and from nowhere else. */
#define KEPT_VERSION_MAJOR 0
#define KEPT_VERSION_MINOR 1
#define KEPT_VERSION_PATCH 0

#define KEPT_API __attribute__((visibility("default")))

/* ------------------------------------------------------------------------------------------------------------------
 * Status: what a call came to, and why
 * --------------------------------------------------------------------------------------------------------------- */

/** What a call came to. Later versions may add codes: treat an unknown negative one like KEPT_FAILED.
 *  In Swift: `StoreError.Code`. In Python: one exception class for each. */
typedef int32_t kept_status;

#define KEPT_OK              0   /* done */
#define KEPT_SHADOWED        1   /* done, but a higher layer hides the value */
#define KEPT_SALVAGED        2   /* done, but the store was damaged: values may be missing until somebody has looked */
#define KEPT_MISFIT          3   /* done, but what is stored does not fit the declaration, and reads as absent */
#define KEPT_DEPRECATED      4   /* reported only: what was set is declared as deprecated */
#define KEPT_ABSENT         -1   /* no layer has a value for the key */
#define KEPT_WRONG_TYPE     -2   /* the key holds, or is declared with, a value of another kind; it is untouched */
#define KEPT_TYPE_CONFLICT  -3   /* the key is declared with another type */
#define KEPT_INVALID        -4   /* an argument, a JSON text or a constraint is not as it must be */
#define KEPT_LOCKED         -5   /* an administrator has locked the key */
#define KEPT_CONFLICT       -6   /* the expected revision is no longer the current one */
#define KEPT_BUSY           -7   /* another writer held the store for longer than the time-out */
#define KEPT_NO_SPACE       -8   /* the disk or the quota is full; the old state is intact */
#define KEPT_DENIED         -9   /* the file system does not permit it */
#define KEPT_CORRUPT       -10   /* what is stored cannot be what was written */
#define KEPT_UNAVAILABLE   -11   /* the store cannot be reached now; this does not mean that it is empty */
#define KEPT_CLOSED        -12   /* the handle was closed */
#define KEPT_FORKED        -13   /* the handle belongs to the parent of this process */
#define KEPT_TOO_LARGE     -14   /* the value or the text is over a limit, or the buffer is too small */
#define KEPT_UNSUPPORTED   -15   /* this storage, or this version, cannot do it */
#define KEPT_FAILED        -16   /* anything else; the sentence says what */

/** Why a call failed: caller-owned, of fixed size, with nothing to free. In Swift: `StoreError`. */
typedef struct kept_error {
  kept_status status;   /* the same as the call returned */
  int32_t reserved;     /* 0 */
  int64_t offset;       /* the byte at which a JSON text is wrong, from 0; -1 where that has no meaning */
  char message[496];    /* one sentence: what was asked, what was found, what can be done; ends with a NUL */
} kept_error;

/** The version of the library that is loaded, such as "0.1.0". Static text; do not free. */
KEPT_API const char *kept_version(void);

/** The name of a status, such as "wrong type"; "unknown status" for one that this version does not have.
 *  Static text; do not free. */
KEPT_API const char *kept_status_text(kept_status status);

/** Frees text that Kept returned in a `char **`. NULL is fine. */
KEPT_API void kept_free(void *memory);

/* ------------------------------------------------------------------------------------------------------------------
 * Store: opening and closing
 * --------------------------------------------------------------------------------------------------------------- */

/** An open store, or a transaction on one: the same functions read and write both. Or a snapshot, which they read.
 *  Made by kept_open() and ended by kept_close(); or made by kept_begin() and ended by kept_commit() or
 *  kept_rollback(); or by kept_snapshot() and kept_snapshot_end(). In Swift: `Store`, `Transaction`, `Snapshot`. */
typedef struct kept_store kept_store;

#define KEPT_SHARED   0u   /* every process reads it when the call returns; it survives kill -9 of every process */
#define KEPT_DURABLE  1u   /* it survives power loss too: synced to the disk before the call returns. Where that sync
                              fails the call says so, and the value is there, but may not survive */

/** Receives what no call returns: a failure, or a warning such as KEPT_DEPRECATED. @param error  valid during the call
 *  In Swift: `StoreOptions.errorHandler`. In Python: the logger "kept". */
typedef void (*kept_report_callback)(void *context, const kept_error *error);

/** How to open a store. Begin with KEPT_OPTIONS_INIT, then change what you need. In Swift: `StoreOptions`. */
typedef struct kept_options {
  size_t size;                /* sizeof(kept_options), so that older and newer programs both work */
  uint32_t durability;        /* KEPT_SHARED or KEPT_DURABLE, for writes that do not say */
  uint32_t busy_timeout_ms;   /* how long a write waits for other writers before KEPT_BUSY, in milliseconds; the time
                                 for which it waits for other threads of its own process counts. Any number
                                 is fine: UINT32_MAX is 49 days */
  uint32_t delivery;          /* KEPT_BY_LIBRARY or KEPT_BY_HOST: who calls observers back */
  uint32_t reserved;          /* 0 */
  const char *tag;            /* what the program calls itself, for observers in every process; NULL for nothing */
  const char *managed;        /* the file of the managed layer: a path, or KEPT_STANDARD_FILE; NULL for none */
  const char *system;         /* the file of the system layer, in the same way */
  const char *environment;    /* the prefix of the environment's variables that count, "PLAYER_"; NULL for none */
  const char *const *argv;    /* the arguments that count, as main() has them; NULL for none. One that is not UTF-8 is
                                 reported and ignored */
  size_t argc;                /* how many there are; a NULL among them is KEPT_INVALID */
  kept_report_callback report;   /* hears of what no call can return: a layer's file that is broken, a value in a layer
                                    that does not fit, a deprecated key that is set; NULL: nothing is reported. Called
                                    on the thread that finds it, with no lock held, before kept_open() has returned and
                                    after */
  void *report_context;       /* what `report` is called with; valid until kept_close() has returned */
} kept_options;

#define KEPT_BY_LIBRARY  0u   /* a thread of the library calls observers back */
#define KEPT_BY_HOST     1u   /* the program does, with kept_store_dispatch(), when kept_store_fd() is readable */

/* Of a layer's file: /etc/kept/<identifier>/managed.json, or system.json; for a store opened by its identifier. */
#define KEPT_STANDARD_FILE ""

#define KEPT_OPTIONS_INIT \
  { sizeof(kept_options), KEPT_SHARED, 5000u, KEPT_BY_LIBRARY, 0u, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL }

/** Opens a store, and creates it where there is none.
 *  @param location  an identifier such as "com.example.player" (lives in $XDG_CONFIG_HOME/kept/<identifier>.kept/,
 *                   by default in ~/.config); text with a slash is a path to the store's folder; "memory:" is a new
 *                   store without a file, "memory:name" one that this process shares by name; "dir:/path" is a folder
 *                   with one JSON file for each key, for values that people edit: it has no declarations, and no
 *                   transactions of more than one key (KEPT_UNSUPPORTED)
 *  @param options   NULL for the defaults; copied
 *  @param[out] store  receives the handle; end it with kept_close()
 *  @return KEPT_OK, KEPT_SALVAGED, KEPT_INVALID, KEPT_BUSY, KEPT_DENIED, KEPT_NO_SPACE, KEPT_CORRUPT,
 *          KEPT_UNAVAILABLE or KEPT_UNSUPPORTED.
 *  Neither opening nor reading waits for writers, also for one that was stopped in the middle of a commit. There is one
 *  exception: a writer that was stopped (SIGSTOP, a debugger) in the instant in which its commit becomes visible, less
 *  than a microsecond. Until it goes on, opening the store and reading what is not in memory are KEPT_BUSY after the
 *  time-out in `options`, or after 100 ms if that is shorter.
 *  A process that is stopped inside a read keeps others from nothing, but SQLite's log grows with every commit until it
 *  goes on: no part of the log that it may still read is written again.
 *  Opening one location several times, in one process or in many, is legal: all handles see the same values.
 *  A store's folder belongs to the program's effective user, and no other user may write to it or to its files: else
 *  opening is KEPT_DENIED, and what is no regular file in the place of one of its files is KEPT_UNAVAILABLE. A folder
 *  without permission to write, or of another user (also for root), is opened for reading; writes are then KEPT_DENIED.
 *  It is read as a copy in memory: reading is KEPT_BUSY after the time-out if its owner changes it all the time,
 *  KEPT_CORRUPT where any of it is damaged, and KEPT_TOO_LARGE above 1 GiB. All this is true of `dir:` and its files
 *  too, but for the copy.
 *  A managed layer that cannot be read is KEPT_UNAVAILABLE: the store is not opened without its locks. A program with
 *  other rights than its caller (a set-user-ID bit) ignores XDG_CONFIG_HOME, HOME and the environment layer.
 *  A path to a store, a layer, a backup or an export may lead only through names that are UTF-8: a link with another
 *  target, or a relative path in a working directory with another name, is KEPT_UNAVAILABLE.
 *  A damaged database is set aside in the folder `quarantine` and what can be read of it is salvaged by the first
 *  opener who has the store alone; with others in the way it is KEPT_CORRUPT. Only what SQLite calls corrupt is damage:
 *  where the disk, the memory, descriptors or another program are in the way, opening fails and nothing is replaced. A
 *  database with tables, views or triggers that are not Kept's is KEPT_UNSUPPORTED. After a salvage every opening is
 *  KEPT_SALVAGED, with the store open and the sentence in `error`, until a program calls kept_acknowledge_salvage(). So
 *  test for `< 0`, unless that matters to you.
 *  In Swift: `Store.open(_:)`. In Python: `kept.open(location)`. */
KEPT_API kept_status kept_open(const char *location, const kept_options *options, kept_store **store,
                               kept_error *error);

/** Closes a store and syncs what was written to the disk. Its subscriptions end: when it returns, no further callback
 *  begins. NULL and a closed handle are fine. What is left is the handle itself, about a hundred bytes: it is never
 *  freed or reused, so late use is KEPT_CLOSED. A transaction is rolled back. In Swift: `Store.close()`. */
KEPT_API void kept_close(kept_store *store);

/** Syncs every write that has returned to the disk, in this process and in all others, so that it survives power loss.
 *  In Swift: `Store.flush()`. */
KEPT_API kept_status kept_flush(kept_store *store, kept_error *error);

/** Asks whether the store was found damaged, and nobody has acknowledged yet that values may be missing.
 *  @param[out] quarantine  receives the path of the folder with the damaged files, to be freed with kept_free()
 *  @return KEPT_OK, or KEPT_ABSENT when nothing was salvaged, or it was acknowledged. In Swift: `Store.salvage()`.
 *  In Python: `settings.salvaged`. */
KEPT_API kept_status kept_salvaged(kept_store *store, char **quarantine, kept_error *error);

/** Says that a person or a program has seen to what was lost: openers are not told of it any more. The damaged files
 *  stay where they are. @return KEPT_OK, also when there was nothing to acknowledge.
 *  In Swift: `Store.acknowledgeSalvage()`. In Python: `settings.acknowledge_salvage()`. */
KEPT_API kept_status kept_acknowledge_salvage(kept_store *store, kept_error *error);

/** Where to see at once whether anything in the store has changed, for caches above this interface.
 *  @return a word to be loaded anew at each look, as a whole (8 bytes, aligned; `__atomic_load_n(word,
 *          __ATOMIC_ACQUIRE)`). Even and equal to what it was before a value was read: no process has committed since,
 *          and the value is current. Odd: ask the store. Where the storage cannot tell (a memory store) and for a
 *          closed store the word is always odd; NULL for a transaction and for NULL.
 *  Look before you read and after it; keep what you read only if both looks gave the same even number. The word may be
 *  read for as long as the process lives, but a cache belongs to an open handle: drop it when you call kept_close().
 *  The word of a store that no handle of this process has open need not move, and may become that of one that is
 *  opened later. Do not write to it. Never blocks.
 *  In Python: `settings[key]` keeps such a cache by itself. */
KEPT_API const uint64_t *kept_store_generation(kept_store *store);

/** The second word for such caches: it moves when a file of this handle's layers has changed what keys read as.
 *  @return a word to be loaded like the first one; a value is current while neither has moved. NULL where no layer can
 *          change: the store was opened without `managed` and `system`, and kept_register_json() was not called; ask
 *          again after that. NULL for a closed store. It may be read for as long as the process lives.
 *  In Python: `settings[key]` looks at both. */
KEPT_API const uint64_t *kept_store_layers(kept_store *store);

/* ------------------------------------------------------------------------------------------------------------------
 * JSON: any value as text
 *
 * The text is a closed profile of MongoDB Extended JSON v2 (relaxed). Kinds that JSON lacks are objects:
 *   unsigned integers above INT64_MAX  {"$numberULong":"18446744073709551615"}
 *   doubles that are not numbers       {"$numberDouble":"NaN"}, "Infinity", "-Infinity"
 *   bytes                              {"$binary":{"base64":"AAECAw==","subType":"00"}}
 *   dates, in UTC, to the nanosecond   {"$date":"2026-11-20T23:44:01.25Z"}
 *   objects with a key that begins with a dollar sign: {"$literal":{...}}
 * A bare integer is an integer, and a number with a point or an exponent is a double: 1 and 1.0 are two values.
 *
 * Some texts that RFC 8259 allows are refused, with the byte in `error->offset`: a name that an object has twice, a NUL
 * in a name, half of a surrogate pair, the integer -0 (the double is -0.0), an integer beyond 64 bits, a double that
 * would become 0 or infinity, an object of another form whose first name begins with a dollar sign, and what is over
 * the limits. Texts of other programs that are imported may have -0.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads any value as canonical JSON: keys sorted by their bytes, no spaces; equal values have equal text.
 *  @param[out] json  receives text to be freed with kept_free()
 *  @return KEPT_OK or KEPT_ABSENT. In Swift: `Store.json(forKey:)`. In Python: `settings[key]`. */
KEPT_API kept_status kept_get_json(kept_store *store, const char *key, char **json, kept_error *error);

/** Writes any value given as JSON. The text `null` removes the key, and is KEPT_OK also where there was none.
 *  @return as for the other values; KEPT_INVALID with `error->offset` where the text is wrong, and KEPT_TOO_LARGE for a
 *          value of more than 16 MiB and for one that nests more than 64 arrays and objects.
 *  In Swift: `Store.setJSON(_:forKey:)`. In Python: `settings[key] = value`. */
KEPT_API kept_status kept_set_json(kept_store *store, const char *key, const char *json, kept_error *error);

/** Writes a value given as JSON if the key still has the revision that the caller read: compare-and-set.
 *  @param expected  the revision, from kept_revision_of(); 0 expects that the key is absent
 *  @param[out] revision  receives the key's revision after the call; may be NULL
 *  @return KEPT_OK, KEPT_CONFLICT with nothing written, KEPT_INVALID, also for the text `null`, KEPT_TOO_LARGE or
 *          KEPT_UNSUPPORTED.
 *  In a transaction KEPT_CONFLICT may come only from kept_commit(), and `revision` receives 0.
 *  In Swift: `Store.set(_:forKey:ifRevision:)`. In Python: `settings.set(key, value, if_revision=...)`. */
KEPT_API kept_status kept_set_json_if(kept_store *store, const char *key, const char *json, uint64_t expected,
                                      uint64_t *revision, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Values: one pair of functions for each kind
 *
 * Reading answers KEPT_OK, KEPT_ABSENT or KEPT_WRONG_TYPE. Numbers are converted only where the value survives: an
 * integer 1 reads as the double 1.0 and a double 3.0 as the integer 3, but 3.5 or 2^53 + 1 do not convert; a bool is
 * never a number, and text that is stored is never parsed.
 * Writing answers KEPT_OK, KEPT_INVALID or KEPT_TOO_LARGE; of a declared key also KEPT_WRONG_TYPE or KEPT_UNSUPPORTED,
 * and under layers KEPT_SHADOWED or KEPT_LOCKED. Writing the value that is stored already is no change.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads a bool. In Swift: `Store.value(for:)` with `Key<Bool>`. */
KEPT_API kept_status kept_get_bool(kept_store *store, const char *key, bool *out, kept_error *error);
/** Writes a bool. */
KEPT_API kept_status kept_set_bool(kept_store *store, const char *key, bool value, kept_error *error);

/** Reads an integer. In Swift: `Store.value(for:)` with `Key<Int>`. */
KEPT_API kept_status kept_get_int64(kept_store *store, const char *key, int64_t *out, kept_error *error);
/** Writes an integer. */
KEPT_API kept_status kept_set_int64(kept_store *store, const char *key, int64_t value, kept_error *error);

/** Reads an integer of 0 to UINT64_MAX; a negative one is KEPT_WRONG_TYPE. */
KEPT_API kept_status kept_get_uint64(kept_store *store, const char *key, uint64_t *out, kept_error *error);
/** Writes an integer of 0 to UINT64_MAX. */
KEPT_API kept_status kept_set_uint64(kept_store *store, const char *key, uint64_t value, kept_error *error);

/** Reads a double; it may be NaN, infinite or -0.0. In Swift: `Store.value(for:)` with `Key<Double>`. */
KEPT_API kept_status kept_get_double(kept_store *store, const char *key, double *out, kept_error *error);
/** Writes a double. All NaNs are stored as the same quiet NaN. */
KEPT_API kept_status kept_set_double(kept_store *store, const char *key, double value, kept_error *error);

/** Reads a date: seconds since 1970-01-01T00:00:00Z, and nanoseconds of 0 to 999,999,999 to be added to them.
 *  In Swift: `Store.value(for:)` with `Key<Date>`. In Python: `settings[key]` with a key of `datetime`, which begins at
 *  year 1, or of `kept.Timestamp`, which does not. */
KEPT_API kept_status kept_get_date(kept_store *store, const char *key, int64_t *seconds, int32_t *nanoseconds,
                                   kept_error *error);
/** Writes a date of the years 0 to 9999 of the Gregorian calendar: `seconds` from -62,167,219,200 to 253,402,300,799.
 *  Another one is KEPT_INVALID. */
KEPT_API kept_status kept_set_date(kept_store *store, const char *key, int64_t seconds, int32_t nanoseconds,
                                   kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Buffers: text and bytes, copied into the caller's memory
 *
 * Statuses as for the other values.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads text into the caller's buffer and ends it with a NUL.
 *  @param buffer    may be NULL when `capacity` is 0
 *  @param capacity  the size of `buffer` in bytes; `length` + 1 are needed
 *  @param[out] length  receives the length of the text in bytes, without the NUL; may be NULL. The text may itself hold
 *                      NULs. Set for KEPT_OK and for KEPT_TOO_LARGE
 *  @return as above, or KEPT_TOO_LARGE when the buffer is too small; it is then untouched.
 *  In Swift: `Store.value(for:)` with `Key<String>`. */
KEPT_API kept_status kept_get_string(kept_store *store, const char *key, char *buffer, size_t capacity, size_t *length,
                                     kept_error *error);
/** Writes text of `length` bytes; a NUL inside it is kept. Text that is not UTF-8 is KEPT_INVALID. */
KEPT_API kept_status kept_set_string(kept_store *store, const char *key, const char *text, size_t length,
                                     kept_error *error);

/** Reads bytes into the caller's buffer, as kept_get_string() does but with no NUL behind them.
 *  In Swift: `Store.value(for:)` with `Key<Data>`. */
KEPT_API kept_status kept_get_bytes(kept_store *store, const char *key, void *buffer, size_t capacity, size_t *length,
                                    kept_error *error);
/** Writes `length` bytes; `bytes` may be NULL when `length` is 0. */
KEPT_API kept_status kept_set_bytes(kept_store *store, const char *key, const void *bytes, size_t length,
                                    kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Declarations: what a key holds
 *
 * A declaration is a JSON Schema (draft 2020-12) object that is kept in the store. From then on a value of another
 * type, or one that breaks a constraint, is refused in every process and language: KEPT_WRONG_TYPE for another kind,
 * KEPT_INVALID for anything else, with the rule in `error`. The words:
 *   type                   one of "boolean", "integer" (also takes 3.0, and stores 3), "number" (also takes 1, and
 *                          stores 1.0), "string", "bytes", "date", "array", "object"; it must be there
 *   default                what the key reads as where no layer has a value
 *   enum                   the values that there are
 *   const                  the one value that there is
 *   minimum, maximum, exclusiveMinimum, exclusiveMaximum
 *                          of integers and numbers; compared exactly, also an integer with a double
 *   multipleOf             of integers and numbers, above 0. It is decided in decimal and exactly: a double counts as
 *                          the shortest decimal number that reads as it, so 19.99 is a multiple of 0.01
 *   minLength, maxLength   of strings, in Unicode scalars, and of bytes
 *   pattern                of strings, by PCRE2: it may match anywhere; use ^ and $
 *   items                  of arrays: a schema for every element, or for those behind `prefixItems`
 *   prefixItems            of arrays: schemas for the first elements
 *   minItems, maxItems, uniqueItems
 *                          of arrays: how many elements; whether no two may be equal
 *   properties, required, additionalProperties
 *                          of objects: schemas by name, names that must be there, a schema or a bool for the members of
 *                          which neither `properties` nor `patternProperties` says anything
 *   patternProperties      of objects: schemas by patterns as above; each one that is found in a name applies
 *   propertyNames          of objects: a schema for every name
 *   minProperties, maxProperties
 *                          of objects: how many members
 *   deprecated             true: setting it works, and is reported as KEPT_DEPRECATED, once for each key and handle. In
 *                          a schema inside another: setting a value that has such an element or member
 *   summary                what the key is for, in a sentence
 *   secret                 true keeps its values out of errors, reports and explanations
 *   title, description, $comment, format
 *                          remarks, which nothing checks
 * `enum`, `const` and `uniqueItems` compare as JSON Schema does: numbers by what they are worth, so that 0, 0.0 and
 * -0.0 are equal, also inside arrays and objects. A value that equals a choice is stored as it was given, in the form
 * of its type. Any other word is refused with KEPT_UNSUPPORTED. A declaration has at most 64 KiB of text, at most 12
 * schemas inside each other, and patterns with at most 24 groups inside each other. Looking for
 * patterns in one value may take a few seconds altogether; a value that takes longer is KEPT_INVALID.
 *
 * Some schemas that JSON Schema allows are refused too, with the place in `error`: words that contradict each other or
 * cannot apply to the type, an empty `enum` or a choice that is there twice, an `enum` without `type` whose choices are
 * of several kinds (numbers are one), and `default`, `summary` and `secret` in a schema inside another.
 * --------------------------------------------------------------------------------------------------------------- */

/** Declares a key. The same declaration again changes nothing; another default, summary or constraint takes the place
 *  of the old one, wider or narrower. What is stored and does not fit stays, and reads as if it were not there.
 *  @return KEPT_OK, KEPT_MISFIT when that is so, each time that the key is declared, with the reason in `error`,
 *          KEPT_INVALID with `error->offset` where the text is wrong, KEPT_TYPE_CONFLICT if the key is declared with
 *          another type, KEPT_TOO_LARGE or KEPT_UNSUPPORTED for a word that Kept does not have.
 *  In Swift: `Store.declare(_:forKey:)`. In Python: `settings.declare(key)`. */
KEPT_API kept_status kept_declare_json(kept_store *store, const char *key, const char *schema, kept_error *error);

/** Declares many keys at once, all or none. @param schema  one object of type "object" whose `properties` are the keys
 *  and their declarations; it may also have $schema, $id, title, description and $comment
 *  @return as kept_declare_json(), about the first key that it concerns. */
KEPT_API kept_status kept_declare_list(kept_store *store, const char *schema, kept_error *error);

/** The same with a file, such as a `settings.schema.json` that a program ships for all its languages.
 *  @return as kept_declare_list(), KEPT_UNAVAILABLE where there is no such file, or KEPT_DENIED.
 *  In Swift: `Store.declare(contentsOf:)`. In Python: `settings.declare_file(path)`. */
KEPT_API kept_status kept_declare_file(kept_store *store, const char *path, kept_error *error);

/** Takes a declaration away; the value stays. One transaction can do this and declare the key with another type.
 *  @return KEPT_OK, or KEPT_ABSENT when there was none.
 *  In Swift: `Store.undeclare(_:)`. In Python: `settings.undeclare(key)`. */
KEPT_API kept_status kept_undeclare(kept_store *store, const char *key, kept_error *error);

/** Reads what a key is declared as. @param[out] schema  receives canonical JSON, to be freed with kept_free()
 *  @return KEPT_OK, or KEPT_ABSENT. In Swift: `Store.declaration(forKey:)`. In Python: `settings.declaration(key)`. */
KEPT_API kept_status kept_declaration_json(kept_store *store, const char *key, char **schema, kept_error *error);

/** Reads all declarations of keys that begin with `prefix`, as kept_declare_list() takes them.
 *  @param[out] schema  receives canonical JSON, to be freed with kept_free()
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for a transaction.
 *  In Swift: `Store.declarations(prefix:)`. In Python: `settings.declarations(prefix)`. */
KEPT_API kept_status kept_declarations_json(kept_store *store, const char *prefix, char **schema, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Layers: where a value comes from
 *
 * What a key reads as is decided by the highest layer that has a value which fits the declaration; what does not fit is
 * skipped and reported. Only the user's layer, the store, is written. The others are given in kept_options, each handle
 * its own. Setting a key that arguments or environment hide is KEPT_SHADOWED: it is stored, and does not show. Setting
 * a key that the managed layer locks is KEPT_LOCKED, and nothing is stored.
 *
 * The files of the managed and of the system layer are read again when they change, and observers hear of it. They are
 *   {"values": {"audio.volume": 30}, "locked": ["audio.theme"], "lockedPrefixes": ["network."]}
 * in the JSON of kept_get_json(); the members that lock are for the managed layer alone, whose values lock their keys
 * as well. For a locked key neither arguments nor environment nor the user are asked. A file must be a regular one, and
 * it and every folder on its path must belong to root or to the program's effective user, and be writable for the owner
 * alone (a sticky folder of root's, such as /tmp, is fine). A managed file that is there and cannot be read or
 * understood lets kept_open() fail with KEPT_UNAVAILABLE; one of the system layer is reported then. Once the store is
 * open, a file that breaks is reported, and the layer stays what it was. A file that is not there is an empty layer.
 *
 * Arguments are pairs, "-audio.volume 30"; a variable of the environment has the key in capitals, with `_` for each
 * dot: PLAYER_AUDIO_VOLUME. Both are text, and are read as the type that the key is declared with, else as that of the
 * function that reads; bytes are base64, padded. docs/layers.md has all rules.
 * --------------------------------------------------------------------------------------------------------------- */

#define KEPT_LAYER_NONE         0u   /* none has a value */
#define KEPT_LAYER_DECLARED     1u   /* the defaults that keys are declared with */
#define KEPT_LAYER_REGISTERED   2u   /* the defaults that this program has registered */
#define KEPT_LAYER_SYSTEM       3u   /* the administrator's defaults */
#define KEPT_LAYER_USER         4u   /* the store */
#define KEPT_LAYER_ENVIRONMENT  5u   /* variables of the environment */
#define KEPT_LAYER_ARGUMENTS    6u   /* the command line */
#define KEPT_LAYER_MANAGED      7u   /* what the administrator prescribes */

/** Says what each layer has for a key, which one wins, and why.
 *  @param[out] json  receives an object to be freed with kept_free(): "key", "value", "layer", "locked", "secret",
 *                    "revision", "reason" (a sentence), and "layers", the highest first, each with "layer", "source" (a
 *                    file, an argument or a variable), "value", "outcome" ("wins", "hidden", "skipped", "ignored",
 *                    "locks" or "silent") and "problem". What there is not is left out; of a secret all values are
 *  @return KEPT_OK, also for a key that no layer has.
 *  In Swift: `Store.explain(_:)`. In Python: `settings.explain(key)`. */
KEPT_API kept_status kept_explain_json(kept_store *store, const char *key, char **json, kept_error *error);

/** Tells which layer decides what a key reads as. @param[out] layer  receives one of KEPT_LAYER_…
 *  @return KEPT_OK, also for a key that no layer has: that is KEPT_LAYER_NONE. In Swift: `Explanation.layer`. */
KEPT_API kept_status kept_layer_of(kept_store *store, const char *key, uint32_t *layer, kept_error *error);

/** Registers defaults for this handle, above those that keys are declared with: they are not stored.
 *  @param json  an object of keys and values; null takes one back
 *  @return KEPT_OK, KEPT_INVALID with `error->offset` where the text is wrong, KEPT_TOO_LARGE, or KEPT_UNSUPPORTED for
 *          a transaction; then none is registered.
 *  In Swift: `Store.register(defaults:)`. In Python: `settings.register(defaults)`. */
KEPT_API kept_status kept_register_json(kept_store *store, const char *json, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Prepared keys: for the hottest reads
 *
 * They answer as kept_get_bool() and the others do, and save the hashing of the key.
 * --------------------------------------------------------------------------------------------------------------- */

/** A key that was checked and hashed once, for every store. It lives as long as the process: there is nothing to free.
 *  In Swift: `Key`. In Python: `kept.Key`. */
typedef struct kept_key kept_key;

/** Prepares a key; the same text gives the same pointer. Meant for keys that are known when the program is written:
 *  each text that was ever prepared takes memory until the process ends.
 *  @param[out] out  receives the prepared key
 *  @return KEPT_OK or KEPT_INVALID. */
KEPT_API kept_status kept_key_prepare(const char *key, const kept_key **out, kept_error *error);

/** Reads a bool, as kept_get_bool() does. */
KEPT_API kept_status kept_key_get_bool(kept_store *store, const kept_key *key, bool *out, kept_error *error);
/** Reads an integer, as kept_get_int64() does. */
KEPT_API kept_status kept_key_get_int64(kept_store *store, const kept_key *key, int64_t *out, kept_error *error);
/** Reads a double, as kept_get_double() does. */
KEPT_API kept_status kept_key_get_double(kept_store *store, const kept_key *key, double *out, kept_error *error);
/** Reads text into the caller's buffer, as kept_get_string() does. */
KEPT_API kept_status kept_key_get_string(kept_store *store, const kept_key *key, char *buffer, size_t capacity,
                                         size_t *length, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Keys: what is there
 * --------------------------------------------------------------------------------------------------------------- */

/** Tells whether any layer has a value for the key; defaults do not count, nor does what does not fit or is locked out.
 *  In Swift: `Store.contains(_:)`. In Python: `key in settings`. */
KEPT_API kept_status kept_contains(kept_store *store, const char *key, bool *out, kept_error *error);

/** Removes what is stored under a key. @return KEPT_OK, KEPT_ABSENT when there was nothing to remove, and then nothing
 *  changed, KEPT_SHADOWED or KEPT_LOCKED. In a transaction that counts as reading the key.
 *  In Swift: `Store.remove(_:)`. In Python: `del settings[key]`. */
KEPT_API kept_status kept_remove(kept_store *store, const char *key, kept_error *error);

/** Reads the revision that last changed what is stored under a key: the store counts its commits from 1, and a commit
 *  that changes nothing is not counted. @return KEPT_OK or KEPT_ABSENT. In Swift: `Store.revision(of:)`. */
KEPT_API kept_status kept_revision_of(kept_store *store, const char *key, uint64_t *revision, kept_error *error);

/** Receives one key. @return 0 to go on, anything else to stop. `key` is valid during the call. */
typedef int (*kept_list_callback)(void *context, const char *key);

/** Lists the keys that begin with `prefix` and that kept_contains() finds, as they are at one moment, in the order of
 *  their bytes.
 *  @param prefix    "" for every key
 *  @param callback  called on this thread, before the function returns
 *  @return KEPT_OK, also when the callback stopped it.
 *  In Swift: `Store.keys(prefix:)`. In Python: `settings.keys(prefix)`. */
KEPT_API kept_status kept_list(kept_store *store, const char *prefix, kept_list_callback callback, void *context,
                               kept_error *error);

/** The same as one JSON array of strings. @param[out] json  receives text to be freed with kept_free() */
KEPT_API kept_status kept_list_json(kept_store *store, const char *prefix, char **json, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Transactions: many keys change together or not at all
 * --------------------------------------------------------------------------------------------------------------- */

/** How to commit. Begin with KEPT_TRANSACTION_OPTIONS_INIT. */
typedef struct kept_transaction_options {
  size_t size;           /* sizeof(kept_transaction_options) */
  uint32_t durability;   /* KEPT_SHARED, KEPT_DURABLE, or KEPT_AS_OPENED: what the store was opened with */
  uint32_t reserved;     /* 0 */
  const char *tag;       /* for observers in every process, in place of the store's own; NULL for the store's own */
} kept_transaction_options;

#define KEPT_AS_OPENED 0xFFFFFFFFu
#define KEPT_TRANSACTION_OPTIONS_INIT { sizeof(kept_transaction_options), KEPT_AS_OPENED, 0u, NULL }

/** Begins a transaction. It is read and written through the same functions as a store, reads its own writes, and holds
 *  no lock: other writers go on. End it with kept_commit() or kept_rollback().
 *  @param options  NULL for the defaults
 *  @return KEPT_OK, or KEPT_UNSUPPORTED inside a transaction. While it runs, its reads answer KEPT_CONFLICT as soon as
 *          the keys it has read are known to have changed: roll it back and begin again.
 *  In Swift: `Store.transaction { }`, which begins again by itself. In Python: `with settings.transaction() as t`. */
KEPT_API kept_status kept_begin(kept_store *store, const kept_transaction_options *options, kept_store **transaction,
                                kept_error *error);

/** Commits: every write of the transaction is seen at once, by everyone. Ends the transaction, whatever it answers.
 *  @param[out] revision  receives the store's new revision, or its current one when nothing changed; may be NULL
 *  @return KEPT_OK, or KEPT_CONFLICT with nothing written when a key that it read or expected, or a prefix that it
 *          listed, has been changed by somebody else: begin again. */
KEPT_API kept_status kept_commit(kept_store *transaction, uint64_t *revision, kept_error *error);

/** Ends a transaction and forgets its writes. NULL and an ended transaction are fine. */
KEPT_API void kept_rollback(kept_store *transaction);

/* ------------------------------------------------------------------------------------------------------------------
 * Snapshots: one moment, looked at for as long as one likes
 * --------------------------------------------------------------------------------------------------------------- */

/** Takes a snapshot: an immutable view of what keys read as at one moment, layers and defaults included, while others
 *  go on writing. It is a copy in this process's memory: after this call it holds no lock, no file and none of the log,
 *  however long it is kept, also when its store is closed. One of 100,000 small values took 70 to 110 ms, on two
 *  processors with others at work, and 13 MB; during the call others go on writing, and the log is not cut off.
 *  It is read through the functions that read a store: values, kept_contains(), kept_list(), kept_revision_of(),
 *  kept_layer_of(), kept_explain_json(), declarations. Whatever else is asked of it is KEPT_UNSUPPORTED.
 *  @param prefix    only keys that begin with this text; "" for every key. Another key is KEPT_INVALID
 *  @param[out] snapshot  receives the snapshot; end it with kept_snapshot_end()
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for a transaction or a snapshot. A value that cannot be read is KEPT_CORRUPT
 *          when its key is asked, and no failure here.
 *  In Swift: `Store.snapshot(prefix:)`. In Python: `settings.snapshot(prefix)`. */
KEPT_API kept_status kept_snapshot(kept_store *store, const char *prefix, kept_store **snapshot, kept_error *error);

/** Ends a snapshot and frees its copy. NULL and an ended snapshot are fine; late use is KEPT_CLOSED. */
KEPT_API void kept_snapshot_end(kept_store *snapshot);

/** Reads the store's count of commits: of a snapshot, at its moment; of a store, now.
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for a transaction. In Swift: `Snapshot.revision`, `Store.currentRevision()`.
 *  In Python: `settings.revision()`, and the same of a snapshot. */
KEPT_API kept_status kept_store_revision(kept_store *store, uint64_t *revision, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Clearing: back to the defaults
 *
 * When the value of a key that is declared secret is removed or replaced, no file of the store has its bytes when the
 * call returns; with somebody's reading in the way, within a second of its end, or when the store is closed. That takes
 * 30 to 110 ms for stores of up to 100,000 keys. Copies elsewhere stay: backups, exports, quarantine, and whatever the
 * disk keeps by itself; and after kill -9 in the instant after the commit, the bytes until the next time.
 * --------------------------------------------------------------------------------------------------------------- */

/** Lets a key read as its default again: removes what is stored, if anything is.
 *  @return KEPT_OK, also when there was nothing to remove, KEPT_SHADOWED or KEPT_LOCKED.
 *  In Swift: `Store.reset(_:)`. In Python: `settings.reset(key)`. */
KEPT_API kept_status kept_reset(kept_store *store, const char *key, kept_error *error);

/** Removes what is stored under every key that begins with `prefix`, in one commit; declarations stay.
 *  @param prefix   "" for every key
 *  @param[out] removed  receives the number of keys; may be NULL
 *  @return KEPT_OK, also when there was nothing to remove; KEPT_LOCKED, with nothing removed, if one of them is locked;
 *          KEPT_UNSUPPORTED, with nothing removed, for several keys in a `dir:` store, which changes one at a time.
 *  In Swift: `Store.removeAll(prefix:)`. In Python: `settings.remove_all(prefix)`. */
KEPT_API kept_status kept_remove_all(kept_store *store, const char *prefix, size_t *removed, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Export and import: a store as a file
 *
 * What is stored is exported, not what defaults and other layers say. The text is one canonical JSON object:
 *   {"declarations":{...},"kept":1,"omitted":["token"],"prefix":"","revision":17,"schemaVersion":2,"values":{...}}
 * with "declarations" only if asked for, "omitted" the secret keys that were left out, and not there if none were to
 * be, "schemaVersion" where the program has given one (kept_migrate()). Texts of other programs can be imported too,
 * see KEPT_FORMAT_…. docs/export-and-import.md has all rules.
 * --------------------------------------------------------------------------------------------------------------- */

/** Hears how far a long call is. An export counts keys, an import the bytes of its text: the last time it is called is
 *  before the commit. @return 0 to go on, anything else to stop: then nothing is changed, and the call is KEPT_FAILED.
 *  Called on the thread of the call, with no lock held. */
typedef int (*kept_progress_callback)(void *context, uint64_t done, uint64_t total);

#define KEPT_FORMAT_KEPT           0u   /* what kept_export_json() writes */
#define KEPT_FORMAT_JSON           1u   /* a JSON object whose members are keys */
#define KEPT_FORMAT_NESTED_JSON    2u   /* a JSON object whose objects are parts of keys: {"audio":{"volume":30}} */
#define KEPT_FORMAT_PROPERTY_LIST  3u   /* a property list: XML, binary, or old style */
#define KEPT_FORMAT_ENV            4u   /* lines NAME=value, as in a .env file */
#define KEPT_FORMAT_INI            5u   /* [section] and name = value */
#define KEPT_FORMAT_DCONF          6u   /* what `dconf dump` writes */

#define KEPT_TRANSFER_REPLACE       1u   /* import: keys with the prefix that the text does not have are removed, but
                                            for what an export says that it has left out */
#define KEPT_TRANSFER_DRY_RUN       2u   /* import: change nothing, and report what would be */
#define KEPT_TRANSFER_DECLARATIONS  4u   /* declarations too */
#define KEPT_TRANSFER_SECRETS       8u   /* export: the values of secret keys too */
#define KEPT_TRANSFER_READABLE     16u   /* export: leave out what cannot be read, and name it under
                                            "unreadable", in place of failing */

/** What to export or import. Begin with KEPT_TRANSFER_OPTIONS_INIT. In Swift: `ExportOptions`, `ImportOptions`. */
typedef struct kept_transfer_options {
  size_t size;             /* sizeof(kept_transfer_options) */
  uint32_t flags;          /* KEPT_TRANSFER_… */
  uint32_t format;         /* import: KEPT_FORMAT_… */
  const char *prefix;      /* export: only keys that begin with it. Import: only such keys of Kept's own format; of
                              other formats it is put in front of every key. NULL for "" */
  const char *separator;   /* between the parts of nested keys and sections; NULL for "."; KEPT_INVALID if it is empty
                              and the format has such parts */
  const char *env_prefix;  /* of KEPT_FORMAT_ENV: only names that begin with it, each of which is the key that it stands
                              for in the environment (PLAYER_AUDIO_VOLUME is audio.volume); NULL: names are keys */
  kept_progress_callback progress;   /* NULL for none */
  void *progress_context;
} kept_transfer_options;

#define KEPT_TRANSFER_OPTIONS_INIT { sizeof(kept_transfer_options), 0u, 0u, NULL, NULL, NULL, NULL, NULL }

/** Exports the store or a part of it, as it is at one moment. @param options  NULL for everything but secrets and
 *  declarations @param[out] json  receives text to be freed with kept_free()
 *  @return KEPT_OK, or KEPT_CORRUPT, with the key, for a value that cannot be read.
 *  In Swift: `Store.export(_:)`. In Python: `settings.export(...)`. */
KEPT_API kept_status kept_export_json(kept_store *store, const kept_transfer_options *options, char **json,
                                      kept_error *error);

/** The same into a file of mode 0600, which is there whole and synced when the call returns, or not at all. One that is
 *  there is replaced; KEPT_INVALID for anything but a regular file (a symbolic link, a FIFO, a device), and in the
 *  folder of a store. In Swift: `Store.export(to:_:)`. In Python: `settings.export_file(path, ...)`. */
KEPT_API kept_status kept_export_file(kept_store *store, const char *path, const kept_transfer_options *options,
                                      kept_error *error);

/** Imports a text as one commit: all of it or nothing.
 *  @param[out] report  receives an object to be freed with kept_free(); may be NULL: "revision", "changed" (each with
 *                      "key", "old" and "new", without the values of secrets), "removed" and "declared" (keys),
 *                      "unchanged" (how many), "refused" (each with "key" and "reason") and "notCarried" (each with
 *                      "place" and "reason": what the format has and Kept has not). NULL after KEPT_OK where there is
 *                      no memory for it: the import is done
 *  @return KEPT_OK; KEPT_INVALID with `error->offset` for a text that is not of the format; KEPT_LOCKED,
 *          KEPT_WRONG_TYPE, KEPT_INVALID, KEPT_TYPE_CONFLICT or KEPT_TOO_LARGE for the first key that is refused, with
 *          nothing changed; KEPT_TOO_LARGE for a text of more than 1 GiB; KEPT_UNSUPPORTED for an export of a
 *          later version of Kept, or of another schema version than that of a store with something in it, and for a
 *          transaction; KEPT_BUSY where others write all the time.
 *          A dry run is KEPT_OK, and reports all that is refused.
 *  In Swift: `Store.import(_:_:)`. In Python: `settings.import_text(...)`. */
KEPT_API kept_status kept_import(kept_store *store, const void *text, size_t length,
                                 const kept_transfer_options *options, char **report, kept_error *error);

/** The same from a file. @return as kept_import(), KEPT_UNAVAILABLE where there is no such file, KEPT_DENIED, or
 *          KEPT_INVALID for a file that belongs to a store which this process has open: like every file that is handed
 *          to Kept, such a one is not opened, since closing it would give up SQLite's locks. That holds for the calling
 *          program, too: it must not open the files of an open store.
 *  In Swift: `Store.import(contentsOf:_:)`. In Python: `settings.import_file(path, ...)`. */
KEPT_API kept_status kept_import_file(kept_store *store, const char *path, const kept_transfer_options *options,
                                      char **report, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Backup: a copy of everything, and the way back
 * --------------------------------------------------------------------------------------------------------------- */

#define KEPT_BACKUP_REPLACE  1u   /* a regular file that is there already is replaced, once the new one is whole */

/** Copies the store with declarations, revisions and secrets to a file, as it is at one moment, while others write.
 *  @param path   a file that is not there yet; with a slash at its end, or as the path of an empty folder, a folder,
 *                which is a store that can be opened. Readable for the owner alone, and synced when the call returns.
 *                Not a file in the folder of a store
 *  @param flags  0 or KEPT_BACKUP_REPLACE
 *  @param[out] revision  receives the revision that it shows; may be NULL
 *  @return KEPT_OK, KEPT_INVALID where something is there already, or anything but a regular file, KEPT_DENIED,
 *          KEPT_NO_SPACE with nothing left behind, or KEPT_UNSUPPORTED for a transaction.
 *  In Swift: `Store.backup(to:)`. In Python: `settings.backup(path)`. */
KEPT_API kept_status kept_backup(kept_store *store, const char *path, uint32_t flags, uint64_t *revision,
                                 kept_error *error);

/** Makes the store what a backup is, in one commit, of which observers everywhere hear; what was there goes to the
 *  folder `quarantine` first. To restore beside, open another location and restore there.
 *  @param path  what kept_backup() has written: a file, or a folder
 *  @param[out] quarantine  receives the path of the copy of what was there, to be freed with kept_free(); NULL where
 *                          nothing was; may be NULL
 *  @return KEPT_OK; KEPT_UNAVAILABLE where there is no such file; KEPT_CORRUPT for a backup that is damaged and
 *          KEPT_UNSUPPORTED for what is no backup, or one of a later version, and inside a migration's step;
 *          KEPT_INVALID for another name of a file that belongs to an open store; KEPT_BUSY if others write or migrate
 *          for longer than the busy time-out: nothing is changed then.
 *  In Swift: `Store.restore(from:)`. In Python: `settings.restore(path)`. */
KEPT_API kept_status kept_restore(kept_store *store, const char *path, char **quarantine, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Migrations: when the shape of settings changes
 *
 * A program numbers the shapes that its settings have had, from 1, and ships the steps from each to the next. The store
 * keeps the number of the shape that it has: its schema version.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads the schema version: 0 where no program has given one. In Swift: `Store.schemaVersion()`.
 *  In Python: `settings.schema_version`. */
KEPT_API kept_status kept_schema_version(kept_store *store, uint32_t *version, kept_error *error);

/** One step. Reads and writes through `transaction`, and must have no effect elsewhere: it may run again when another
 *  process writes meanwhile. @return KEPT_OK, or an error, with `error` filled in or not: then nothing is changed. */
typedef kept_status (*kept_migration_callback)(void *context, kept_store *transaction, kept_error *error);

/** A step to a schema version. In Swift and Python: `Migration`. */
typedef struct kept_migration {
  uint32_t version;               /* the schema version that it leads to */
  uint32_t reserved;              /* 0 */
  const char *name;               /* what it does, for errors: "volume becomes audio.volume" */
  kept_migration_callback run;
  void *context;
} kept_migration;

#define KEPT_MIGRATE_CARRY_ON   1u   /* while another process migrates: do not wait for it */
#define KEPT_MIGRATE_READ_ONLY  2u   /* a store of a later version: this handle goes on reading, and does not write */
#define KEPT_MIGRATE_NO_BACKUP  4u   /* without a backup before */
#define KEPT_MIGRATE_CONFIRMED  8u   /* what a step answers is `error->status`, and not what it returns: KEPT_FAILED
                                        unless the step sets it, to KEPT_OK when it is done */

#define KEPT_MIGRATED_NOTHING    0u   /* the store had the version of the last step */
#define KEPT_MIGRATED            1u   /* the steps were run */
#define KEPT_MIGRATED_FRESH      2u   /* nothing was stored: it has the version of the last step now; none was run */
#define KEPT_MIGRATED_ELSEWHERE  3u   /* another process is at it: read on, and migrate again before you write */
#define KEPT_MIGRATED_READ_ONLY  4u   /* the store is of a later version, and this handle only reads it */

/** Brings the store to the version of the last step: runs those that lead to versions above its own, in their order, by
 *  one process and in one transaction, after a backup to the folder `backups` of the store.
 *  Other processes that migrate wait, for as long as the busy time-out, or carry on; kill -9 at any point leaves the
 *  old state or the new one.
 *  @param steps  with versions that rise, the first at least 1; at most 65,536
 *  @param flags  KEPT_MIGRATE_…
 *  @param[out] result  receives one of KEPT_MIGRATED…; may be NULL
 *  @param[out] backup  receives the path of the backup, to be freed with kept_free(), or NULL where none was made;
 *                      may be NULL
 *  @return KEPT_OK; what a step answers, with its version and name in `error`, and nothing changed; KEPT_UNSUPPORTED
 *          for a store of a later version, and inside a step; KEPT_BUSY; KEPT_INVALID.
 *  In Swift: `Store.migrate(_:)`. In Python: `settings.migrate(...)`. */
KEPT_API kept_status kept_migrate(kept_store *store, const kept_migration *steps, size_t count, uint32_t flags,
                                  uint32_t *result, char **backup, kept_error *error);

/** Moves what is stored under a key, and what it is declared as, to another key, also in a transaction.
 *  @return KEPT_OK, KEPT_ABSENT where the key is neither stored nor declared, KEPT_INVALID where the other one is,
 *          KEPT_SHADOWED or KEPT_LOCKED. In Swift: `rename(_:to:)`. In Python: `settings.rename(key, to)`. */
KEPT_API kept_status kept_rename(kept_store *store, const char *key, const char *to, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Observation: hearing of changes
 *
 * Every process hears of every change, in the order of the commits, never of a part of a transaction, never of an older
 * state after a newer one, and always of the last one. A transaction of this process is a notice of its own; those of
 * other processes may come merged. An observer that is slow delays only itself: what waits for it is merged by key.
 * --------------------------------------------------------------------------------------------------------------- */

/** One or more whole transactions as an observer sees them. Valid during the callback, or until it is freed.
 *  In Swift: `Notice`. */
typedef struct kept_notice kept_notice;

/** A subscription; ended by kept_unobserve(), or with its store. In Swift: `Subscription`. */
typedef struct kept_subscription kept_subscription;

/** Receives a notice: on the store's own delivery thread, or in kept_store_dispatch() or kept_subscription_dispatch().
 *  The callbacks of a subscription come one at a time, and so do those of a store, but for this: while one takes longer
 *  than 100 ms, other subscriptions are called on another thread; and a subscription whose callback has taken so long
 *  is called beside the others until it has returned sooner 16 times in a row. Up to four threads of a location call
 *  such slow subscriptions; with more of them, they wait for each other and for no one else; only
 *  where more than eight turn out to be slow at the same time, others wait for them once. */
typedef void (*kept_notice_callback)(void *context, const kept_notice *notice);

#define KEPT_OBSERVE_KEY      0u   /* changes of exactly this key */
#define KEPT_OBSERVE_PREFIX   1u   /* changes of every key that begins with this text; "" is everything */
#define KEPT_OBSERVE_INITIAL  2u   /* first deliver the current values, on this thread, before kept_observe() returns */
#define KEPT_OBSERVE_POLLED   4u   /* called only in kept_subscription_dispatch(), however the store was opened */

/** Subscribes to a key or a prefix. Subscribing to a prefix reads, and keeps in memory, the values of all its keys.
 *  @param flags    KEPT_OBSERVE_KEY or KEPT_OBSERVE_PREFIX, with the others or without
 *  @param callback  may be NULL with KEPT_OBSERVE_POLLED: then notices are not delivered but taken, an initial one
 *                   first, with kept_subscription_take()
 *  @param release  called once with `context`, after the last callback; not when kept_observe() fails. May be NULL
 *  @param[out] subscription  receives the subscription; set before the first callback begins
 *  @return KEPT_OK, KEPT_INVALID, or KEPT_UNSUPPORTED on a transaction.
 *  In the child of a fork the subscriptions of the parent hear nothing: subscribe again.
 *  In Swift: `Store.observe(_:initial:_:)`. In Python: `settings.observe(...)`. */
KEPT_API kept_status kept_observe(kept_store *store, const char *key, uint32_t flags, kept_notice_callback callback,
                                  void *context, void (*release)(void *context), kept_subscription **subscription,
                                  kept_error *error);

/** Ends a subscription. When it returns no further callback begins and `release` has been called; a callback that runs
 *  is waited for. Not so from inside that callback, nor from inside one that it waits for (two may end each other):
 *  then it returns at once, and `release` is called when the callback has returned.
 *  Notices that were not delivered by then are dropped. NULL and an ended subscription are fine. */
KEPT_API void kept_unobserve(kept_subscription *subscription);

/** The file descriptor by which a store opened with KEPT_BY_HOST says that callbacks are due: watch it for reading,
 *  with poll, epoll, g_unix_fd_add or the like, and call kept_store_dispatch() when it is readable. It stays readable
 *  for as long as something is due. Do not read it and do not close it: it is closed with the store, whose closing
 *  makes it readable first. In the child of a fork it has the same number, and knows only what is subscribed there.
 *  @param[out] fd  receives the descriptor
 *  @return KEPT_OK, KEPT_UNSUPPORTED for a store that was opened otherwise, or KEPT_FAILED if no descriptor is free. */
KEPT_API kept_status kept_store_fd(kept_store *store, int *fd, kept_error *error);

/** Makes the callbacks that are due, on this thread; does not wait for any.
 *  @param max       at most so many; 0 for all that are due now: what their callbacks write is due the next time
 *  @param[out] delivered  receives how many there were; may be NULL
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for a store that was not opened with KEPT_BY_HOST. */
KEPT_API kept_status kept_store_dispatch(kept_store *store, size_t max, size_t *delivered, kept_error *error);

/** The same as kept_store_fd() for one subscription made with KEPT_OBSERVE_POLLED, so that each goes at its own pace.
 *  The descriptor is closed with the subscription, whose end makes it readable: dup() it for a loop that lives longer.
 *  @return KEPT_OK, KEPT_CLOSED for a subscription that has ended, or KEPT_UNSUPPORTED for any other. */
KEPT_API kept_status kept_subscription_fd(kept_subscription *subscription, int *fd, kept_error *error);

/** The same as kept_store_dispatch() for one subscription made with KEPT_OBSERVE_POLLED and with a callback, one thread
 *  at a time. @return as kept_subscription_fd(). */
KEPT_API kept_status kept_subscription_dispatch(kept_subscription *subscription, size_t max, size_t *delivered,
                                                kept_error *error);

/** Takes the notice that comes next, of a subscription made with KEPT_OBSERVE_POLLED and without a callback; does not
 *  wait for one. Its descriptor, see kept_subscription_fd(), is readable for as long as there is one.
 *  @param[out] notice  receives the notice, or NULL where there is none now. It outlives the subscription, is used by
 *                      one thread at a time, and is freed with kept_notice_free()
 *  @return as kept_subscription_fd(). */
KEPT_API kept_status kept_subscription_take(kept_subscription *subscription, kept_notice **notice, kept_error *error);

/** Frees a notice that was taken. Not one that a callback is called with. NULL is fine. */
KEPT_API void kept_notice_free(kept_notice *notice);

/* ------------------------------------------------------------------------------------------------------------------
 * Notices: what an observer is told. Everything is valid as long as the notice; do not free.
 * --------------------------------------------------------------------------------------------------------------- */

#define KEPT_ORIGIN_STORE    0u   /* this handle wrote it */
#define KEPT_ORIGIN_PROCESS  1u   /* another handle in this process wrote it */
#define KEPT_ORIGIN_OTHER    2u   /* another process wrote it */
#define KEPT_ORIGIN_INITIAL  3u   /* nobody wrote it now: the values at the time of subscribing */
#define KEPT_ORIGIN_SEVERAL  4u   /* several of the others: the observer was too slow to hear of each */
#define KEPT_ORIGIN_LAYER    5u   /* nobody wrote to the store: a file of this handle's layers has changed */

/** The revision that the notice leads up to. */
KEPT_API uint64_t kept_notice_revision(const kept_notice *notice);
/** The first revision that the notice tells of: it is about this one, kept_notice_revision(), and all between. */
KEPT_API uint64_t kept_notice_first_revision(const kept_notice *notice);
/** Who wrote it: one of KEPT_ORIGIN_…. */
KEPT_API uint32_t kept_notice_origin(const kept_notice *notice);
/** What the writers of all its transactions call themselves (`tag` in the options); NULL where they do not agree. */
KEPT_API const char *kept_notice_tag(const kept_notice *notice);
/** Whether changes in between may have been missed, because the store no longer knows what happened: it was read again,
 *  and the values are right. */
KEPT_API bool kept_notice_may_have_missed(const kept_notice *notice);
/** The number of changes in the notice. */
KEPT_API size_t kept_notice_count(const kept_notice *notice);
/** The key of a change, of 0 to count - 1; NULL beyond. */
KEPT_API const char *kept_notice_key(const kept_notice *notice, size_t index);
/** The value before the change as JSON: what this subscription last reported, or what it found when it was made. NULL
 *  where there was none, and beyond the last change. NULL, too, where there is no memory for the text: then
 *  kept_notice_old() is not NULL, and this may be called again. */
KEPT_API const char *kept_notice_old_json(const kept_notice *notice, size_t index);
/** The value after the change as JSON; NULL where the key was removed, and beyond the last change. NULL, too, where
 *  there is no memory for the text: then kept_notice_new() is not NULL, and this may be called again. */
KEPT_API const char *kept_notice_new_json(const kept_notice *notice, size_t index);

/** The layer that the new value comes from: one of KEPT_LAYER_…, KEPT_LAYER_NONE where there is none. A change may be
 *  of this alone. */
KEPT_API uint32_t kept_notice_layer(const kept_notice *notice, size_t index);
/** Whether the key is declared secret, so that its values must not be written to a log or a screen. */
KEPT_API bool kept_notice_secret(const kept_notice *notice, size_t index);

/** A value in a notice, to be read as kept_get_bool() and the others read. In Swift: `Value`. */
typedef struct kept_value kept_value;

/** The value before the change; NULL where there was none. */
KEPT_API const kept_value *kept_notice_old(const kept_notice *notice, size_t index);
/** The value after the change; NULL where the key was removed. */
KEPT_API const kept_value *kept_notice_new(const kept_notice *notice, size_t index);

/** Reads a bool. These functions answer KEPT_OK, KEPT_WRONG_TYPE, KEPT_ABSENT for the value NULL, or KEPT_INVALID. */
KEPT_API kept_status kept_value_bool(const kept_value *value, bool *out, kept_error *error);
/** Reads an integer. */
KEPT_API kept_status kept_value_int64(const kept_value *value, int64_t *out, kept_error *error);
/** Reads an integer of 0 to UINT64_MAX. */
KEPT_API kept_status kept_value_uint64(const kept_value *value, uint64_t *out, kept_error *error);
/** Reads a double. */
KEPT_API kept_status kept_value_double(const kept_value *value, double *out, kept_error *error);
/** Reads a date, as kept_get_date() does. */
KEPT_API kept_status kept_value_date(const kept_value *value, int64_t *seconds, int32_t *nanoseconds,
                                     kept_error *error);
/** Reads text, in place: valid during the callback, with a NUL behind it. `length` may be NULL. */
KEPT_API kept_status kept_value_string(const kept_value *value, const char **text, size_t *length, kept_error *error);
/** Reads bytes, in place: valid during the callback. */
KEPT_API kept_status kept_value_bytes(const kept_value *value, const void **bytes, size_t *length, kept_error *error);

#ifdef __cplusplus
}
#endif

#endif
