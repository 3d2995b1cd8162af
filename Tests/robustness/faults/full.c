/* A disk that is full while programs run, or before they open the store: writes report it, reads continue, no
 * acknowledged write is lost and nothing else is stored. As soon as there is room, all programs can write again. Once
 * with a simulated limit, and, where mounting is allowed, on a small disk of its own, with every number of free
 * pages. */
#include "expectations.h"
#include "failing.h"
#include "namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* A text does not fit into the zeros of a journal. A whole new store fits into the highest number of free pages that is
 * tried, and the disk holds one for each number. */
enum { TEXT = 300000, MOST_WRITES = 200, PAGE = 4096, MOST_PAGES = 120, DISK_PAGES = 512 + 400 * MOST_PAGES };

static struct shared {
  int64_t is_full, others_met_it, has_room, others_wrote, acknowledged, refusals, last;
} *shared;

static char folder[4500];
static int64_t *room;

/* Two ways to fill a disk */

static char filler[4500];

/* Fills a mounted disk, or takes away all room but `pages`. */
static void fill_disk(long pages) {
  static const char block[64 * PAGE];
  if (room) {
    store_word(room, pages * PAGE);
    return;
  }
  int file = open(filler, O_WRONLY | O_CREAT, 0600);
  off_t end = lseek(file, 0, SEEK_END);
  ssize_t written;
  while ((written = write(file, block, sizeof block)) > 0) end += written;
  if (end < pages * PAGE || ftruncate(file, end - pages * PAGE) != 0) fail("the disk could not be filled");
  close(file);
}

static void make_room(void) {
  if (room) store_word(room, -1);
  if (!room && unlink(filler) != 0) fail("no room could be made: %s", strerror(errno));
}

/* The scenario */

static kept_status set_text(kept_store *store, int number) {
  static char text[TEXT];
  char key[32];
  memset(text, 'a' + number % 26, TEXT);
  snprintf(key, sizeof key, "text%d", number);
  return kept_set_string(store, key, text, TEXT, &why);
}

/* Every acknowledged text is complete, and the next one is absent. */
static void expect_texts(kept_store *store) {
  static char text[TEXT + 1];
  int count = (int)load(&shared->acknowledged);
  for (int number = 0; number <= count; number++) {
    char key[32];
    size_t length = 0;
    snprintf(key, sizeof key, "text%d", number);
    kept_status status = kept_get_string(store, key, text, sizeof text, &length, &why);
    if (number == count && status == KEPT_ABSENT) return;
    expect_ok(status, "read a text on a full disk");
    if (number == count) fail("a text is there that was refused");
    if (length != TEXT || text[0] != 'a' + number % 26 || text[TEXT - 1] != text[0]) fail("a text is not whole");
  }
}

static void expect_refusal(kept_status status, const char *what) {
  if (status == KEPT_OK) return;
  expect_status(KEPT_NO_SPACE, status, what);
  add(&shared->refusals, 1);
}

static void another(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  if (get_both(store) != 1) fail("the beginning is another one");
  store_word(&shared->others_wrote, 1);
  await_word(&shared->is_full, 1, "the disk was not filled");
  expect_texts(store);
  int64_t before = now_ns();
  kept_status status = set_text(store, (int)load(&shared->acknowledged));
  expect_status(KEPT_NO_SPACE, status, "another process writes");
  if (now_ns() - before > INT64_C(2000000000)) fail("another process had to wait on a full disk");
  expect_texts(store);
  if (get_both(store) != 1) fail("another process reads a refused value");
  store_word(&shared->others_met_it, 1);
  await_word(&shared->has_room, 1, "no room was made");
  expect_ok(kept_set_int64(store, "number", 5, &why), "write as another when there is room");
  store_word(&shared->others_wrote, 2);
  kept_close(store);
}

/* No value fits into the journal, and a removal does. */
static void remove_on_full_disk(kept_store *store) {
  int64_t number = 0;
  kept_status status;
  while ((status = kept_set_int64(store, "small", ++number, &why)) == KEPT_OK) {}
  expect_status(KEPT_NO_SPACE, status, "small commits on a full disk");
  status = kept_remove(store, "small", &why);
  if (number > 1) expect_ok(status, "remove on a full disk");
}

static void fill_and_go_on(void *unused) {
  kept_status status = KEPT_OK;
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  if (get_both(store) != 1) fail("the beginning is another one");
  await_word(&shared->others_wrote, 1, "no other process came");
  fill_disk(100);
  for (int number = 0; number < MOST_WRITES && (status = set_text(store, number)) == KEPT_OK; number++)
    add(&shared->acknowledged, 1);
  expect_status(KEPT_NO_SPACE, status, "write on a full disk");
  fill_disk(0);
  expect_refusal(set_both(store, 2, KEPT_SHARED), "transaction on a full disk");
  if (get_both(store) != 1) {
    /* It fitted into the journal. */
    fill_disk(0);
    expect_ok(set_both(store, 1, KEPT_SHARED), "go back");
  }
  expect_texts(store);
  remove_on_full_disk(store);
  if (__atomic_load_n(kept_store_generation(store), __ATOMIC_SEQ_CST) % 2 == 1) fail("the generation is odd");
  store_word(&shared->is_full, 1);
  await_word(&shared->others_met_it, 1, "another process hangs on a full disk");
  make_room();
  expect_ok(set_text(store, (int)load(&shared->acknowledged)), "write when there is room");
  add(&shared->acknowledged, 1);
  expect_ok(set_both(store, 4, KEPT_DURABLE), "write durably when there is room");
  store_word(&shared->has_room, 1);
  await_word(&shared->others_wrote, 2, "another process does not write when there is room");
  expect_texts(store);
  kept_close(store);
}

static void play_scenario(void) {
  *shared = (struct shared){ 0 };
  pid_t first = start(fill_and_go_on, NULL), second = start(another, NULL);
  finish(second);
  finish(first);
  expect_whole(folder, 4, 4, true);
}

/* Opening on a full disk, next to a process that has frames in the journal, and after its death */

static void write_and_die(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  expect_ok(set_both(store, 3, KEPT_SHARED), "write before the disk is full");
  store_word(&shared->last, 3);
  fill_disk(0);
  store_word(&shared->is_full, 1);
  await_word(&shared->others_met_it, 1, "no other process came");
  _exit(0);
}

static void read_on_full_disk(void *unused) {
  int64_t last = load(&shared->last);
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  if (get_both(store) != last) fail("a store that was opened on a full disk lacks a commit");
  expect_texts(store);
  expect_status(KEPT_NO_SPACE, set_text(store, (int)load(&shared->acknowledged)),
    "write into a store that was opened on a full disk");
  /* The journal has room for a small one. */
  kept_status status = set_both(store, last + 1, KEPT_DURABLE);
  expect_refusal(status, "a small commit on a full disk");
  if (status == KEPT_OK) store_word(&shared->last, last + 1);
  if (get_both(store) != load(&shared->last)) fail("a store on a full disk has a refused value");
  kept_close(store);
}

static void play_opening(void) {
  store_word(&shared->is_full, 0);
  store_word(&shared->others_met_it, 0);
  pid_t first = start(write_and_die, NULL);
  await_word(&shared->is_full, 1, "the disk was not filled");
  finish(start(read_on_full_disk, NULL));
  store_word(&shared->others_met_it, 1);
  finish(first);
  for (int times = 0; times < 3; times++) finish(start(read_on_full_disk, NULL));
  make_room();
  expect_whole(folder, load(&shared->last), load(&shared->last), true);
}

/* Opening and creating with `pages` pages left: there may be room for one file and not for the next */

static long pages_left;

static void open_with_pages(void *path) {
  kept_store *store = NULL;
  kept_status status = kept_open(path, NULL, &store, &why);
  if (path == folder) {
    /* Stored values can be read. */
    expect_ok(status, "open an existing store with few pages left");
    if (get_both(store) < 1) fail("a store that was opened with few pages left has nothing");
    expect_texts(store);
  }
  expect_refusal(status, "open with few pages left");
  if (status != KEPT_OK) return;
  expect_refusal(set_both(store, 1, KEPT_DURABLE), "write with few pages left");
  kept_close(store);
}

static void play_pages(void) {
  char fresh[4600];
  for (pages_left = 0; pages_left < MOST_PAGES; pages_left++) {
    fill_disk(pages_left);
    finish(start(open_with_pages, folder));
    snprintf(fresh, sizeof fresh, "%s-%ld", folder, pages_left);
    fill_disk(pages_left);
    finish(start(open_with_pages, fresh));
    make_room();
    expect_whole(folder, 1, load(&shared->last), true);
    /* Files left from the full disk do not prevent the next open. */
    finish(start(open_with_pages, fresh));
    expect_whole(fresh, 1, 1, true);
  }
  if (load(&shared->refusals) == 0) fail("the disk was never full");
  printf("%" PRId64 " refusals with up to %d free pages\n", load(&shared->refusals), MOST_PAGES);
  fflush(stdout);
}

/* The two disks */

static void limit_calls(void) {
  room = share(sizeof *room);
  store_word(room, -1);
  limit_room(room);
  failing_folder(folder);
  make_store(folder);
  play_scenario();
  play_opening();
  play_pages();
}

static bool mount_disk(const char *place) {
  char size[64];
  snprintf(size, sizeof size, "size=%d", DISK_PAGES * PAGE);
  return enter_namespace(false) && mkdir(place, 0700) == 0 && mount("kept", place, "tmpfs", 0, size) == 0;
}

/* False if no disk may be mounted here. */
static bool fill_real_disk(const char *place) {
  if (!mount_disk(place)) return false;
  snprintf(folder, sizeof folder, "%s/store", place);
  snprintf(filler, sizeof filler, "%s/filler", place);
  make_store(folder);
  play_scenario();
  play_opening();
  play_pages();
  return true;
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  snprintf(folder, sizeof folder, "%s", fresh_folder());
  limit_calls();
  room = NULL;
  limit_room(NULL);
  char place[4400];
  snprintf(place, sizeof place, "%s", fresh_folder());
  bool was_mounted = fill_real_disk(place);
  return end_torture("%d numbers of free pages, by failing calls%s", MOST_PAGES,
    was_mounted ? ", and on a disk of its own" : " alone: no disk may be mounted here");
}
