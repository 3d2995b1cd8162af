/* The stores, texts and files of one test: they end with it. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <kept.h>

/** A location without a store: a folder, or a named memory store. */
const char *fresh_location(void);
/** The same, but always a folder. */
const char *fresh_folder(void);
/** A file that nothing else uses, with this text. */
const char *fresh_file(const char *text);

/** Opens a store that the test need not close. Returns NULL, with a failed check, if it cannot be opened. */
kept_store *open_at(const char *location);
/** The same with options. */
kept_store *open_with(const char *location, const kept_options *options);
kept_store *fresh_store(void);
/** Decides that a store keeps its secrets as they are; one in memory needs no decision. */
void keep_secrets_plain(kept_store *store);
/** The value of a key as JSON, or the name of the status. */
const char *json_of(kept_store *store, const char *key);

/** Keys that no function accepts, from 0; NULL at the end. */
const char *bad_key(size_t index);
/** Texts that are not UTF-8, from 0; NULL at the end. They hold no NUL. */
const char *bad_text(size_t index);
/** `count` times the same byte. */
char *repeated(char byte, size_t count);
/** The contents of a file; a failed check, and an empty text, if there is none. */
const char *text_at(const char *path);

/* For suite.c. */

/** Makes the folder of all fixtures. @param owner  the folder of the parent in a child process, else NULL */
void begin_fixtures(const char *owner, int are_in_memory);
void end_fixture(void);
void end_fixtures(void);

#endif
