// The recorder: the calls of the system that change a file or sync it, which the program has in place of libc's, and
// the replay of what it recorded.
#include "disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DATABASE, LOG, JOURNAL, FILES };
enum { SECTOR = 512, MOST_BYTES = 64 << 20, FAILING_US = 20000 };
typedef enum { WRITE, TRUNCATE, SYNC, REMOVE } Kind;

typedef struct {
  Kind kind;
  int file;
  size_t offset, length;
  unsigned char *bytes;
  int is_dropped;
} Event;

typedef struct {
  unsigned char *bytes;
  size_t length;
  int exists;
} Image;

static const char *const names[FILES] = { "values.sqlite", "values.sqlite-wal", "journal" };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Event *events;
static size_t count, capacity;
static Image first[FILES];
static char paths[FILES][512];
static int recording;
// Every how many syncs of the recorder's thread one fails, and every second one of others; none if 0.
static unsigned failing;
static unsigned syncs[2]; // of others, and of the recorder
static pthread_t recorder;

static int file_at(const char *path) {
  for (int file = 0; path && file < FILES; file++)
    if (strcmp(path, paths[file]) == 0) return file;
  return -1;
}

static int file_of(int descriptor) {
  if (!__atomic_load_n(&recording, __ATOMIC_ACQUIRE)) return -1;
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return -1;
  path[length] = '\0';
  return file_at(path);
}

static void note(Kind kind, int file, size_t offset, const void *bytes, size_t length) {
  if (file < 0) return;
  pthread_mutex_lock(&mutex);
  if (recording) {
    if (count == capacity) events = realloc(events, (capacity = capacity ? 2 * capacity : 1024) * sizeof *events);
    Event event = { kind, file, offset, length, NULL, 0 };
    if (bytes) memcpy(event.bytes = malloc(length ? length : 1), bytes, length);
    events[count++] = event;
  }
  pthread_mutex_unlock(&mutex);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t at) {
  ssize_t done = REAL(pwrite)(descriptor, bytes, length, at);
  if (done > 0) note(WRITE, file_of(descriptor), (size_t)at, bytes, (size_t)done);
  return done;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t at) {
  ssize_t done = REAL(pwrite64)(descriptor, bytes, length, at);
  if (done > 0) note(WRITE, file_of(descriptor), (size_t)at, bytes, (size_t)done);
  return done;
}

int ftruncate64(int descriptor, off64_t size) {
  int status = REAL(ftruncate64)(descriptor, size);
  if (status == 0) note(TRUNCATE, file_of(descriptor), (size_t)size, NULL, 0);
  return status;
}

// Drops what a file was given since its last sync, as the system may do when it cannot write it: later syncs succeed
// without it. The mutex is held.
static void drop_unsynced(int file) {
  size_t synced = 0;
  for (size_t at = 0; at < count; at++)
    if (events[at].file == file && events[at].kind == SYNC && events[at].offset > synced) synced = events[at].offset;
  for (size_t at = synced; at < count; at++)
    if (events[at].file == file) events[at].is_dropped = 1;
}

// The data can be relied upon only after the call has returned, and only for writes made before it began.
static int sync_with(int (*sync)(int), int descriptor) {
  int file = file_of(descriptor);
  pthread_mutex_lock(&mutex);
  size_t before = count;
  int is_own = pthread_equal(pthread_self(), recorder);
  int fails = failing && recording && file == JOURNAL && ++syncs[is_own] % (is_own ? failing : 2) == 0;
  if (fails) drop_unsynced(file);
  pthread_mutex_unlock(&mutex);
  if (fails) {
    // Other threads write and wait at the same time.
    usleep(FAILING_US);
    errno = EIO;
    return -1;
  }
  int status = sync(descriptor);
  if (status == 0) note(SYNC, file, before, NULL, 0);
  return status;
}

int fsync(int descriptor) { return sync_with(REAL(fsync), descriptor); }

int fdatasync(int descriptor) { return sync_with(REAL(fdatasync), descriptor); }

int unlink(const char *path) {
  int status = REAL(unlink)(path);
  if (status == 0 && recording) note(REMOVE, file_at(path), 0, NULL, 0);
  return status;
}

void disk_watch(const char *folder) {
  char whole[512];
  if (realpath(folder, whole) == NULL) snprintf(whole, sizeof whole, "%s", folder);
  for (int file = 0; file < FILES; file++) snprintf(paths[file], sizeof paths[file], "%.400s/%s", whole, names[file]);
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
  recorder = pthread_self();
  __atomic_store_n(&recording, 1, __ATOMIC_RELEASE);
}

void disk_fail(unsigned every) { failing = every; }

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
  static unsigned char *bytes;
  if (!bytes) bytes = malloc(MOST_BYTES);
  srand(seed);
  for (int file = 0; file < FILES; file++) {
    Image image = { bytes, first[file].length, first[file].exists };
    memset(image.bytes, 0, MOST_BYTES);
    memcpy(image.bytes, first[file].bytes, first[file].length);
    size_t synced = 0;
    for (size_t at = 0; at < end; at++) {
      if (events[at].file != file) continue;
      if (events[at].kind == SYNC && events[at].offset > synced) synced = events[at].offset;
      if (events[at].kind == REMOVE) synced = at + 1;
    }
    for (size_t at = 0; at < end; at++)
      if (events[at].file == file) {
        int is_safe = at < synced && !events[at].is_dropped;
        if (is_safe || seed > 0) apply(&image, &events[at], is_safe ? 1 : seed);
      }
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, names[file]);
    FILE *out = image.exists ? fopen(path, "wb") : NULL;
    if (out) fwrite(image.bytes, 1, image.length, out), fclose(out);
    if (image.exists && !out) return -1;
  }
  return 0;
}
