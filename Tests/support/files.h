/* A test's own files. What cannot be made or read ends the program with a message and status 2. */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/** The path of a file in a folder, such as `values`. Valid during the next 255 calls. */
const char *file_of(const char *folder, const char *name);

/** Makes a folder for temporary files, and stores its path. */
void make_folder(char *path, size_t size, const char *name);
/** Removes a folder with all that is in it, or a file. */
void remove_tree(const char *path);

/** Atomically replaces a file with this text, readable by all. */
void put_file(const char *path, const char *text);
/** Writes a file, in place if it exists. */
void write_file(const char *path, const void *bytes, size_t length);
/** Writes a text into a file that must exist, such as one of /proc. @return whether that is possible */
bool write_into(const char *path, const char *text);
/** The contents, with a NUL behind them; NULL if there is no such file. Freed by the caller.
 *  @param length  receives their number; may be NULL */
char *read_file(const char *path, size_t *length);
/** @return false if there is no such file */
bool copy_file(const char *from, const char *to);
/** Whether a file contains a text. */
bool holds(const char *path, const char *text);
/** The number after `name` in a file of lines such as /proc/self/status; -1 if there is none. */
long number_in_file(const char *path, const char *name);

/** The kind and mode of the file at a path, without following links; 0 if there is none. */
mode_t mode_at(const char *path);
bool is_there(const char *path);
/** How many names in a folder begin with this. */
int names_in(const char *folder, const char *beginning);

#endif
