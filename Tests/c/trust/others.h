/* Other users, other kinds of files, and processes that must not block. */
#ifndef OTHERS_H
#define OTHERS_H

#include "suite.h"

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

/** A closed store with "number" set to 1. */
const char *closed_store(void);

/** Copies this program, for its owner alone. */
void copy_program(const char *to);

#endif
