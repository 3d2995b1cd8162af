// The recorder: an SQLite VFS that wraps the default one, and the replay of what it recorded.
#include "disk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DATABASE, LOG, FILES };
enum { SECTOR = 512, MOST_BYTES = 64 << 20 };
typedef enum { WRITE, TRUNCATE, SYNC, REMOVE } Kind;

typedef struct {
  Kind kind;
  int file;
  size_t offset, length;
  unsigned char *bytes;
} Event;

typedef struct {
  unsigned char *bytes;
  size_t length;
  int exists;
} Image;

typedef struct {
  sqlite3_file base;
  int file; /* -1: not recorded */
  sqlite3_file *real;
} Recorded;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Event *events;
static size_t count, capacity;
static Image first[FILES];
static char paths[FILES][512];
static int recording;
static sqlite3_vfs *real_vfs, vfs;

static void note(Kind kind, int file, size_t offset, const void *bytes, size_t length) {
  if (file < 0) return;
  pthread_mutex_lock(&mutex);
  if (recording) {
    if (count == capacity) events = realloc(events, (capacity = capacity ? 2 * capacity : 1024) * sizeof *events);
    Event event = { kind, file, offset, length, NULL };
    if (bytes) memcpy(event.bytes = malloc(length ? length : 1), bytes, length);
    events[count++] = event;
  }
  pthread_mutex_unlock(&mutex);
}

#define REAL(f) (((Recorded *)(f))->real)
#define FILE_OF(f) (((Recorded *)(f))->file)
#define CALL(f, method, ...) REAL(f)->pMethods->method(REAL(f), ##__VA_ARGS__)

static int r_close(sqlite3_file *f) { return CALL(f, xClose); }
static int r_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at) { return CALL(f, xRead, to, n, at); }
static int r_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at) {
  note(WRITE, FILE_OF(f), (size_t)at, from, (size_t)n);
  return CALL(f, xWrite, from, n, at);
}
static int r_truncate(sqlite3_file *f, sqlite3_int64 size) {
  note(TRUNCATE, FILE_OF(f), (size_t)size, NULL, 0);
  return CALL(f, xTruncate, size);
}
static int r_sync(sqlite3_file *f, int flags) {
  int status = CALL(f, xSync, flags);
  // The data can be relied upon only after the call has returned.
  if (status == SQLITE_OK) note(SYNC, FILE_OF(f), 0, NULL, 0);
  return status;
}
static int r_size(sqlite3_file *f, sqlite3_int64 *size) { return CALL(f, xFileSize, size); }
static int r_lock(sqlite3_file *f, int kind) { return CALL(f, xLock, kind); }
static int r_unlock(sqlite3_file *f, int kind) { return CALL(f, xUnlock, kind); }
static int r_reserved(sqlite3_file *f, int *out) { return CALL(f, xCheckReservedLock, out); }
static int r_control(sqlite3_file *f, int op, void *arg) {
  // A mapping would bypass the recorder.
  if (op == SQLITE_FCNTL_MMAP_SIZE) return SQLITE_NOTFOUND;
  return CALL(f, xFileControl, op, arg);
}
static int r_sector(sqlite3_file *f) { return CALL(f, xSectorSize); }
// Promise nothing: no atomic writes, no power-safe overwrites.
static int r_characteristics(sqlite3_file *f) { return (void)f, 0; }
static int r_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
  return CALL(f, xShmMap, page, size, extend, out);
}
static int r_shm_lock(sqlite3_file *f, int at, int n, int flags) { return CALL(f, xShmLock, at, n, flags); }
static void r_shm_barrier(sqlite3_file *f) { CALL(f, xShmBarrier); }
static int r_shm_unmap(sqlite3_file *f, int delete) { return CALL(f, xShmUnmap, delete); }

static const sqlite3_io_methods methods = {
  2,
  r_close,
  r_read,
  r_write,
  r_truncate,
  r_sync,
  r_size,
  r_lock,
  r_unlock,
  r_reserved,
  r_control,
  r_sector,
  r_characteristics,
  r_shm_map,
  r_shm_lock,
  r_shm_barrier,
  r_shm_unmap,
  NULL,
  NULL,
};

static int file_of(const char *path) {
  for (int file = 0; path && file < FILES; file++)
    if (strcmp(path, paths[file]) == 0) return file;
  return -1;
}

static int v_open(sqlite3_vfs *self, const char *path, sqlite3_file *f, int flags, int *out) {
  (void)self;
  Recorded *file = (Recorded *)f;
  file->real = (sqlite3_file *)(file + 1);
  file->file = file_of(path);
  int status = real_vfs->xOpen(real_vfs, path, file->real, flags, out);
  file->base.pMethods = file->real->pMethods ? &methods : NULL;
  return status;
}

static int v_delete(sqlite3_vfs *self, const char *path, int sync_folder) {
  (void)self;
  note(REMOVE, file_of(path), 0, NULL, 0);
  return real_vfs->xDelete(real_vfs, path, sync_folder);
}

int disk_install(const char *folder) {
  snprintf(paths[DATABASE], sizeof paths[0], "%s/values.sqlite", folder);
  snprintf(paths[LOG], sizeof paths[0], "%s/values.sqlite-wal", folder);
  real_vfs = sqlite3_vfs_find(NULL);
  vfs = *real_vfs;
  vfs.zName = "recorder";
  vfs.szOsFile = (int)sizeof(Recorded) + real_vfs->szOsFile;
  vfs.xOpen = v_open;
  vfs.xDelete = v_delete;
  return sqlite3_vfs_register(&vfs, 1);
}

static Image load(const char *path) {
  Image image = { calloc(1, MOST_BYTES), 0, 0 };
  FILE *file = fopen(path, "rb");
  if (!file) return image;
  image.exists = 1;
  image.length = fread(image.bytes, 1, MOST_BYTES, file);
  fclose(file);
  return image;
}

void disk_record(void) {
  for (int file = 0; file < FILES; file++) first[file] = load(paths[file]);
  recording = 1;
}

void disk_stop(void) {
  pthread_mutex_lock(&mutex);
  recording = 0;
  pthread_mutex_unlock(&mutex);
}

size_t disk_events(void) {
  pthread_mutex_lock(&mutex);
  size_t now = count;
  pthread_mutex_unlock(&mutex);
  return now;
}

static void apply(Image *image, const Event *event, unsigned mode) {
  switch (event->kind) {
    case SYNC: break;
    case REMOVE: image->exists = 0, image->length = 0; break;
    case TRUNCATE:
      if (mode >= 2 && rand() % 2) break;
      if (event->offset < image->length) memset(image->bytes + event->offset, 0, image->length - event->offset);
      image->length = event->offset;
      break;
    case WRITE:
      image->exists = 1;
      for (size_t at = 0; at < event->length;) {
        size_t end = ((event->offset + at) / SECTOR + 1) * SECTOR - event->offset;
        if (end > event->length) end = event->length;
        if (mode < 2 || rand() % 2) memcpy(image->bytes + event->offset + at, event->bytes + at, end - at);
        at = end;
      }
      // The length may reach the disk before the bytes, and lost bytes read as zeros.
      if (event->offset + event->length > image->length) image->length = event->offset + event->length;
      break;
  }
}

int disk_cut(size_t end, unsigned seed, const char *folder) {
  static const char *const names[FILES] = { "values.sqlite", "values.sqlite-wal" };
  srand(seed);
  for (int file = 0; file < FILES; file++) {
    Image image = { calloc(1, MOST_BYTES), first[file].length, first[file].exists };
    memcpy(image.bytes, first[file].bytes, first[file].length);
    size_t synced = 0;
    for (size_t at = 0; at < end; at++)
      if (events[at].file == file && (events[at].kind == SYNC || events[at].kind == REMOVE)) synced = at + 1;
    for (size_t at = 0; at < end; at++)
      if (events[at].file == file && (at < synced || seed > 0)) apply(&image, &events[at], at < synced ? 1 : seed);
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, names[file]);
    FILE *out = image.exists ? fopen(path, "wb") : NULL;
    if (out) fwrite(image.bytes, 1, image.length, out), fclose(out);
    free(image.bytes);
    if (image.exists && !out) return -1;
  }
  return 0;
}
