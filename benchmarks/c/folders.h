/* Folders for stores: made empty, removed with all that is in them. */
#ifndef BENCH_FOLDERS_H
#define BENCH_FOLDERS_H

/* Makes an empty folder `name` in `parent`, in place of any that was there; free() the path. */
char *folder_make(const char *parent, const char *name);
void folder_remove(const char *path);

/* A path inside a folder; free() it. */
char *folder_path(const char *folder, const char *name);

#endif
