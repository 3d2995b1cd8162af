/* The floor of writing: one page of a file of fixed size is written, and synced if the set is durable; a longer text
 * takes several pages. It stores only the last value, and may tear it on power loss. */
#include "fatal.h"
#include "engine.h"
#include "folders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_SIZE = 4096, FILE_SIZE = 16 * PAGE_SIZE };

typedef struct page_file {
  int descriptor;
  bool durable;
  unsigned char bytes[FILE_SIZE];
} page_file;

static void check(bool fine, const char *what) {
  if (!fine) die("cannot %s: %s", what, strerror(errno));
}

static void *open_file(const char *folder, bool durable) {
  page_file *file = calloc(1, sizeof *file);
  if (!file) die("no memory");
  file->durable = durable;
  char *path = folder_path(folder, "page");
  file->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  check(file->descriptor >= 0, "open a file");
  free(path);
  /* Written once, so that no later sync allocates blocks. */
  check(pwrite(file->descriptor, file->bytes, FILE_SIZE, 0) == FILE_SIZE, "write a file");
  check(fsync(file->descriptor) == 0, "sync a file");
  return file;
}

static void close_file(void *file_) {
  page_file *file = file_;
  close(file->descriptor);
  free(file);
}

static void write_pages(page_file *file, walk *walk) {
  size_t size = walk->length <= PAGE_SIZE ? PAGE_SIZE : FILE_SIZE;
  walk->stamp++;
  memcpy(file->bytes, &walk->stamp, sizeof walk->stamp);
  check(pwrite(file->descriptor, file->bytes, size, 0) == (ssize_t)size, "write a page");
  if (file->durable) check(fdatasync(file->descriptor) == 0, "sync a page");
}

static void set(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) write_pages(session, walk);
}

static void *join(void *store) { return store; }

static void leave(void *session) { (void)session; }

const engine page = {
  .name = "one page written",
  .open = open_file,
  .join = join,
  .leave = leave,
  .close = close_file,
  .set = set,
};
