/* Other users, other kinds of files, and processes that must not block. */
#ifndef OTHERS_H
#define OTHERS_H

#include "../check.h"

#include <sys/stat.h>

/** The user that tests which run as root switch to. */
enum { NOBODY = 65534 };

/** Whether there can be another user; prints a message if not. */
int has_other_user(void);
/** Continues as another user, permanently. */
void become_nobody(void);
/** Gives a file to another user. */
void give_away(const char *path);
/** Gives a store's folder, with all its contents, to another user. */
void give_away_store(const char *folder);

/** The kind and mode of the file at a path, without following links; 0 if there is none. */
mode_t mode_at(const char *path);
/** The contents of a file. Valid until the test ends. */
const char *text_at(const char *path);
/** A closed store with "number" set to 1. */
const char *closed_store(void);

/** Runs a role in another process, and expects it to end by itself within a minute. */
void play_in_time(const char *role, const char *location);

#endif
