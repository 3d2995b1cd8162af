/* Folders for stores: created empty, removed with all their contents. */
#ifndef BENCH_FOLDERS_H
#define BENCH_FOLDERS_H

/* Creates an empty folder `name` in `parent`, replacing an existing one; free() the path. */
char *folder_make(const char *parent, const char *name);
void folder_remove(const char *path);

/* A path inside a folder; free() it. */
char *folder_path(const char *folder, const char *name);

#endif
