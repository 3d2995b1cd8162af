/* Other users, other kinds of files, and processes that must not wait. */
#ifndef OTHERS_H
#define OTHERS_H

#include "../check.h"

#include <sys/stat.h>

/** The user that the tests take on where they run as root. */
enum { NOBODY = 65534 };

/** Whether there can be another user; says so where there cannot. */
int has_other_user(void);
/** Goes on as another user, for good. */
void become_nobody(void);
/** Gives a file to another user. */
void give_away(const char *path);
/** Gives a store's folder, with all that is in it, to another user. */
void give_away_store(const char *folder);

/** The kind and the rights of what is at a path, through no link; 0 for nothing. */
mode_t mode_at(const char *path);
/** What a file holds. Lives until the test ends. */
const char *text_at(const char *path);
/** A store with "number" 1, which is closed again. */
const char *closed_store(void);

/** Plays a role in another process, and expects it to end by itself, in a minute at the latest. */
void play_in_time(const char *role, const char *location);

#endif
