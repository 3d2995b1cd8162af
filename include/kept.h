/* SPDX-License-Identifier: MIT
 *
 * kept.h — a typed settings store that Swift, C and Python programs share.
 *
 * This file is the library's entire interface.
 *
 * Conventions:
 *
 * - Functions are named kept_<subject>_<verb>: kept_key_prepare(), kept_subscription_take(), kept_notice_free(). A
 *   plain verb has the store as its subject: kept_open(), kept_get_int64(), kept_observe(). A function that only
 *   returns a property is named after it: kept_notice_origin().
 * - Every function that can fail returns a kept_status: 0 is success, a negative value is an error, and a positive
 *   value is success with a warning. Arguments come in the order subject, inputs, out, error. An out argument is
 *   written only if the status is 0 or positive, unless the function says otherwise.
 * - `error` belongs to the caller, needs no initialisation and may be NULL. It is filled if the status is not KEPT_OK,
 *   and unchanged otherwise.
 * - Text is UTF-8. Keys end with a NUL. Text and bytes that may contain a NUL come with a length. Kept copies its
 *   inputs before the call returns. Free what Kept returns in a `char **` with kept_free().
 * - A key is 1 to 1024 bytes of UTF-8 without NUL, compared byte by byte. Dots have no special meaning. Any other key
 *   is KEPT_INVALID.
 * - A NULL handle, key or out argument is KEPT_INVALID, never a crash. So is text that is not UTF-8.
 * - Every function may be called from any thread that has at least 128 KiB of stack left. A closed handle may still be
 *   passed: the call returns KEPT_CLOSED.
 * - Callbacks are called with no lock held and may call any function of this header.
 * - Callbacks must return. A callback that is left by longjmp(), a C++ exception or pthread_exit() leaves no lock
 *   behind, but its call stays incomplete: its memory is leaked, and an interrupted kept_open() leaves the store open.
 *   A notice callback that was left in this way is not called again. End its subscription on the same thread, because
 *   any other thread would wait forever. If a migration step was left, nothing can be migrated or restored until the
 *   last handle on the store is closed. A callback cannot be left on a thread of the library.
 * - No function is a cancellation point. A thread that is cancelled with pthread_cancel() ends at its next cancellation
 *   point outside of Kept, such as pthread_testcancel(); a callback counts as inside. Call no function of this header
 *   while PTHREAD_CANCEL_ASYNCHRONOUS is set, and call pthread_setcancelstate() after a callback has been left.
 * - In a language whose callbacks can be left by an exception and then return an arbitrary value (Python), use the
 *   functions that need no callback: kept_list_json() and kept_subscription_take(). For migration steps, which have no
 *   such form, pass KEPT_MIGRATE_CONFIRMED.
 * - If the folder of an open store, or its file `values` or `journal.<n>`, is removed or replaced, every durable write,
 *   every flush, and the first write after a second without one return KEPT_UNAVAILABLE at once, and write nothing into
 *   the folder that was moved. Any other write may return KEPT_OK for up to a second, and is lost. From then on every
 *   call returns KEPT_UNAVAILABLE, until the folder or the file is in its place again. Nothing is written into the new
 *   folder or file. If such a file is truncated or overwritten, the same writes and every flush return KEPT_CORRUPT,
 *   as far as its length and its head show it. If the file `pulse` is removed, programs that have the store open
 *   continue, and opening it returns KEPT_BUSY in others until all of them have closed it.
 *
 * Every function that reads or writes may also return KEPT_CLOSED, KEPT_BUSY, KEPT_NO_SPACE, KEPT_DENIED, KEPT_CORRUPT,
 * KEPT_UNAVAILABLE or KEPT_FAILED, each with a message in `error`. The functions below list only what they add to
 * these.
 */
#ifndef KEPT_H
#define KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library. The build reads it from here. */
#define KEPT_VERSION_MAJOR 0
#define KEPT_VERSION_MINOR 1
#define KEPT_VERSION_PATCH 0

#define KEPT_API __attribute__((visibility("default")))

/* ------------------------------------------------------------------------------------------------------------------
 * Status: the result of a call
 * --------------------------------------------------------------------------------------------------------------- */

/** The result of a call. Later versions may add codes: treat an unknown negative code like KEPT_FAILED.
 *  docs/guide/errors.md and `kept help CODE`, such as `kept help busy`, explain the causes and the remedies of each.
 *  In Swift: `StoreError.Code`; in Python: one exception class for each code. */
typedef int32_t kept_status;

#define KEPT_OK              0   /* success */
#define KEPT_SHADOWED        1   /* success, but a higher layer overrides the value */
#define KEPT_SALVAGED        2   /* success, but the store was damaged: values may be lost; see kept_salvaged() */
#define KEPT_MISFIT          3   /* success, but the stored value does not fit the declaration and reads as absent */
#define KEPT_DEPRECATED      4   /* reported only, never returned: the key that was set is declared as deprecated */
#define KEPT_ABSENT         -1   /* no layer has a value for the key */
#define KEPT_WRONG_TYPE     -2   /* the key holds, or is declared with, a value of another kind; it is unchanged */
#define KEPT_TYPE_CONFLICT  -3   /* the key is declared with another type */
#define KEPT_INVALID        -4   /* an argument, a JSON text or a value breaks a rule */
#define KEPT_LOCKED         -5   /* an administrator has locked the key */
#define KEPT_CONFLICT       -6   /* the expected revision is no longer the current one */
#define KEPT_BUSY           -7   /* another writer held the store for longer than the timeout */
#define KEPT_NO_SPACE       -8   /* the disk or the quota is full; the old state is intact */
#define KEPT_DENIED         -9   /* the file system does not permit the operation */
#define KEPT_CORRUPT       -10   /* the stored data is damaged */
#define KEPT_UNAVAILABLE   -11   /* the store cannot be reached now; this does not mean that it is empty */
#define KEPT_CLOSED        -12   /* the handle was closed */
#define KEPT_FORKED        -13   /* the handle belongs to the parent of this process */
#define KEPT_TOO_LARGE     -14   /* the value or the text is over a limit, or the buffer is too small */
#define KEPT_UNSUPPORTED   -15   /* this storage or this version does not support the call */
#define KEPT_FAILED        -16   /* any other failure; the message says which */

/** The reason for a failure: owned by the caller, of fixed size, with nothing to free. In Swift: `StoreError`. */
typedef struct kept_error {
  kept_status status;   /* the status that the call returned */
  int32_t reserved;     /* 0 */
  int64_t offset;       /* the byte, from 0, at which a JSON text is wrong; -1 if not applicable */
  char message[496];    /* one sentence: the request, the finding, and the remedy; ends with a NUL */
} kept_error;

/** Returns the version of the loaded library, such as "0.1.0". Static text; do not free. */
KEPT_API const char *kept_version(void);

/** Returns the name of a status, such as "wrong type", or "unknown status" for one that this version does not know.
 *  Static text; do not free. */
KEPT_API const char *kept_status_text(kept_status status);

/** Frees text that Kept returned in a `char **`. NULL is allowed. */
KEPT_API void kept_free(void *memory);

/* ------------------------------------------------------------------------------------------------------------------
 * Display: text for a terminal, a log or a report
 *
 * Keys, values, tags and file names may contain anything. Control characters control a terminal and begin lines of a
 * log. Characters that change the direction of text rearrange a line. Invisible characters make different keys look the
 * same. Messages of kept_error are safe: such characters are escaped in them.
 * --------------------------------------------------------------------------------------------------------------- */

#define KEPT_DISPLAY_LINE   0u   /* one line: line breaks and tabs are escaped too, as \n, \r and \t */
#define KEPT_DISPLAY_LINES  1u   /* line breaks (LF) and tabs stay */
#define KEPT_DISPLAY_JSON   2u   /* the text is JSON, and has the same value afterwards */

/** Escapes the characters of a text that must not reach a terminal or a log: as \u{1B}, and in JSON as \u009b.
 *
 *  These are the control characters, the line and paragraph separator, and all that Unicode calls default ignorable.
 *  The invisible characters within emoji, and the joiners within Arabic and the scripts of South Asia, stay.
 *  @param text    `length` bytes of UTF-8, which may contain NULs
 *  @param form    one of KEPT_DISPLAY_...
 *  @param[out] displayed  receives the text; free it with kept_free()
 *  @return KEPT_OK; KEPT_INVALID if the text is not UTF-8 or `form` is another number; KEPT_TOO_LARGE for more than 16
 *          MiB; or KEPT_FAILED without memory.
 *  In Swift: `DisplayText`; in Python: `kept.display_text(text)`. */
KEPT_API kept_status kept_display_text(const char *text, size_t length, uint32_t form, char **displayed,
  kept_error *error);

/** Escapes a text for one line, as KEPT_DISPLAY_LINE does, and shortens it to a number of columns of a terminal. Wide
 *  characters and emoji take two columns, and combining characters none.
 *  @param text     `length` bytes of UTF-8, which may contain NULs
 *  @param columns  the most that the text may take; one that is longer ends in U+2026, an ellipsis
 *  @param[out] cut   receives the text; free it with kept_free()
 *  @param[out] used  receives the number of columns that it takes, for padding; may be NULL
 *  @return as kept_display_text().
 *  In Swift: `DisplayText.cut(_:toColumns:)`; in Python: `kept.display_text(text, columns=40)`. */
KEPT_API kept_status kept_display_cut(const char *text, size_t length, size_t columns, char **cut, size_t *used,
  kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Store: opening and closing
 * --------------------------------------------------------------------------------------------------------------- */

/** An open store, or a transaction on one, or a snapshot of one. The same functions read and write a store and a
 *  transaction; the reading functions also take a snapshot. A store is made by kept_open() and ended by kept_close(); a
 *  transaction is made by kept_begin() and ended by kept_commit() or kept_rollback(); a snapshot is made by
 *  kept_snapshot() and ended by kept_snapshot_end().
 *  In Swift: `Store`, `Transaction`, `Snapshot`. */
typedef struct kept_store kept_store;

#define KEPT_SHARED   0u   /* when the call returns, every process reads the value, and it survives kill -9 of every
                              process */
#define KEPT_DURABLE  1u   /* the value also survives power loss: it is synced to the disk before the call returns. If
                              that sync fails, the call fails; the value is stored, but may not survive */

/** Receives failures that no call can return, and warnings such as KEPT_DEPRECATED.
 *  @param error  valid during the call
 *  In Swift: `StoreOptions.errorHandler`; in Python: the logger "kept". */
typedef void (*kept_report_callback)(void *context, const kept_error *error);

/** How to open a store. Begin with KEPT_OPTIONS_INIT, then change what you need. In Swift: `StoreOptions`. */
typedef struct kept_options {
  size_t size;                /* sizeof(kept_options), so that older and newer programs both work */
  uint32_t durability;        /* KEPT_SHARED or KEPT_DURABLE: the default for writes */
  uint32_t busy_timeout_ms;   /* how long a write waits for other writers, including threads of its own process, before
                                 it returns KEPT_BUSY, in milliseconds; up to a second more while another thread of the
                                 process waits for longer. Any number is allowed: UINT32_MAX is 49 days */
  uint32_t delivery;          /* KEPT_BY_LIBRARY or KEPT_BY_HOST: which thread calls observers */
  uint32_t access;            /* KEPT_READ_WRITE, or KEPT_READ_ONLY to change nothing: see kept_open() */
  const char *tag;            /* a name for the program that observers in every process receive, of at most 1024 bytes;
                                 NULL for none */
  const char *managed;        /* the file of the managed layer: a path, or KEPT_STANDARD_FILE; NULL for none */
  const char *system;         /* the file of the system layer: a path, or KEPT_STANDARD_FILE; NULL for none */
  const char *environment;    /* the prefix of the environment variables to read, such as "PLAYER_"; NULL for none */
  const char *const *argv;    /* the arguments to read, as main() receives them; NULL for none. An argument that is not
                                 UTF-8 is reported and ignored */
  size_t argc;                /* the number of arguments; a NULL among them is KEPT_INVALID */
  kept_report_callback report;   /* receives what no call can return: a broken layer file, a layer's value that does not
                                    fit its declaration, an environment variable for a key that is not declared, a
                                    deprecated key that was set. NULL: nothing is reported.
                                    Called on the thread that finds it, with no lock held, both before and after
                                    kept_open() returns */
  void *report_context;       /* passed to `report`; must stay valid until kept_close() has returned */
} kept_options;

#define KEPT_BY_LIBRARY  0u   /* a thread of the library calls observers */
#define KEPT_BY_HOST     1u   /* the program calls kept_store_dispatch() when kept_store_fd() is readable */

#define KEPT_READ_WRITE  0u
#define KEPT_READ_ONLY   1u

/* As the path of a layer's file: /etc/kept/<identifier>/managed.json or system.json. Only for a store opened by its
   identifier. In a sandbox that shows the files of its host, those in /run/host/etc/kept apply too. */
#define KEPT_STANDARD_FILE ""

#define KEPT_OPTIONS_INIT \
  { sizeof(kept_options), KEPT_SHARED, 5000u, KEPT_BY_LIBRARY, 0u, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL }

/** Opens a store. Creates it if it does not exist.
 *  @param location  one of: an identifier such as "com.example.player", stored in
 *                   $XDG_CONFIG_HOME/kept/<identifier>.kept/, by default in ~/.config, where ~ is HOME or, if that is
 *                   not set, the home folder in the user database (passwd); text with a slash: the path of the store's
 *                   folder; "memory:": a new store without a file; "memory:name": a store without a file, shared by
 *                   name within this process; "dir:/path": a folder with one JSON file for each key, for values that
 *                   people edit. A `dir:` store has no declarations, and no transactions of more than one key
 *                   (KEPT_UNSUPPORTED)
 *  @param options  NULL for the defaults; copied
 *  @param[out] store  receives the handle; end it with kept_close()
 *  @return KEPT_OK, KEPT_SALVAGED, KEPT_INVALID, KEPT_BUSY, KEPT_DENIED, KEPT_NO_SPACE, KEPT_CORRUPT, KEPT_UNAVAILABLE,
 *          KEPT_UNSUPPORTED, or KEPT_FAILED if layers have files and no thread can be started that follows them.
 *
 *  Opening one location several times, in one process or in many, is allowed. All handles see the same values.
 *
 *  Opening and reading do not wait for writers, not even for one that was stopped in the middle of a commit. There is
 *  one exception: while a process is stopped (SIGSTOP, a debugger) that is opening a store which no other has open,
 *  opening returns KEPT_BUSY after the timeout in `options`. A process that is stopped during a read blocks no other.
 *
 *  A child that was made by _Fork() or clone() shares its parent's locks, because no fork handler runs. If the parent
 *  is killed in the middle of a commit, writes return KEPT_BUSY as long as the child lives, or until it calls exec().
 *  Use fork(), or end such a child soon.
 *
 *  On a file system in user space (FUSE, virtiofs), use a store through one mount, on one machine. Each mount has
 *  mapped pages and locks of its own, which cannot be detected: programs on two mounts overwrite each other's changes.
 *
 *  A store's folder must belong to the program's effective user, and no other user may be able to write to it or to its
 *  files; otherwise opening returns KEPT_DENIED. If one of its files is not a regular file, opening returns
 *  KEPT_UNAVAILABLE. Exception: an existing store in a folder without write permission, or in one that belongs to
 *  another user (for root too), is opened for reading; writes then return KEPT_DENIED. These rules also hold for `dir:`
 *  and its files.
 *
 *  With KEPT_READ_ONLY no thread is started, no lock is taken, and no file is created, repaired or changed. Reads see
 *  each commit, and the files of the layers as they are at each read. A store that does not exist is KEPT_UNAVAILABLE,
 *  a damaged one, or one whose journal is missing, KEPT_CORRUPT, and one in memory KEPT_UNSUPPORTED. Writes return
 *  KEPT_DENIED, and kept_observe() returns KEPT_UNSUPPORTED. Each read looks at the files: use it to look at a store
 *  once. A read begins again while other processes replace the files, and returns KEPT_BUSY after the timeout.
 *
 *  On a disk that has no room for the files that writing needs, an existing store is opened for reading in the same
 *  way; writes then return KEPT_NO_SPACE. When there is room again, close every handle that this process has on the
 *  store and open it again. A store that was opened before the disk was full need not be opened again.
 *
 *  A process that runs as root follows no symbolic link of another user, here and in every other call that takes a
 *  path: KEPT_DENIED.
 *
 *  A managed layer that cannot be read is KEPT_UNAVAILABLE: the store is not opened without its locks. A program that
 *  runs with other privileges than its caller (set-user-ID) ignores XDG_CONFIG_HOME, HOME and the environment layer:
 *  its stores are in the home folder of its effective user. A path to a store, a layer, a backup or an export may
 *  contain only UTF-8 names: a link whose target is not UTF-8, or a relative path in a working directory whose name is
 *  not UTF-8, is KEPT_UNAVAILABLE.
 *
 *  The next process that opens a damaged store exclusively moves the damaged files to the folder `quarantine` and
 *  recovers what it can. Until then a key whose value cannot be read is KEPT_CORRUPT, and can be set and removed. While
 *  other processes have the store open, opening returns KEPT_CORRUPT. Only data whose checksum does not match is
 *  treated as damage: if the disk, memory, file descriptors or another program prevent reading it, the call fails and
 *  nothing is replaced. After a salvage every open returns KEPT_SALVAGED, with the store open and a message in `error`
 *  that names lost keys, until a program calls kept_acknowledge_salvage(). Test for `< 0` unless you need to handle
 *  this.
 *
 *  In Swift: `Store.open(_:)`; in Python: `kept.open(location)`. */
KEPT_API kept_status kept_open(const char *location, const kept_options *options, kept_store **store,
                               kept_error *error);

/** Closes a store and syncs its writes to the disk. Its subscriptions end: after the call returns, no callback begins.
 *  Its open transactions are rolled back. NULL and a closed handle are allowed. A transaction or a snapshot may be
 *  passed too: it is rolled back or ended. The handle itself, less than 150 bytes, is never freed or reused, so that
 *  later use returns KEPT_CLOSED.
 *  In Swift: `Store.close()`. */
KEPT_API void kept_close(kept_store *store);

/** Syncs every write that has returned, in this process and in all others, to the disk, so that it survives power loss.
 *  In Swift: `Store.flush()`. */
KEPT_API kept_status kept_flush(kept_store *store, kept_error *error);

/** Reports whether the store was salvaged and the loss has not been acknowledged yet. Values may then be missing, or
 *  older than the last commit. If the schema version was unreadable too, it is 0 again, and kept_migrate() would run
 *  all steps: compare with a backup before you migrate. A value that may have lost its declaration is treated as a
 *  secret until its key is declared again or undeclared.
 *  @param[out] quarantine  receives the path of the folder with the damaged files; free it with kept_free()
 *  @return KEPT_OK, or KEPT_ABSENT if nothing was salvaged or the salvage was acknowledged.
 *  In Swift: `Store.salvaged()`; in Python: `settings.salvaged`. */
KEPT_API kept_status kept_salvaged(kept_store *store, char **quarantine, kept_error *error);

/** Acknowledges a salvage: opening the store no longer reports it. The damaged files stay in place.
 *  @return KEPT_OK, even if there was nothing to acknowledge.
 *  In Swift: `Store.acknowledgeSalvage()`; in Python: `settings.acknowledge_salvage()`. */
KEPT_API kept_status kept_acknowledge_salvage(kept_store *store, kept_error *error);

/** Returns a word that shows whether anything in the store has changed, for caches above this interface.
 *  @return a word to load at each check, as a whole (8 bytes, aligned; `__atomic_load_n(word, __ATOMIC_ACQUIRE)`). If
 *          it is even and equal to what it was before a value was read, no process has committed since, and the value
 *          is current. If it is odd, read from the store. The word is always odd for a closed store and for a storage
 *          that cannot detect changes (a memory store). NULL if `store` is a transaction or NULL.
 *  Load the word before you read and again afterwards. Keep the value only if both loads gave the same even number. The
 *  word may be read for the life of the process, but a cache belongs to an open handle: drop it when you call
 *  kept_close(). The word of a store that no handle of this process has open may stop moving, and may become the word
 *  of a store that is opened later. Do not write to it. Never blocks.
 *  In Python: `settings[key]` keeps such a cache. */
KEPT_API const uint64_t *kept_store_generation(kept_store *store);

/** Returns the second word for such caches. It moves when a file of this handle's layers has changed what keys read as.
 *  @return a word to load like the first one. A value is current while neither word has moved. NULL if no layer can
 *          change: the store was opened without `managed` and `system`, and kept_register_json() has not been called;
 *          after you call that, call this function again. NULL for a closed store. The word may be read for the life of
 *          the process.
 *  In Python: `settings[key]` checks both words. */
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
 * A number without a point or an exponent is an integer, any other number is a double: 1 and 1.0 are two values.
 *
 * Some texts that RFC 8259 allows are refused, with the byte in `error->offset`: a duplicate name in an object, a NUL
 * in a name, an unpaired surrogate, the integer -0 (the double is -0.0), an integer of more than 64 bits, a double that
 * would become 0 or infinity, an object of any other form whose first name begins with a dollar sign, and anything over
 * the limits. Imported texts of other programs may contain -0, and integers up to 18446744073709551615.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads any value as canonical JSON: keys sorted by their bytes, no spaces. Equal values have equal text.
 *  @param[out] json  receives text; free it with kept_free()
 *  @return KEPT_OK or KEPT_ABSENT.
 *  In Swift: `Store.json(forKey:)`; in Python: `settings[key]`. */
KEPT_API kept_status kept_get_json(kept_store *store, const char *key, char **json, kept_error *error);

/** Writes any value, given as JSON. The text `null` removes the key, and is KEPT_OK even if the key was absent.
 *  @return as for the other values; KEPT_INVALID with `error->offset` if the text is wrong; KEPT_TOO_LARGE for a value
 *          of more than 16 MiB or one that nests arrays and objects more than 64 deep.
 *  In Swift: `Store.setJSON(_:forKey:)`; in Python: `settings[key] = value`. */
KEPT_API kept_status kept_set_json(kept_store *store, const char *key, const char *json, kept_error *error);

/** Writes a value, given as JSON, if the key still has the revision that you read: compare-and-set.
 *  @param expected  the revision from kept_revision_of(); 0 expects that the key is absent
 *  @param[out] revision  receives the key's revision after the call; may be NULL
 *  @return KEPT_OK; KEPT_CONFLICT with nothing written; KEPT_INVALID, including for the text `null`; KEPT_TOO_LARGE; or
 *          KEPT_UNSUPPORTED.
 *  In a transaction KEPT_CONFLICT may come only from kept_commit(), and `revision` receives 0.
 *  In Swift: `Store.set(_:forKey:ifRevision:)`; in Python: `settings.set(key, value, if_revision=...)`. */
KEPT_API kept_status kept_set_json_if(kept_store *store, const char *key, const char *json, uint64_t expected,
                                      uint64_t *revision, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Values: one pair of functions for each kind
 *
 * Reading returns KEPT_OK, KEPT_ABSENT or KEPT_WRONG_TYPE. A number is converted only if its value is preserved: an
 * integer 1 reads as the double 1.0 and a double 3.0 as the integer 3, but 3.5 and 2^53 + 1 do not convert. A bool is
 * never a number, and stored text is never parsed.
 * Writing returns KEPT_OK, KEPT_INVALID or KEPT_TOO_LARGE; for a declared key also KEPT_WRONG_TYPE or KEPT_UNSUPPORTED;
 * with layers also KEPT_SHADOWED or KEPT_LOCKED. Writing the value that is already stored is not a change.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads a bool. In Swift: `Store.value(for:)` with `Key<Bool>`. */
KEPT_API kept_status kept_get_bool(kept_store *store, const char *key, bool *out, kept_error *error);
/** Writes a bool. */
KEPT_API kept_status kept_set_bool(kept_store *store, const char *key, bool value, kept_error *error);

/** Reads an integer. In Swift: `Store.value(for:)` with `Key<Int>`. */
KEPT_API kept_status kept_get_int64(kept_store *store, const char *key, int64_t *out, kept_error *error);
/** Writes an integer. */
KEPT_API kept_status kept_set_int64(kept_store *store, const char *key, int64_t value, kept_error *error);

/** Reads an integer from 0 to UINT64_MAX. A negative one is KEPT_WRONG_TYPE. */
KEPT_API kept_status kept_get_uint64(kept_store *store, const char *key, uint64_t *out, kept_error *error);
/** Writes an integer from 0 to UINT64_MAX. */
KEPT_API kept_status kept_set_uint64(kept_store *store, const char *key, uint64_t value, kept_error *error);

/** Reads a double. It may be NaN, infinite or -0.0. In Swift: `Store.value(for:)` with `Key<Double>`. */
KEPT_API kept_status kept_get_double(kept_store *store, const char *key, double *out, kept_error *error);
/** Writes a double. All NaNs are stored as the same quiet NaN. */
KEPT_API kept_status kept_set_double(kept_store *store, const char *key, double value, kept_error *error);

/** Reads a date: seconds since 1970-01-01T00:00:00Z, plus nanoseconds from 0 to 999,999,999.
 *  In Swift: `Store.value(for:)` with `Key<Date>`; in Python: `settings[key]` with a key of `datetime`, which begins at
 *  year 1, or of `kept.Timestamp`, which covers every date. */
KEPT_API kept_status kept_get_date(kept_store *store, const char *key, int64_t *seconds, int32_t *nanoseconds,
                                   kept_error *error);
/** Writes a date in the years 0 to 9999 of the Gregorian calendar: `seconds` from -62,167,219,200 to 253,402,300,799.
 *  Any other date is KEPT_INVALID. */
KEPT_API kept_status kept_set_date(kept_store *store, const char *key, int64_t seconds, int32_t nanoseconds,
                                   kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Buffers: text and bytes, copied into the caller's memory
 *
 * The statuses are the same as in the section above.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads text into the caller's buffer and ends it with a NUL.
 *  @param buffer    may be NULL if `capacity` is 0
 *  @param capacity  the size of `buffer` in bytes; `length` + 1 bytes are needed
 *  @param[out] length  receives the length of the text in bytes, without the NUL; may be NULL. The text may itself
 *                      contain NULs. Set for KEPT_OK and for KEPT_TOO_LARGE
 *  @return as above, or KEPT_TOO_LARGE if the buffer is too small; the buffer is then unchanged.
 *  In Swift: `Store.value(for:)` with `Key<String>`. */
KEPT_API kept_status kept_get_string(kept_store *store, const char *key, char *buffer, size_t capacity, size_t *length,
                                     kept_error *error);
/** Writes text of `length` bytes, including any NUL in it. Text that is not UTF-8 is KEPT_INVALID. */
KEPT_API kept_status kept_set_string(kept_store *store, const char *key, const char *text, size_t length,
                                     kept_error *error);

/** Reads bytes into the caller's buffer, like kept_get_string() but without adding a NUL.
 *  In Swift: `Store.value(for:)` with `Key<Data>`. */
KEPT_API kept_status kept_get_bytes(kept_store *store, const char *key, void *buffer, size_t capacity, size_t *length,
                                    kept_error *error);
/** Writes `length` bytes. `bytes` may be NULL if `length` is 0. */
KEPT_API kept_status kept_set_bytes(kept_store *store, const char *key, const void *bytes, size_t length,
                                    kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Declarations: what a key holds
 *
 * A declaration is a JSON Schema (draft 2020-12) object that is stored with the values. Once a key is declared, a value
 * of another type, or one that breaks a constraint, is refused in every process and language: KEPT_WRONG_TYPE for
 * another kind, KEPT_INVALID for anything else, with the rule in `error`. The keywords are:
 *   type                   one of "boolean", "integer" (accepts 3.0 and stores 3), "number" (accepts 1 and stores 1.0),
 *                          "string", "bytes", "date", "array", "object"; required
 *   default                what the key reads as if no layer has a value
 *   enum                   the allowed values
 *   const                  the only allowed value
 *   minimum, maximum, exclusiveMinimum, exclusiveMaximum
 *                          of integers and numbers; compared exactly, even an integer with a double
 *   multipleOf             of integers and numbers; above 0. Evaluated exactly, in decimal: a double counts as the
 *                          shortest decimal number that reads back as it, so 19.99 is a multiple of 0.01
 *   minLength, maxLength   of strings, in Unicode scalars, and of bytes
 *   pattern                of strings; a PCRE2 pattern that may match anywhere; use ^ and $ to anchor it. PCRE2 is
 *                          loaded when it is first needed; if that fails, the call returns KEPT_UNAVAILABLE
 *   items                  of arrays; the schema of every element, or of those after `prefixItems`
 *   prefixItems            of arrays; the schemas of the first elements
 *   minItems, maxItems, uniqueItems
 *                          of arrays; the number of elements; whether all must differ
 *   properties, required, additionalProperties
 *                          of objects; schemas by name; names that must be present; a schema or a bool for the members
 *                          that neither `properties` nor `patternProperties` names
 *   patternProperties      of objects; schemas by pattern, as above; every pattern that matches a name applies
 *   propertyNames          of objects; the schema of every name
 *   minProperties, maxProperties
 *                          of objects; the number of members
 *   deprecated             true: setting the key works and is reported as KEPT_DEPRECATED, once for each key and
 *                          handle. In a nested schema: setting a value with such an element or member is reported
 *   replacedBy             of deprecated keys; the key to set instead, which the report names
 *   renamedFrom            the name that the key had before. Declaring the key moves the value stored under that
 *                          name, in one commit with the tag "renamed", if it is newer than the key's own value or
 *                          removal, and removes it if it is older. A value that does not fit stays where it is
 *                          (KEPT_MISFIT). The store
 *                          leaves the keyword out if the name is a secret and the key is not (KEPT_MISFIT). The
 *                          former name of a secret becomes a secret, and so does the former name of that
 *   summary                what the key is for, in one sentence
 *   since                  the version of the program that has introduced the key; an annotation
 *   secret                 true keeps the key's values out of errors, reports and explanations
 *   title, description, $comment, format
 *                          annotations, which are not checked
 * `enum`, `const` and `uniqueItems` compare as JSON Schema does: numbers by numeric value, so that 0, 0.0 and -0.0 are
 * equal, even inside arrays and objects. A value that equals a choice is stored as given, in the form of its type. Any
 * other keyword is refused with KEPT_UNSUPPORTED. A declaration has at most 64 KiB of text, and at most 12
 * schemas nested in its root (KEPT_TOO_LARGE). Matching patterns against one value may take a few seconds in total; a
 * value that takes longer is KEPT_INVALID.
 *
 * Some schemas that JSON Schema allows are refused too, with the place in `error`: keywords that contradict each other
 * or cannot apply to the type, an empty `enum` or one with a duplicate choice, an `enum` without `type` whose choices
 * are of several kinds (all numbers are one kind), `default`, `summary`, `secret`, `since`, `replacedBy` and
 * `renamedFrom` in a nested schema, and a `renamedFrom` that is the key's own name, or a key with a `renamedFrom` in
 * the same list.
 * --------------------------------------------------------------------------------------------------------------- */

/** Declares a key. Repeating the same declaration changes nothing. A declaration with another default, summary or
 *  constraint, wider or narrower, replaces the old one. A stored value that no longer fits stays stored and reads as
 *  absent.
 *  @return KEPT_OK; KEPT_MISFIT if a stored value does not fit, each time the key is declared, with the reason in
 *          `error`; KEPT_INVALID with `error->offset` if the text is wrong; KEPT_TYPE_CONFLICT if the key is declared
 *          with another type; KEPT_TOO_LARGE; or KEPT_UNSUPPORTED for a keyword that Kept lacks.
 *  In Swift: `Store.declare(_:forKey:)`; in Python: `settings.declare(key)`. */
KEPT_API kept_status kept_declare_json(kept_store *store, const char *key, const char *schema, kept_error *error);

/** Declares many keys at once, all or none.
 *  @param schema  one object of type "object" whose `properties` are the keys and their declarations; it may also have
 *                 $schema, $id, title, description and $comment. Declaring a long list again takes one comparison
 *  @return as kept_declare_json(), for the first key to which the status applies.
 *  In Swift: `Store.declare(listJSON:)`; in Python: `settings.declare_list(text)`. */
KEPT_API kept_status kept_declare_list(kept_store *store, const char *schema, kept_error *error);

/** Declares many keys at once from a file, such as a `settings.schema.json` that a program ships for all its languages.
 *  @return as kept_declare_list(), KEPT_UNAVAILABLE if there is no such file, or KEPT_DENIED.
 *  In Swift: `Store.declare(contentsOf:)`; in Python: `settings.declare_file(path)`. */
KEPT_API kept_status kept_declare_file(kept_store *store, const char *path, kept_error *error);

/** Removes a declaration. The value stays. One transaction can do this and declare the key with another type.
 *  @return KEPT_OK, or KEPT_ABSENT if the key was not declared.
 *  In Swift: `Store.undeclare(_:)`; in Python: `settings.undeclare(key)`. */
KEPT_API kept_status kept_undeclare(kept_store *store, const char *key, kept_error *error);

/** Reads the declaration of a key.
 *  @param[out] schema  receives canonical JSON; free it with kept_free()
 *  @return KEPT_OK or KEPT_ABSENT.
 *  In Swift: `Store.declaration(forKey:)`; in Python: `settings.declaration(key)`. */
KEPT_API kept_status kept_declaration_json(kept_store *store, const char *key, char **schema, kept_error *error);

/** Reads the declarations of all keys that begin with `prefix`, in the form that kept_declare_list() takes.
 *  @param[out] schema  receives canonical JSON; free it with kept_free()
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for a transaction.
 *  In Swift: `Store.declarations(prefix:)`; in Python: `settings.declarations(prefix)`. */
KEPT_API kept_status kept_declarations_json(kept_store *store, const char *prefix, char **schema, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Layers: where a value comes from
 *
 * A key reads as the value of the highest layer whose value fits the declaration. A value that does not fit is skipped
 * and reported. Only the user's layer, the store, is written. The others are given in kept_options, separately for each
 * handle. Setting a key that arguments or environment override returns KEPT_SHADOWED: the value is stored but not
 * visible. Setting a key that the managed layer locks returns KEPT_LOCKED, and nothing is stored.
 *
 * The files of the managed and the system layer are read again when they change, and observers are notified. Their form
 * is
 *   {"values": {"audio.volume": 30}, "locked": ["audio.theme"], "lockedPrefixes": ["network."]}
 * in the JSON of kept_get_json(). "locked" and "lockedPrefixes" belong to the managed layer only; its "values" lock
 * their keys too. For a locked key the arguments, the environment and the user's layer are ignored. A layer's file must
 * be a regular file. The file, every folder on its path and every symbolic link must belong to root or to the program's
 * effective user, and be writable for the owner only; a sticky folder of root's, such as /tmp, is accepted, and so is a
 * read-only mount point below /etc. In a user namespace an owner who is not mapped is treated as root below /etc. If a
 * managed file exists but cannot be read or parsed, or a link to it leads to nothing, kept_open() fails with
 * KEPT_UNAVAILABLE; such a system file is reported. Once the store is open, a file that breaks is reported, and the
 * layer keeps its last good state. A missing file is an empty layer.
 *
 * Arguments are pairs, "-audio.volume 30". An environment variable has the key in capitals, with `_` for each dot:
 * PLAYER_AUDIO_VOLUME. Both are text. They are read as the type of the key's declaration, or without one as the type of
 * the function that reads; bytes are padded base64. docs/guide/layers.md has all rules.
 * --------------------------------------------------------------------------------------------------------------- */

#define KEPT_LAYER_NONE         0u   /* no layer has a value */
#define KEPT_LAYER_DECLARED     1u   /* defaults from declarations */
#define KEPT_LAYER_REGISTERED   2u   /* defaults that this program has registered */
#define KEPT_LAYER_SYSTEM       3u   /* the administrator's defaults */
#define KEPT_LAYER_USER         4u   /* the store */
#define KEPT_LAYER_ENVIRONMENT  5u   /* environment variables */
#define KEPT_LAYER_ARGUMENTS    6u   /* the command line */
#define KEPT_LAYER_MANAGED      7u   /* values that the administrator prescribes */

/** Explains what each layer has for a key, which layer wins, and why.
 *  @param[out] json  receives an object; free it with kept_free(). Its members: "key", "value", "layer", "locked",
 *                    "secret", "revision", "reason" (a sentence), and "layers", highest first, each with "layer",
 *                    "source" (a file, an argument or a variable), "formerName" (if it is found under that), "value",
 *                    "outcome" ("wins", "hidden", "skipped", "ignored", "locks" or "silent") and "problem". Members
 *                    without a value are left out; for a secret, all values are
 *  @return KEPT_OK, even for a key that no layer has.
 *  In Swift: `Store.explain(_:)`; in Python: `settings.explain(key)`. */
KEPT_API kept_status kept_explain_json(kept_store *store, const char *key, char **json, kept_error *error);

/** Returns the layer that decides what a key reads as.
 *  @param[out] layer  receives one of KEPT_LAYER_…
 *  @return KEPT_OK, even for a key that no layer has: its layer is KEPT_LAYER_NONE.
 *  In Swift: `Explanation.layer`. */
KEPT_API kept_status kept_layer_of(kept_store *store, const char *key, uint32_t *layer, kept_error *error);

/** Registers defaults for this handle. They take precedence over the defaults of declarations and are not stored.
 *  @param json  an object of keys and values; null withdraws a default
 *  @return KEPT_OK; KEPT_INVALID with `error->offset` if the text is wrong; KEPT_TOO_LARGE; or KEPT_UNSUPPORTED for a
 *          transaction. On failure no default is registered.
 *  In Swift: `Store.register(defaults:)`; in Python: `settings.register(defaults)`. */
KEPT_API kept_status kept_register_json(kept_store *store, const char *json, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Prepared keys: for the most frequent reads
 *
 * The functions kept_key_get_… return what kept_get_… return, but do not hash the key again.
 * --------------------------------------------------------------------------------------------------------------- */

/** A key that is checked and hashed once, for use with every store. It lives as long as the process; there is nothing
 *  to free.
 *  In Swift: `Key`; in Python: `kept.Key`. */
typedef struct kept_key kept_key;

/** Prepares a key. The same text gives the same pointer. Use it for keys that are known at compile time: each distinct
 *  text takes memory until the process ends.
 *  @param[out] out  receives the prepared key
 *  @return KEPT_OK or KEPT_INVALID. */
KEPT_API kept_status kept_key_prepare(const char *key, const kept_key **out, kept_error *error);

/** Reads a bool, like kept_get_bool(). */
KEPT_API kept_status kept_key_get_bool(kept_store *store, const kept_key *key, bool *out, kept_error *error);
/** Reads an integer, like kept_get_int64(). */
KEPT_API kept_status kept_key_get_int64(kept_store *store, const kept_key *key, int64_t *out, kept_error *error);
/** Reads a double, like kept_get_double(). */
KEPT_API kept_status kept_key_get_double(kept_store *store, const kept_key *key, double *out, kept_error *error);
/** Reads text into the caller's buffer, like kept_get_string(). */
KEPT_API kept_status kept_key_get_string(kept_store *store, const kept_key *key, char *buffer, size_t capacity,
                                         size_t *length, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Keys: listing, existence and removal
 * --------------------------------------------------------------------------------------------------------------- */

/** Reports whether any layer has a value for the key. Defaults do not count, nor do values that do not fit the
 *  declaration or that a lock excludes. An encrypted secret counts without its key.
 *  In Swift: `Store.contains(_:)`; in Python: `key in settings`. */
KEPT_API kept_status kept_contains(kept_store *store, const char *key, bool *out, kept_error *error);

/** Removes the value stored under a key. In a transaction this counts as reading the key.
 *  @return KEPT_OK; KEPT_ABSENT if nothing was stored, in which case nothing changed; KEPT_SHADOWED; or KEPT_LOCKED.
 *  In Swift: `Store.remove(_:)`; in Python: `del settings[key]`. */
KEPT_API kept_status kept_remove(kept_store *store, const char *key, kept_error *error);

/** Reads the revision that last changed the value stored under a key. The store counts its commits from 1; a commit
 *  that changes nothing is not counted.
 *  @return KEPT_OK or KEPT_ABSENT.
 *  In Swift: `Store.revision(of:)`. */
KEPT_API kept_status kept_revision_of(kept_store *store, const char *key, uint64_t *revision, kept_error *error);

/** Receives one key.
 *  @param key  valid during the call
 *  @return 0 to continue, anything else to stop. */
typedef int (*kept_list_callback)(void *context, const char *key);

/** Lists the keys that begin with `prefix` and that kept_contains() finds, as of one revision, sorted by their bytes.
 *  @param prefix    "" for every key
 *  @param callback  called on this thread, before the function returns
 *  @return KEPT_OK, even if the callback stopped the listing.
 *  In Swift: `Store.keys(prefix:)`; in Python: `settings.keys(prefix)`. */
KEPT_API kept_status kept_list(kept_store *store, const char *prefix, kept_list_callback callback, void *context,
                               kept_error *error);

/** Lists the same keys as one JSON array of strings.
 *  @param[out] json  receives text; free it with kept_free() */
KEPT_API kept_status kept_list_json(kept_store *store, const char *prefix, char **json, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Transactions: several keys change together or not at all
 * --------------------------------------------------------------------------------------------------------------- */

/** How to commit. Begin with KEPT_TRANSACTION_OPTIONS_INIT. */
typedef struct kept_transaction_options {
  size_t size;           /* sizeof(kept_transaction_options) */
  uint32_t durability;   /* KEPT_SHARED, KEPT_DURABLE, or KEPT_AS_OPENED: the durability the store was opened with */
  uint32_t reserved;     /* 0 */
  const char *tag;       /* for observers in every process, in place of the store's tag; NULL for the store's tag */
} kept_transaction_options;

#define KEPT_AS_OPENED 0xFFFFFFFFu
#define KEPT_TRANSACTION_OPTIONS_INIT { sizeof(kept_transaction_options), KEPT_AS_OPENED, 0u, NULL }

/** Begins a transaction. Read and write it through the same functions as a store. It reads its own writes and holds no
 *  lock: other writers continue. End it with kept_commit() or kept_rollback(). A read in a transaction returns
 *  KEPT_CONFLICT as soon as a key that it has read is known to have changed: roll it back and begin again.
 *  @param options  NULL for the defaults
 *  @return KEPT_OK, or KEPT_UNSUPPORTED inside a transaction.
 *  In Swift: `Store.transaction { }`, which retries by itself; in Python: `with settings.transaction() as t`. */
KEPT_API kept_status kept_begin(kept_store *store, const kept_transaction_options *options, kept_store **transaction,
                                kept_error *error);

/** Commits: all writes of the transaction become visible at once, in every process. Ends the transaction in every case.
 *  @param[out] revision  receives the store's new revision, or its current one if nothing changed; may be NULL
 *  @return KEPT_OK; or KEPT_CONFLICT, with nothing written, if another writer has changed a key that the transaction
 *          read or expected, or added or removed one with a prefix that it listed: begin again. */
KEPT_API kept_status kept_commit(kept_store *transaction, uint64_t *revision, kept_error *error);

/** Ends a transaction and discards its writes. NULL and an ended transaction are allowed. A migration step that rolls
 *  back its transaction fails with KEPT_UNSUPPORTED, and so does the migration. */
KEPT_API void kept_rollback(kept_store *transaction);

/* ------------------------------------------------------------------------------------------------------------------
 * Snapshots: an immutable view of one revision
 * --------------------------------------------------------------------------------------------------------------- */

/** Takes a snapshot: an immutable view of what keys read as at one revision, layers and defaults included, while others
 *  continue to write. A snapshot holds no lock, and it can be read for any length of time, even after its store is
 *  closed: until it is ended, it keeps the files open that the store had, and their disk space. Taking it does not
 *  depend on the number of keys. Of a `memory:` or `dir:` store it is a copy.
 *  Read it through the functions that read a store: values, kept_contains(), kept_list(), kept_revision_of(),
 *  kept_layer_of(), kept_explain_json(), declarations. Any other function returns KEPT_UNSUPPORTED.
 *  @param prefix    only keys that begin with this text; "" for every key. Reading any other key is KEPT_INVALID
 *  @param[out] snapshot  receives the snapshot; end it with kept_snapshot_end()
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for a transaction or a snapshot. A value that cannot be read does not fail this
 *          call; it is KEPT_CORRUPT when its key is read.
 *  In Swift: `Store.snapshot(prefix:)`; in Python: `settings.snapshot(prefix)`. */
KEPT_API kept_status kept_snapshot(kept_store *store, const char *prefix, kept_store **snapshot, kept_error *error);

/** Takes a snapshot of the values that were stored at a revision, as far as the history has them. Declarations, layers
 *  and registered defaults are the current ones.
 *  @param prefix    only keys that begin with this text; "" for every key
 *  @param revision  one that the history has: see "completeAfter" and "missing" of kept_history_json()
 *  @param[out] snapshot  receives the snapshot; end it with kept_snapshot_end(). Reading a key whose value the history
 *                        has not kept is KEPT_UNSUPPORTED. The revision of a value that is older than the history is
 *                        "completeAfter"
 *  @return KEPT_OK; KEPT_ABSENT if the history does not have the revision; or KEPT_UNSUPPORTED for `memory:` and `dir:`
 *          stores, a transaction and a snapshot.
 *  In Swift: `Store.snapshot(prefix:at:)`; in Python: `settings.snapshot(prefix, at=revision)`. */
KEPT_API kept_status kept_snapshot_at(kept_store *store, const char *prefix, uint64_t revision, kept_store **snapshot,
                                      kept_error *error);

/** Ends a snapshot. NULL and an ended snapshot are allowed; later use returns KEPT_CLOSED. */
KEPT_API void kept_snapshot_end(kept_store *snapshot);

/** Reads the store's revision, the count of its commits: for a snapshot, when it was taken; for a store, now.
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for a transaction.
 *  In Swift: `Snapshot.revision`, `Store.currentRevision()`; in Python: `settings.revision()`,
 *  `snapshot.revision()`. */
KEPT_API kept_status kept_store_revision(kept_store *store, uint64_t *revision, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * History: past changes, their time and author, and undoing them
 *
 * A store in a folder keeps the values that its last commits have replaced: at most 100 changes of a key, 10,000 of the
 * store, 90 days and 4 MiB, unless other limits are set. For a secret it keeps the fact of the change, and the value
 * only if the store encrypts secrets: then an undo restores it, and nothing shows it.
 * Commits that one program makes within about a second, and that change the same keys, count as one.
 * docs/guide/history.md has all rules.
 * --------------------------------------------------------------------------------------------------------------- */

#define KEPT_HISTORY_PREFIX 1u   /* the key is a prefix: the changes of every key that begins with it */

/** Reads the past changes of a key, or of all keys with a prefix, including every commit that has returned.
 *  @param key    the key, or with KEPT_HISTORY_PREFIX a prefix, "" for every key
 *  @param flags  0, or KEPT_HISTORY_PREFIX
 *  @param[out] json  receives an object; free it with kept_free(). Its members: "changes", the newest first, each with
 *                    "key", "revision", "time" (RFC 3339, by the writer's clock), "tag", "old" and "new";
 *                    "completeAfter", the revision after which no change is missing; and "missing", pairs of the first
 *                    and the last of revisions that are parts of a change, so that the values at these revisions are
 *                    not known. "missing" is left out if there are none, "tag" if there was none, "old" and "new" if
 *                    there was no value, and both for a secret, which has "secret": true. "notKept" lists "old" or
 *                    "new" if there was a value that was too large (65,536 bytes), was forgotten, or is secret
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for `memory:` and `dir:` stores, a transaction and a snapshot.
 *  In Swift: `Store.history(of:)`, `Store.history(prefix:)`; in Python: `settings.history(key)`. */
KEPT_API kept_status kept_history_json(kept_store *store, const char *key, uint32_t flags, char **json,
                                       kept_error *error);

/** Restores the values that the commit with a revision has replaced, as one new commit, which can be undone, too.
 *  Nothing else is changed; declarations stay as they are, and a value under the former name of a key that has one
 *  is not restored.
 *  @param options  the tag and durability of the new commit; NULL for the defaults
 *  @param[out] keys  receives the restored keys as a JSON array; free it with kept_free(); may be NULL
 *  @return KEPT_OK; or, with nothing changed, KEPT_ABSENT if the history does not have all of that commit, or has
 *          it as a part of a later one; KEPT_CONFLICT, with a list in the message, if one of its keys has changed
 *          since; KEPT_UNSUPPORTED if an old value is a plain secret or was not kept; KEPT_LOCKED, KEPT_INVALID or
 *          KEPT_WRONG_TYPE if an old value is no longer allowed.
 *  In Swift: `Store.undo(revision:tag:)`; in Python: `settings.undo(revision)`. */
KEPT_API kept_status kept_undo(kept_store *store, uint64_t revision, const kept_transaction_options *options,
                               char **keys, kept_error *error);

/** Sets how much history the store keeps, for all programs. Changes beyond the limits are removed now, and later from
 *  time to time: up to 8,192 more changes may exist for a while.
 *  @param json  an object with any of "changesPerKey", "changes", "days" and "bytes", each 0 to 2,147,483,647; those
 *               left out have their default. {"changes":0} forgets the history and keeps none
 *  @return KEPT_OK, KEPT_INVALID, KEPT_DENIED for a store that may only be read, or KEPT_UNSUPPORTED.
 *  In Swift: `Store.setHistoryLimits(_:)`; in Python: `settings.history_limits = ...`. */
KEPT_API kept_status kept_set_history_limits(kept_store *store, const char *json, kept_error *error);

/** Reads the limits, in the form that kept_set_history_limits() takes.
 *  @param[out] json  receives an object with all four; free it with kept_free()
 *  In Swift: `Store.historyLimits()`; in Python: `settings.history_limits`. */
KEPT_API kept_status kept_history_limits_json(kept_store *store, char **json, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Clearing: back to the defaults
 *
 * When the value of a key that is declared secret is removed or replaced, its old bytes are removed from the files of
 * the store within about a second, and at the latest when the last program closes it. After kill -9 of every process
 * before that, or on a full disk, they remain until the next checkpoint. Copies elsewhere remain: backups, exports,
 * quarantine, and copies that the disk itself retains.
 * --------------------------------------------------------------------------------------------------------------- */

/** Resets a key to its default: removes the stored value, if any.
 *  @return KEPT_OK, even if nothing was stored; KEPT_SHADOWED; or KEPT_LOCKED.
 *  In Swift: `Store.reset(_:)`; in Python: `settings.reset(key)`. */
KEPT_API kept_status kept_reset(kept_store *store, const char *key, kept_error *error);

/** Removes the values stored under every key that begins with `prefix`, in one commit. Declarations stay.
 *  @param prefix   "" for every key
 *  @param[out] removed  receives the number of removed keys; may be NULL
 *  @return KEPT_OK, even if nothing was stored; KEPT_LOCKED, with nothing removed, if one of the keys is locked;
 *          KEPT_UNSUPPORTED, with nothing removed, for several keys in a `dir:` store, which changes one key at a time.
 *  In Swift: `Store.removeAll(prefix:)`; in Python: `settings.remove_all(prefix)`. */
KEPT_API kept_status kept_remove_all(kept_store *store, const char *prefix, size_t *removed, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Export and import: a store as a file
 *
 * An export contains the stored values, not defaults or values of other layers. The text is one canonical JSON object:
 *   {"declarations":{...},"kept":1,"omitted":["token"],"prefix":"","revision":17,"schemaVersion":2,"values":{...}}
 * "declarations" is present only if requested. "omitted" lists the secret keys that were left out, and is present
 * unless secrets were requested. Requested secrets are encrypted with a passphrase, in "secrets", or among the values
 * if KEPT_TRANSFER_PLAIN is given. "schemaVersion" is present if the program has set one (kept_migrate()). JSON of
 * other programs can be imported too, and the command `kept import` reads more formats.
 * docs/guide/export-and-import.md has all rules.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reports the progress of a long call. An export counts keys, an import the bytes of its text. The last call comes
 *  before the commit. Called on the thread of the call, with no lock held.
 *  @return 0 to continue, anything else to stop: then nothing is changed, and the call returns KEPT_FAILED. */
typedef int (*kept_progress_callback)(void *context, uint64_t done, uint64_t total);

#define KEPT_TRANSFER_REPLACE       1u   /* import: remove keys with the prefix that the text does not have, except
                                            those that an export lists as omitted */
#define KEPT_TRANSFER_DRY_RUN       2u   /* import: change nothing, and report what would change */
#define KEPT_TRANSFER_DECLARATIONS  4u   /* include declarations */
#define KEPT_TRANSFER_SECRETS       8u   /* export: include the values of secret keys, encrypted with the passphrase */
#define KEPT_TRANSFER_READABLE     16u   /* export: leave out values that cannot be read and list them under
                                            "unreadable", instead of failing */
#define KEPT_TRANSFER_FLAT         32u   /* import: the text is any JSON object, and its members are keys; without this
                                            flag and the next one it is an export */
#define KEPT_TRANSFER_NESTED       64u   /* import: the text is any JSON object, and objects in it are parts of keys:
                                            {"audio":{"volume":30}} is audio.volume */
#define KEPT_TRANSFER_PLAIN       128u   /* export: with KEPT_TRANSFER_SECRETS and without a passphrase, include secrets
                                            as they are, readable for anyone who can read the export. Import: let
                                            encrypted secrets become plain in a store that keeps secrets plain */

/** What to export or import. Begin with KEPT_TRANSFER_OPTIONS_INIT. In Swift: `ExportOptions`, `ImportOptions`. */
typedef struct kept_transfer_options {
  size_t size;             /* sizeof(kept_transfer_options) */
  uint32_t flags;          /* KEPT_TRANSFER_… */
  const char *prefix;      /* export, and import of an export: only keys that begin with it. Import with
                              KEPT_TRANSFER_FLAT or _NESTED: prepended to every key. NULL for "" */
  const char *separator;   /* joins the parts of nested keys; NULL for "."; KEPT_INVALID if it is empty */
  kept_progress_callback progress;   /* NULL for none */
  void *progress_context;
  const char *passphrase;  /* export: what encrypts secrets. Import: the passphrase of such an export. NULL for none */
} kept_transfer_options;

#define KEPT_TRANSFER_OPTIONS_INIT { sizeof(kept_transfer_options), 0u, NULL, NULL, NULL, NULL, NULL }

/** Exports the store or a part of it, as of one revision.
 *  @param options  NULL for everything but secrets and declarations
 *  @param[out] json  receives text; free it with kept_free()
 *  @return KEPT_OK; KEPT_CORRUPT, with the key in the message, for a value that cannot be read; or KEPT_INVALID for
 *          KEPT_TRANSFER_SECRETS with neither a passphrase nor KEPT_TRANSFER_PLAIN.
 *  In Swift: `Store.export(_:)`; in Python: `settings.export(...)`. */
KEPT_API kept_status kept_export_json(kept_store *store, const kept_transfer_options *options, char **json,
                                      kept_error *error);

/** Exports into a file of mode 0600. The file is written atomically and synced. An existing regular file is replaced.
 *  Anything else (a symbolic link, a FIFO, a device), and a path in the folder of a store, is KEPT_INVALID.
 *  In Swift: `Store.export(to:_:)`; in Python: `settings.export_file(path, ...)`. */
KEPT_API kept_status kept_export_file(kept_store *store, const char *path, const kept_transfer_options *options,
                                      kept_error *error);

/** Imports a text as one commit: all of it or nothing.
 *  @param[out] report  receives an object; free it with kept_free(); may be NULL. Its members: "revision", "changed"
 *                      (each with "key", "old" and "new", without the values of secrets), "removed" and "declared"
 *                      (keys), "unchanged" (a count), "refused" (each with "key" and "reason") and "notCarried" (each
 *                      with "place" and "reason": parts of the text that Kept cannot hold). NULL with KEPT_OK if
 *                      memory ran out for the report: the import is done
 *  @return KEPT_OK; KEPT_INVALID with `error->offset` for a text that is not of the format; KEPT_LOCKED,
 *          KEPT_WRONG_TYPE, KEPT_INVALID, KEPT_TYPE_CONFLICT or KEPT_TOO_LARGE for the first key that is refused, with
 *          nothing changed; KEPT_TOO_LARGE for a text of more than 1 GiB; KEPT_UNSUPPORTED for an export of a later
 *          version of Kept, for one whose schema version differs from that of a store that is not empty, and for a
 *          transaction; KEPT_UNAVAILABLE for encrypted secrets without a passphrase, and KEPT_DENIED for a wrong one;
 *          KEPT_BUSY if others write continuously. A dry run returns KEPT_OK and reports every refused key.
 *  In Swift: `Store.import(_:_:)`; in Python: `settings.import_text(...)`. */
KEPT_API kept_status kept_import(kept_store *store, const void *text, size_t length,
                                 const kept_transfer_options *options, char **report, kept_error *error);

/** Imports a file as one commit, like kept_import().
 *  @return as kept_import(); KEPT_UNAVAILABLE if there is no such file; or KEPT_DENIED.
 *  In Swift: `Store.import(contentsOf:_:)`; in Python: `settings.import_file(path, ...)`. */
KEPT_API kept_status kept_import_file(kept_store *store, const char *path, const kept_transfer_options *options,
                                      char **report, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Backup: copying, restoring and verifying a whole store
 * --------------------------------------------------------------------------------------------------------------- */

#define KEPT_BACKUP_REPLACE  1u   /* replace an existing regular file, once the new one is complete */

/** Copies the store, with declarations, revisions and secrets, to a file, as of one revision, while others write. The
 *  file is readable for the owner only, and synced when the call returns.
 *  @param path   a file that does not exist yet. A path that ends with a slash, or that of an empty folder, gives a
 *                folder that can be opened as a store. The path must not be in the folder of a store
 *  @param flags  0 or KEPT_BACKUP_REPLACE
 *  @param[out] revision  receives the revision of the copy; may be NULL
 *  @return KEPT_OK; KEPT_INVALID if the file exists, or is not a regular file; KEPT_DENIED; KEPT_NO_SPACE with nothing
 *          left behind; or KEPT_UNSUPPORTED for a transaction.
 *  In Swift: `Store.backup(to:)`; in Python: `settings.backup(path)`. */
KEPT_API kept_status kept_backup(kept_store *store, const char *path, uint32_t flags, uint64_t *revision,
                                 kept_error *error);

/** Replaces the contents of the store with a backup, in one commit that observers in every process receive. The former
 *  contents are first copied to the folder `quarantine`. To keep the current store, open another location and restore
 *  there.
 *  @param path        a file or a folder that kept_backup() has written
 *  @param passphrase  the passphrase of the store that was copied, if nothing else opens its secrets; NULL for none
 *  @param[out] quarantine  receives the path of the copy of the former contents; free it with kept_free(). NULL if
 *                          there were none; may be NULL
 *  @return KEPT_OK; KEPT_UNAVAILABLE if there is no such file, or its secrets cannot be opened with the keys of the
 *          store or of the backup; KEPT_DENIED for a wrong passphrase; KEPT_INVALID if encrypted secrets would become
 *          plain; KEPT_CORRUPT for a damaged backup; KEPT_UNSUPPORTED for a file that is not a backup or is one of a
 *          later version, and inside a migration step; KEPT_BUSY, with nothing changed, if others migrate or hold the
 *          write lock for longer than the busy timeout.
 *  In Swift: `Store.restore(from:passphrase:)`; in Python: `settings.restore(path)`. */
KEPT_API kept_status kept_restore(kept_store *store, const char *path, const char *passphrase, char **quarantine,
                                  kept_error *error);

/** Reads everything that is stored, and checks the files. Nothing is changed, and others may write at the same time.
 *  @param progress  NULL for none. Counts keys, after the files were checked, which is one step
 *  @param context   passed to `progress`
 *  @param[out] json  receives an object; free it with kept_free(). Its members: "sound", false if anything is damaged;
 *                    "damage", an array of objects with "reason" and, for a value or a declaration, "key"; "misfits",
 *                    the keys whose value does not fit their declaration and reads as absent; "values" and
 *                    "declarations", how many can be read; "revision"
 *  @return KEPT_OK, even if there is damage; KEPT_UNSUPPORTED for a transaction or a storage that cannot list its keys;
 *          KEPT_FAILED if `progress` has stopped it. After an error it is not known whether there is damage.
 *
 *  A damaged store in a folder is salvaged by the next process that opens it exclusively.
 *  In Swift: `Store.verify(progress:)`; in Python: `settings.verify()`. */
KEPT_API kept_status kept_verify_json(kept_store *store, kept_progress_callback progress, void *context, char **json,
                                      kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Migrations: changing the schema of a program's settings
 *
 * A program numbers the schemas of its settings from 1, and ships the steps from each to the next. The store keeps the
 * number of its schema: its schema version.
 * --------------------------------------------------------------------------------------------------------------- */

/** Reads the schema version: 0 if no program has set one.
 *  In Swift: `Store.schemaVersion()`; in Python: `settings.schema_version`. */
KEPT_API kept_status kept_schema_version(kept_store *store, uint32_t *version, kept_error *error);

/** One step. It reads and writes through `transaction` and must have no effect elsewhere: it may run again if another
 *  process writes in the meantime.
 *  @return KEPT_OK, or an error, with or without `error` filled in: after an error nothing is changed. */
typedef kept_status (*kept_migration_callback)(void *context, kept_store *transaction, kept_error *error);

/** A step to a schema version. In Swift and Python: `Migration`. */
typedef struct kept_migration {
  uint32_t version;               /* the schema version that it leads to */
  uint32_t reserved;              /* 0 */
  const char *name;               /* what it does, for errors: "volume becomes audio.volume" */
  kept_migration_callback run;
  void *context;
} kept_migration;

#define KEPT_MIGRATE_CARRY_ON   1u   /* if another process is migrating, do not wait for it */
#define KEPT_MIGRATE_READ_ONLY  2u   /* if the store is of a later version, this handle continues to read but does not
                                        write */
#define KEPT_MIGRATE_NO_BACKUP  4u   /* make no backup first */
#define KEPT_MIGRATE_CONFIRMED  8u   /* the result of a step is `error->status` instead of its return value: KEPT_FAILED
                                        unless the step sets it, to KEPT_OK when it is done */

#define KEPT_MIGRATED_NOTHING    0u   /* the store already had the version of the last step */
#define KEPT_MIGRATED            1u   /* the steps were run */
#define KEPT_MIGRATED_FRESH      2u   /* the store held neither values nor declarations: it now has the version of the
                                         last step; no step was run */
#define KEPT_MIGRATED_ELSEWHERE  3u   /* another process is migrating: continue reading, and migrate again before you
                                         write */
#define KEPT_MIGRATED_READ_ONLY  4u   /* the store is of a later version, and this handle only reads it */

/** Migrates the store to the version of the last step. Runs the steps to versions above the store's own, in order, in
 *  one process and one transaction, after a backup to the store's folder `backups`. Other processes that migrate wait
 *  for up to the busy timeout, or carry on. kill -9 at any point leaves the old state or the new one. Migrate before
 *  you declare: in a new store, the declarations would otherwise make the steps run.
 *  @param steps  with ascending versions, the first at least 1; at most 65,536
 *  @param flags  KEPT_MIGRATE_…
 *  @param[out] result  receives one of KEPT_MIGRATED…; may be NULL
 *  @param[out] backup  receives the path of the backup, or NULL if none was made; free it with kept_free(); may be NULL
 *  @return KEPT_OK; the error of a step, with its version and name in `error` and nothing changed; KEPT_UNSUPPORTED for
 *          a store of a later version, and inside a step; KEPT_BUSY; KEPT_INVALID.
 *  In Swift: `Store.migrate(_:)`; in Python: `settings.migrate(...)`. */
KEPT_API kept_status kept_migrate(kept_store *store, const kept_migration *steps, size_t count, uint32_t flags,
                                  uint32_t *result, char **backup, kept_error *error);

/** Moves the stored value and the declaration of a key to another key. Also works in a transaction.
 *  @return KEPT_OK; KEPT_ABSENT if the key is neither stored nor declared; KEPT_INVALID if the other key is, unless
 *          both are the same, which changes nothing; KEPT_WRONG_TYPE or KEPT_MISFIT for a value that does not fit the
 *          declaration; KEPT_SHADOWED; or KEPT_LOCKED.
 *  In Swift: `rename(_:to:)`; in Python: `settings.rename(key, to)`. */
KEPT_API kept_status kept_rename(kept_store *store, const char *key, const char *to, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Administration: for programs that show and check the settings of others
 * --------------------------------------------------------------------------------------------------------------- */

/** Describes the place of a store without opening it: nothing is created, locked or repaired.
 *  @param location   as for kept_open()
 *  @param[out] json  receives an object; free it with kept_free(). Its members:
 *                    "location", the identifier, also if the path of its folder was given, or else the given location;
 *                    "identifier", true if the location is one;
 *                    "folder", a path, whether or not it exists; left out for a location such as "memory:";
 *                    "state": "absent"; "store", also for a damaged one and in memory; "folder" for a folder that
 *                    contains no store; "file" for anything else that is in its place; or "unknown" for a place that
 *                    cannot be examined, as behind a link that root does not follow: kept_open() reports the reason;
 *                    "identity", a text that no other folder has, not even a later one with the same name; left out
 *                    if there is no folder;
 *                    "bytes", the space that the store takes on the disk, as far as this user can see it: its files
 *                    and its folder quarantine; 0 unless the state is "store";
 *                    "layerFiles", the administrator's standard files, as in kept_layer_files_json()
 *  @return KEPT_OK; KEPT_INVALID for a location that kept_open() would refuse; or KEPT_UNAVAILABLE for an identifier if
 *          the user has no home folder. Any thread.
 *  In Swift: `StorePlace(_:)`; in Python: `kept.place(location)`. */
KEPT_API kept_status kept_place_json(const char *location, char **json, kept_error *error);

/** Lists the stores of the user, and the identifiers that have only administrator's files; or the stores in a folder.
 *  @param folder     NULL for the folder of the user's stores
 *  @param[out] json  receives an array of objects as kept_place_json() returns them, in the order of their locations;
 *                    free it with kept_free(). Everything whose name ends with ".kept" is listed, in any state,
 *                    and other stores if a folder is given. Names that are not UTF-8 are left out
 *  @return KEPT_OK, with an empty array for a user without stores; KEPT_DENIED or KEPT_UNAVAILABLE if the folder cannot
 *          be listed. Any thread.
 *  In Swift: `StorePlace.all(in:)`; in Python: `kept.places(folder)`. */
KEPT_API kept_status kept_places_json(const char *folder, char **json, kept_error *error);

/** Lists the other processes that have a file of a store open, as far as this user may see them: those of the same
 *  user, and of the same container; root sees those of all users. Nothing is opened.
 *  @param location   as for kept_open()
 *  @param[out] json  receives an array of objects, in the order of the process ids; free it with kept_free(). Their
 *                    members: "pid"; "name", the name of the program in the kernel, at most 15 bytes; "since", the
 *                    time at which the process was started, to the second (RFC 3339), left out if that is not known;
 *                    and "writing", true if it has opened a file of the store for writing
 *  @return KEPT_OK, with an empty array for a store that does not exist, or has no folder; KEPT_UNAVAILABLE if the
 *          processes cannot be listed, as by a process that may not open more files; KEPT_DENIED for a link that root
 *          does not follow; or what kept_place_json() returns. Any thread.
 *  In Swift: `StorePlace.processes()`; in Python: `kept.processes(location)`. */
KEPT_API kept_status kept_processes_json(const char *location, char **json, kept_error *error);

/** Examines a store: its files and their checksums, all values and declarations, the files of the layers, permissions
 *  and owners, the file system, and which processes have it open. A store that cannot be opened is a finding, not an
 *  error; then everything that may be the reason is reported. No store is created, and nothing is repaired except what
 *  kept_open() repairs. With KEPT_READ_ONLY in `options` nothing is changed. A store that this process has open is
 *  examined as it is.
 *  @param location   as for kept_open()
 *  @param options    the options of the program, so that its layers are examined, too; NULL for none
 *  @param progress   as for kept_verify_json(); NULL for none
 *  @param context    passed to `progress`
 *  @param[out] json  receives an array of objects; free it with kept_free(). Their members: "severity": "note" for a
 *                    fact, "attention" for a problem, or "damage" if something cannot be read or the store cannot be
 *                    opened; "what", a sentence; "remedy", if anything can be done: a sentence, or a command
 *                    whose names are quoted for a POSIX shell; "key", the key that it concerns, if any; and
 *                    "repairable", true if `kept doctor --repair` fixes it
 *  @return KEPT_OK, whatever is found; KEPT_UNAVAILABLE if there is no store; KEPT_UNSUPPORTED for a storage that
 *          cannot list its keys; KEPT_FAILED if `progress` stopped it; or what kept_place_json() returns. Any thread.
 *  In Swift: `StorePlace.examine(options:progress:)`; in Python: `kept.findings(location)`. */
KEPT_API kept_status kept_findings_json(const char *location, const kept_options *options,
                                        kept_progress_callback progress, void *context, char **json, kept_error *error);

/** Checks every block, record, commit and past change in the files of a store, or in a backup. The store is not opened:
 *  nothing is created, locked or changed. So it may be in use, a copy, or on a medium that cannot be written.
 *  @param location   as for kept_open(), or the path of a backup
 *  @param[out] json  receives an array of objects as kept_findings_json() returns them, empty if all is well; free it
 *                    with kept_free(). "what" has the file and the place, and the keys, as far as their names can be
 *                    read; "key" is left out if there are several. At most 1,000
 *  @return KEPT_OK, whatever is found; KEPT_UNAVAILABLE if there is no store, or a file cannot be read; KEPT_DENIED if
 *          other users may write the files; KEPT_UNSUPPORTED for a location without such files, such as "memory:", and
 *          for a file that is not a backup; KEPT_BUSY if others replace the files each time; or what kept_place_json()
 *          returns. Any thread.
 *  In Swift: `StorePlace.verifyFiles()`; in Python: `kept.verify_files(location)`. */
KEPT_API kept_status kept_verify_files_json(const char *location, char **json, kept_error *error);

/** Shows or changes how a store keeps its secrets. Unlike other calls, it may take seconds and run programs; a process
 *  that is killed loses nothing, and the same call goes on. Until someone has decided with "plain" or "encrypt", a
 *  secret is refused with KEPT_UNAVAILABLE; a store in memory needs no decision.
 *  @param request    an object; NULL for {"do": "show"}. Its members:
 *                    "do": "show"; "check", which also asks each provider for the key; "plain", to store secrets as
 *                    they are; "encrypt", to encrypt all that are stored and all that follow, with the key of a
 *                    provider; "add" a provider, or renew it; "remove" one, but not the last; "rotate", to encrypt all
 *                    with a new data key; or "unlock" with the passphrase, for this process;
 *                    "provider", for encrypt, add and remove, an object with "kind": "systemd-creds"; "secret-service"
 *                    for the user's keyring; "file" with "path", which is made if it does not exist; "program" with
 *                    "arguments", an array; or "passphrase" with "passphrase", which remove
 *                    does not need;
 *                    "passphrase", for check, add, rotate and unlock, that of the store. A wrong one is refused, even
 *                    if another provider gives the key
 *  @param[out] json  receives an object; free it with kept_free(). Its members: "state": "undecided", "plain" or
 *                    "encrypted"; "providers", an array as above, without passphrases, where check adds "reason" to
 *                    those that do not give the key; "created", the time of the data key; and "unsealed", how many
 *                    secrets are plain or have an older data key
 *  @return KEPT_OK; KEPT_INVALID for a malformed request or an unknown member, and for a request that does not fit the
 *          state; KEPT_ABSENT for a provider that the store does not have; KEPT_UNAVAILABLE or KEPT_DENIED, with the
 *          reason, if a provider does not give the key or the file of the keys is lost; KEPT_BUSY; or
 *          KEPT_UNSUPPORTED for a store that is not in a folder of its own. Any thread.
 *  In Swift: `Store.secretsStatus()`, `Store.encryptSecrets(with:)` and others; in Python: `settings.secrets()`,
 *  `settings.encrypt_secrets(provider)` and others. */
KEPT_API kept_status kept_secrets_json(kept_store *store, const char *request, char **json, kept_error *error);

/** Lists the files of this handle's layers, with the state of each.
 *  @param[out] json  receives an array of objects, the highest layer first; free it with kept_free(). Their
 *                    members: "layer", "path", "state", and "problem", a sentence, for a broken file. The states are
 *                    "absent", which is an empty layer; "read"; and "broken" for a file that cannot be read or parsed:
 *                    the layer keeps its last good contents
 *  @return KEPT_OK, with an empty array for a store that was opened without files; or KEPT_UNSUPPORTED for a
 *          transaction.
 *  In Swift: `Store.layerFiles()`; in Python: `settings.layer_files()`. */
KEPT_API kept_status kept_layer_files_json(kept_store *store, char **json, kept_error *error);

/** Checks, before a layer's file is written, whether stores will accept its text. Values are not compared with
 *  declarations.
 *  @param text   `length` bytes
 *  @param layer  KEPT_LAYER_MANAGED or KEPT_LAYER_SYSTEM
 *  @return KEPT_OK; otherwise what reading the file would report, with "the document" in place of the path:
 *          KEPT_INVALID, with `error->offset` if the text is not JSON, or KEPT_TOO_LARGE.
 *  In Swift: `Layer.check(_:)`; in Python: `kept.check_layer(text, layer)`. */
KEPT_API kept_status kept_layer_check(const char *text, size_t length, uint32_t layer, kept_error *error);

/** Reads a text that a person has typed, as a value of a declared type.
 *  @param text   `length` bytes of UTF-8. A string is the text as it is. Other types accept the output of
 *                kept_json_to_text(), JSON, and the forms that the arguments and the environment accept
 *  @param type   the "type" of a declaration, such as "integer"; NULL for a key that is not declared: the text is JSON
 *  @param[out] json  receives canonical JSON, with a number in the form that a declaration of the type stores: 1e3 as
 *                    the integer 1000; free it with kept_free(). The rules of a declaration are not checked
 *  @return KEPT_OK; KEPT_INVALID, with `error->offset` if the text is JSON with an error; or KEPT_TOO_LARGE. The
 *          message may quote the text: do not show it if the text is a secret.
 *  In Swift: `Value(text:as:)`; in Python: `kept.value_of_text(text, type)`. */
KEPT_API kept_status kept_text_to_json(const char *text, size_t length, const char *type, char **json,
  kept_error *error);

/** Returns a value as the text that people read: a string is the text itself, a date is RFC 3339 in UTC, and bytes are
 *  base64. Anything else is canonical JSON. The text is not escaped: see kept_display_text().
 *  @param json   the value, in the JSON of kept_get_json()
 *  @param type   as for kept_text_to_json(); for NULL, each value is returned as JSON
 *  @param[out] text  receives the text; free it with kept_free(). A string with a NUL is returned as JSON
 *  @return KEPT_OK, KEPT_INVALID or KEPT_TOO_LARGE.
 *  In Swift: `Value.text(as:)`; in Python: `kept.text_of_value(value, type)`. */
KEPT_API kept_status kept_json_to_text(const char *json, const char *type, char **text, kept_error *error);

#define KEPT_DIFFERENCES_SECRETS  1u   /* include the values and the declarations of secrets */

/** Compares the stored values and the declarations of two stores, snapshots, backups or exports. If a side has only
 *  the keys with a prefix, only these keys are compared. A key is secret here if a side declares it so: the
 *  values of two exports without declarations are shown.
 *  @param old       a store or a snapshot, such as one from kept_snapshot_at(); or NULL
 *  @param old_file  if `old` is NULL: the path of a backup, or of a file that kept_export_file() has written
 *  @param changed, changed_file  the other side, in the same way
 *  @param flags     0, or KEPT_DIFFERENCES_SECRETS
 *  @param[out] json  receives an object; free it with kept_free(). Its members, each ordered by the keys:
 *    "values"        objects with "key", and "old" and "new" unless there is none. "secret" is true for a key that is
 *                    secret on either side; "notKept" names those of "old" and "new" that exist and are left out,
 *                    because the key is secret or the history has not kept them
 *    "declarations"  objects with "key", and "old" and "new" unless there is none, or "secret" in their place
 *    "unknown"       objects with "key", "reason" (half a sentence) and "secret", for keys that may or may not differ
 *    "comparesDeclarations"  false if an export has no declarations and the other side has: "declarations" is empty
 *  @return KEPT_OK; KEPT_INVALID for a file that is neither, and for a side with both a store and a file, or without
 *          either; KEPT_UNSUPPORTED for a transaction, or a store that cannot list its keys; or what kept_restore() and
 *          kept_import_file() return for a file.
 *  In Swift: `StoreContents.differences(to:)`; in Python: `kept.differences(old, new)`. */
KEPT_API kept_status kept_differences_json(kept_store *old, const char *old_file, kept_store *changed,
  const char *changed_file, uint32_t flags, char **json, kept_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Observation: being notified of changes
 *
 * Observers in every process receive every change in commit order. They never receive a part of a transaction, never an
 * older state after a newer one, and always the last state. Each transaction of this process is a notice of its own;
 * those of other processes may be merged. A slow observer delays only itself: its waiting notices are merged by key.
 * --------------------------------------------------------------------------------------------------------------- */

/** One or more whole transactions as an observer sees them. Valid during the callback, or until it is freed.
 *  In Swift: `Notice`. */
typedef struct kept_notice kept_notice;

/** A subscription. It ends with kept_unobserve(), or with its store. In Swift: `Subscription`. */
typedef struct kept_subscription kept_subscription;

/** Receives a notice: on the store's own delivery thread, or in kept_store_dispatch() or kept_subscription_dispatch().
 *  Callbacks of one subscription run one at a time. So do those of a store, with one exception: while a callback takes
 *  longer than 100 ms, other subscriptions are called on another thread, and the slow subscription is called in
 *  parallel with them until its callback has returned within that time 16 times in a row. Up to four threads of a
 *  location call slow subscriptions; if there are more slow subscriptions, they wait only for each other. If more than
 *  eight turn out to be slow at the same time, the other subscriptions are called late in that round only. */
typedef void (*kept_notice_callback)(void *context, const kept_notice *notice);

#define KEPT_OBSERVE_KEY      0u   /* changes of exactly this key */
#define KEPT_OBSERVE_PREFIX   1u   /* changes of every key that begins with this text; "" for every key */
#define KEPT_OBSERVE_INITIAL  2u   /* first deliver the current values, on this thread, before kept_observe() returns */
#define KEPT_OBSERVE_POLLED   4u   /* called only in kept_subscription_dispatch(), however the store was opened */

/** Subscribes to a key or a prefix. Subscribing to a prefix reads the values of all its keys and keeps them in memory.
 *  @param flags    KEPT_OBSERVE_KEY or KEPT_OBSERVE_PREFIX, optionally with the others
 *  @param callback  may be NULL with KEPT_OBSERVE_POLLED: then take notices, the initial one first, with
 *                   kept_subscription_take()
 *  @param release  called once with `context`, after the last callback; not called if kept_observe() fails. May be NULL
 *  @param[out] subscription  receives the subscription; set before the first callback begins
 *  @return KEPT_OK, KEPT_INVALID, or KEPT_UNSUPPORTED for a transaction.
 *  In the child of a fork the parent's subscriptions receive nothing: subscribe again.
 *  In Swift: `Store.observe(_:initial:_:)`; in Python: `settings.observe(...)`. */
KEPT_API kept_status kept_observe(kept_store *store, const char *key, uint32_t flags, kept_notice_callback callback,
                                  void *context, void (*release)(void *context), kept_subscription **subscription,
                                  kept_error *error);

/** Ends a subscription. Waits for a running callback. After the call returns no callback begins, and `release` has been
 *  called. Called from that callback, or from one that it waits for (two callbacks may end each other's subscriptions),
 *  it returns at once instead, and `release` is called after the callback returns. Undelivered notices are dropped.
 *  NULL and an ended subscription are allowed. */
KEPT_API void kept_unobserve(kept_subscription *subscription);

/** Returns the file descriptor of a store opened with KEPT_BY_HOST. Watch it for reading, with poll, epoll,
 *  g_unix_fd_add or similar, and call kept_store_dispatch() when it is readable. It stays readable while callbacks are
 *  due. Do not read or close it. It is closed with the store, and becomes readable first. In the child of a fork it has
 *  the same number, and reports only the child's own subscriptions.
 *  @param[out] fd  receives the descriptor
 *  @return KEPT_OK, KEPT_UNSUPPORTED for a store that was not opened with KEPT_BY_HOST, or KEPT_FAILED if no descriptor
 *          is free. */
KEPT_API kept_status kept_store_fd(kept_store *store, int *fd, kept_error *error);

/** Makes the callbacks that are due, on this thread. Does not wait for new ones.
 *  @param max       the maximum number of callbacks; 0 for all that are due now. Changes that callbacks make are due in
 *                   the next call
 *  @param[out] delivered  receives the number of callbacks made; may be NULL
 *  @return KEPT_OK, or KEPT_UNSUPPORTED for a store that was not opened with KEPT_BY_HOST. */
KEPT_API kept_status kept_store_dispatch(kept_store *store, size_t max, size_t *delivered, kept_error *error);

/** Returns the file descriptor of one subscription made with KEPT_OBSERVE_POLLED, to be used like kept_store_fd(), so
 *  that each subscription goes at its own pace. The descriptor becomes readable and is closed when the subscription
 *  ends: dup() it for an event loop that lives longer.
 *  @return KEPT_OK, KEPT_CLOSED for a subscription that has ended, or KEPT_UNSUPPORTED for any other subscription. */
KEPT_API kept_status kept_subscription_fd(kept_subscription *subscription, int *fd, kept_error *error);

/** Makes the callbacks that are due for one subscription made with KEPT_OBSERVE_POLLED and a callback, like
 *  kept_store_dispatch(). Use one thread at a time.
 *  @return as kept_subscription_fd(). */
KEPT_API kept_status kept_subscription_dispatch(kept_subscription *subscription, size_t max, size_t *delivered,
                                                kept_error *error);

/** Takes the next notice of a subscription made with KEPT_OBSERVE_POLLED and without a callback. Does not wait. The
 *  subscription's descriptor, see kept_subscription_fd(), is readable while there is a notice.
 *  @param[out] notice  receives the notice, or NULL if there is none now. It outlives the subscription and is used by
 *                      one thread at a time; free it with kept_notice_free()
 *  @return as kept_subscription_fd(). */
KEPT_API kept_status kept_subscription_take(kept_subscription *subscription, kept_notice **notice, kept_error *error);

/** Frees a notice from kept_subscription_take(), never one that a callback receives. NULL is allowed. */
KEPT_API void kept_notice_free(kept_notice *notice);

/* ------------------------------------------------------------------------------------------------------------------
 * Notices: what an observer receives. Everything is valid as long as the notice; do not free.
 * --------------------------------------------------------------------------------------------------------------- */

#define KEPT_ORIGIN_STORE    0u   /* written through this handle */
#define KEPT_ORIGIN_PROCESS  1u   /* written through another handle in this process */
#define KEPT_ORIGIN_OTHER    2u   /* written by another process */
#define KEPT_ORIGIN_INITIAL  3u   /* not a change: the values at the time of subscribing */
#define KEPT_ORIGIN_SEVERAL  4u   /* several of the others, merged because the observer was too slow to receive each */
#define KEPT_ORIGIN_LAYER    5u   /* not a write to the store: a file of this handle's layers has changed */

/** The last revision that the notice covers. */
KEPT_API uint64_t kept_notice_revision(const kept_notice *notice);
/** The first revision that the notice covers. It covers all revisions from this one to kept_notice_revision(). */
KEPT_API uint64_t kept_notice_first_revision(const kept_notice *notice);
/** The origin of the change: one of KEPT_ORIGIN_…. */
KEPT_API uint32_t kept_notice_origin(const kept_notice *notice);
/** The tag (`tag` in the options) that all transactions of the notice have in common; NULL if they differ. */
KEPT_API const char *kept_notice_tag(const kept_notice *notice);
/** When the last transaction of the notice was committed, by the wall clock, in nanoseconds since
 *  1970-01-01T00:00:00Z. Order notices by revision, not by time: a clock may be set back. Where no such time is known,
 *  this is when the values were read or the change was noticed: for KEPT_ORIGIN_INITIAL and KEPT_ORIGIN_LAYER, if
 *  kept_notice_may_have_missed(), and for stores without a journal, which are "memory:" and "dir:". 0 if `notice` is
 *  NULL. In Swift: `Notice.time`; in Python: `time_ns`, and as a date `time`. */
KEPT_API int64_t kept_notice_time(const kept_notice *notice);
/** Whether intermediate changes may have been missed because the store no longer had their log. The values were read
 *  again and are correct. */
KEPT_API bool kept_notice_may_have_missed(const kept_notice *notice);
/** The number of changes in the notice. With KEPT_OBSERVE_PREFIX it may be 0 for KEPT_ORIGIN_LAYER: then keys were
 *  locked or unlocked, perhaps some that begin with the prefix. */
KEPT_API size_t kept_notice_count(const kept_notice *notice);
/** The key of a change, from 0 to count - 1; NULL beyond that. */
KEPT_API const char *kept_notice_key(const kept_notice *notice, size_t index);
/** The value before the change as JSON: what this subscription last reported, or what it found when it was made. NULL
 *  if there was none, and beyond the last change. Also NULL if there is no memory for the text: then kept_notice_old()
 *  is not NULL, and this function may be called again. */
KEPT_API const char *kept_notice_old_json(const kept_notice *notice, size_t index);
/** The value after the change as JSON. NULL if the key was removed, and beyond the last change. Also NULL if there is
 *  no memory for the text: then kept_notice_new() is not NULL, and this function may be called again. */
KEPT_API const char *kept_notice_new_json(const kept_notice *notice, size_t index);

/** The layer of the new value: one of KEPT_LAYER_…, KEPT_LAYER_NONE if there is none. A change may consist of a new
 *  layer alone. */
KEPT_API uint32_t kept_notice_layer(const kept_notice *notice, size_t index);
/** Whether the key is declared secret. If so, do not write its values to a log or a screen. */
KEPT_API bool kept_notice_secret(const kept_notice *notice, size_t index);

/** A value in a notice, read with the functions below. In Swift: `Value`. */
typedef struct kept_value kept_value;

/** The value before the change; NULL if there was none. */
KEPT_API const kept_value *kept_notice_old(const kept_notice *notice, size_t index);
/** The value after the change; NULL if the key was removed. */
KEPT_API const kept_value *kept_notice_new(const kept_notice *notice, size_t index);

/** Reads a bool. This and the following functions convert like kept_get_bool() and the others, and return KEPT_OK,
 *  KEPT_WRONG_TYPE, KEPT_ABSENT if `value` is NULL, or KEPT_INVALID. */
KEPT_API kept_status kept_value_bool(const kept_value *value, bool *out, kept_error *error);
/** Reads an integer. */
KEPT_API kept_status kept_value_int64(const kept_value *value, int64_t *out, kept_error *error);
/** Reads an integer from 0 to UINT64_MAX. */
KEPT_API kept_status kept_value_uint64(const kept_value *value, uint64_t *out, kept_error *error);
/** Reads a double. */
KEPT_API kept_status kept_value_double(const kept_value *value, double *out, kept_error *error);
/** Reads a date, like kept_get_date(). */
KEPT_API kept_status kept_value_date(const kept_value *value, int64_t *seconds, int32_t *nanoseconds,
                                     kept_error *error);
/** Reads text in place: valid as long as the notice, followed by a NUL. `length` may be NULL. */
KEPT_API kept_status kept_value_string(const kept_value *value, const char **text, size_t *length, kept_error *error);
/** Reads bytes in place: valid as long as the notice. */
KEPT_API kept_status kept_value_bytes(const kept_value *value, const void **bytes, size_t *length, kept_error *error);

#ifdef __cplusplus
}
#endif

#endif
