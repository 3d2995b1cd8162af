/* Options with layer files, and waiting for a handle to have read a changed one. */
#ifndef LAYER_CHANGES_H
#define LAYER_CHANGES_H

#include <kept.h>

/** The options of a handle with these files; NULL for none. */
kept_options with(const char *managed, const char *system);

/** The count of a handle's layers now; 0 if it has none. */
uint64_t look(const uint64_t *word);

/** Waits until a word has changed; a failed check after ten seconds. */
void await_move(const uint64_t *word, uint64_t from);

/** Puts a file in place and waits until the handle has read it. */
void put_and_await(kept_store *store, const char *path, const char *text);

#endif
