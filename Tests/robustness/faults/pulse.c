/* Bytes of the file `pulse` are overwritten while programs have the store open: no call loops or crashes, each succeeds
 * or returns an error, and no acknowledged write is lost. */
#include "expectations.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[4300];

/* The bytes of a page; see PulseWords.swift. 0x78 repeated is a position beyond all others. */
static const struct harm {
  const char *name;
  struct stretch {
    off_t start;
    size_t length;
    unsigned char byte;
  } stretches[3];
} harms[] = {
  { "all zero", { { 0, 4096, 0 } } },
  { "all ones", { { 0, 4096, 0xFF } } },
  { "all high", { { 0, 4096, 0x78 } } },
  { "no store", { { 16, 16, 0 } } },
  { "no boot", { { 32, 8, 0 } } },
  { "the words zero", { { 64, 640, 0 } } },
  { "the words high", { { 64, 640, 0x78 } } },
  { "published zero", { { 64, 16, 0 } } },
  { "published odd", { { 64, 16, 1 } } },
  { "published high", { { 64, 16, 0x78 } } },
  { "published and synced zero", { { 64, 16, 0 }, { 192, 8, 0 } } },
  { "published and synced high", { { 64, 16, 0x78 }, { 192, 8, 0x78 } } },
  { "one of the two published zero", { { 64, 8, 0 } } },
  { "one of the two published high", { { 72, 8, 0x78 } } },
  { "checkpoint zero", { { 128, 8, 0 } } },
  { "checkpoint high", { { 128, 8, 0x78 } } },
  { "synced zero", { { 192, 8, 0 } } },
  { "synced high", { { 192, 8, 0x78 } } },
  { "dirty", { { 256, 8, 1 } } },
  { "doubt", { { 320, 8, 1 } } },
  { "another owner", { { 384, 8, 0x78 } } },
};
enum { HARMS = COUNT(harms) };

/* In which order a program continues. */
enum { READS_FIRST, WRITES_FIRST, LISTS_FIRST, CLOSES, ORDERS };

static struct shared {
  int64_t step, written;
} *shared;

static void overwrite(const struct harm *harm) {
  unsigned char bytes[4096];
  const char *path = file_of(folder, "pulse");
  int file = open(path, O_WRONLY);
  for (const struct stretch *at = harm->stretches; at < harm->stretches + 3 && at->length > 0; at++) {
    memset(bytes, at->byte, at->length);
    if (pwrite(file, bytes, at->length, at->start) != (ssize_t)at->length) fail("overwrite: %s", strerror(errno));
  }
  close(file);
}

static void expect_advice(kept_status status, const char *what) {
  if (status < 0) expect_status(status, status, what);
}

static void read_one(kept_store *store) {
  int64_t number = 0;
  kept_status status = kept_get_int64(store, "number", &number, &why);
  expect_advice(status, "read");
  if (status == KEPT_OK && number != load(&shared->written)) fail("a read returned %" PRId64, number);
}

static void write_one(kept_store *store, int64_t value) {
  kept_status status = kept_set_int64(store, "number", value, &why);
  expect_advice(status, "write");
  if (status == KEPT_OK) store_word(&shared->written, value);
}

static void list_all(kept_store *store) {
  char *json = NULL;
  expect_advice(kept_list_json(store, "", &json, &why), "list");
  kept_free(json);
}

static void use(void *order) {
  kept_subscription *subscription = NULL;
  kept_store *store = open_store(folder, KEPT_SHARED, 200);
  get_both(store);
  expect_ok(kept_observe(store, "", KEPT_OBSERVE_PREFIX, ignore_notice, NULL, NULL, &subscription, &why), "observe");
  write_one(store, 2);
  store_word(&shared->step, 1);
  await_word(&shared->step, 2, "nothing was overwritten");
  switch (*(const int *)order) {
    case READS_FIRST: read_one(store), list_all(store), write_one(store, 3); break;
    case WRITES_FIRST: write_one(store, 3), read_one(store), list_all(store); break;
    case LISTS_FIRST: list_all(store), write_one(store, 3), read_one(store); break;
    default: break;
  }
  kept_close(store);
}

/* A salvage is allowed: the pulse may say that commits are missing. */
static void look_after(void *unused) {
  kept_store *store = NULL;
  int64_t number = 0;
  kept_status status = kept_open(folder, NULL, &store, &why);
  if (status < 0) fail("opening it again: %s", why.message);
  if (get_both(store) != 1) fail("another value was lost");
  expect_ok(kept_get_int64(store, "number", &number, &why), "read afterwards");
  int64_t written = load(&shared->written);
  /* A write that failed may be found. */
  if (number < written || number > 3) fail("%" PRId64 " was written, and %" PRId64 " is read", written, number);
  expect_ok(kept_set_int64(store, "number", 4, &why), "write afterwards");
  kept_close(store);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  /* Runs only this one, for debugging. */
  const char *only = getenv("KEPT_SCENE");
  for (round_now = 0; round_now < rounds; round_now++) {
    for (const struct harm *harm = harms; harm < harms + HARMS; harm++) {
      if (only && strcmp(only, harm->name) != 0) continue;
      printf("%s\n", harm->name);
      fflush(stdout);
      for (int order = 0; order < ORDERS; order++) {
        *shared = (struct shared){ 0 };
        snprintf(folder, sizeof folder, "%s", fresh_folder());
        make_store(folder);
        pid_t user = start(use, &order);
        await_word(&shared->step, 1, "the store was not opened");
        overwrite(harm);
        store_word(&shared->step, 2);
        finish(user);
        finish(start(look_after, NULL));
      }
    }
  }
  return end_torture("%u times %d overwritten pulses in %d orders", rounds, HARMS, ORDERS);
}
