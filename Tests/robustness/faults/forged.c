/* Frames that no process has published, at the end of those that count: what a frame's checksum covers, and what keeps
 * ghosts out. A frame with the right checksum for its place is taken by the next process that opens the store alone, as
 * that of a writer that was killed. One for another position, another journal, or after another frame, and one with any
 * byte changed, is not. Nor is the second frame of a group whose first was overwritten, or one whose large value is
 * missing. */
#include "torture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* See docs/internals/file-format.md and FrameFormat.swift. */
enum { RING = 4096, MOST = 1 << 16, HEAD = 40, CHECKSUM = 4, REVISION = 16 };
enum { REAL = 7, FORGED = 999 };

typedef struct place {
  uint64_t journal, position;
  uint32_t previous;
} place;

static const char *folder;
static int64_t *word;

/* The journal */

static unsigned char ring[MOST];
static uint64_t ring_size;
static place end;
static unsigned char last[256]; /* the last frame */
static uint32_t last_length;

static int open_journal(void) {
  const char *path = file_of(folder, "journal");
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) fail("there is no journal");
  return file;
}

static uint32_t sum(uint32_t before, const void *bytes, size_t count) {
  uint32_t crc = ~before;
  for (size_t i = 0; i < count; i++) {
    crc ^= ((const unsigned char *)bytes)[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

static uint32_t checksum(const place *at, const unsigned char *frame, uint32_t length) {
  uint64_t where[2] = { at->journal, at->position };
  uint32_t result = sum(sum(at->previous, where, 16), frame, 4);
  return sum(result, frame + 8, length - 8);
}

static uint32_t number_at(const unsigned char *bytes) {
  uint32_t number;
  memcpy(&number, bytes, 4);
  return number;
}

/** Finds the end of the frames of a journal that has not gone round. */
static void read_frames(void) {
  unsigned char head[64];
  int file = open_journal();
  if (pread(file, head, 64, 0) != 64 || pread(file, ring, MOST, RING) != MOST) fail("the journal cannot be read");
  close(file);
  memcpy(&end.journal, head + 32, 8);
  memcpy(&end.position, head + 40, 8);
  memcpy(&ring_size, head + 48, 8);
  end.previous = 0;
  size_t at = 0;
  for (uint32_t length; (length = number_at(ring + at)) != 0 && at + length < MOST; at += length) {
    uint32_t found = number_at(ring + at + CHECKSUM);
    if (found != checksum(&end, ring + at, length)) fail("a frame does not have the checksum that is documented");
    last_length = length;
    memcpy(last, ring + at, length < sizeof last ? length : sizeof last);
    end.position += length;
    end.previous = found;
  }
  if (last_length < HEAD || last_length > sizeof last) fail("the last frame is not the one that was written");
}

/** Makes a frame like the last one, with another value, for a place. */
static void forge(unsigned char *frame, const place *at, int64_t value, uint64_t revisions) {
  uint64_t revision;
  memcpy(frame, last, last_length);
  memcpy(&revision, frame + REVISION, 8);
  revision += revisions;
  memcpy(frame + REVISION, &revision, 8);
  int64_t real = REAL;
  for (uint32_t i = HEAD; i + 8 <= last_length; i++) {
    if (memcmp(frame + i, &real, 8) == 0) memcpy(frame + i, &value, 8);
  }
  uint32_t found = checksum(at, frame, last_length);
  memcpy(frame + CHECKSUM, &found, 4);
}

static void put(const unsigned char *frames, size_t count) {
  int file = open_journal();
  off_t at = RING + (off_t)(end.position % ring_size);
  if (pwrite(file, frames, count, at) != (ssize_t)count) fail("the journal cannot be written");
  close(file);
}

/* The processes */

static void write_and_die(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  for (int64_t number = 1; number <= REAL; number++) {
    expect_ok(kept_set_int64(store, "number", number, &why), "write");
  }
  raise(SIGKILL);
}

static void look(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_get_int64(store, "number", word, &why), "read");
  kept_close(store);
}

static void expect_number(int64_t expected, const char *what) {
  finish(start(look, NULL));
  if (*word != expected) fail("%s: found %" PRId64, what, *word);
}

static void begin(void) {
  folder = fresh_folder();
  expect_signal(start(write_and_die, NULL), SIGKILL);
  read_frames();
}

/* The cases */

static void play_places(void) {
  static const char *const names[] = { "the right place", "another position", "no position", "another journal",
    "no journal", "another frame before", "no frame before" };
  for (int i = 0; i < 7; i++) {
    unsigned char frame[256];
    begin();
    place at = end;
    if (i == 1) at.position -= 8;
    if (i == 2) at.position = 0;
    if (i == 3) at.journal ^= 1;
    if (i == 4) at.journal = 0;
    if (i == 5) at.previous ^= 1;
    if (i == 6) at.previous = 0;
    forge(frame, &at, FORGED, 1);
    put(frame, last_length);
    expect_number(i == 0 ? FORGED : REAL, names[i]);
  }
}

static void play_bytes(uint64_t *random) {
  for (uint32_t at = (uint32_t)random_below(random, 3); at < last_length; at += rounds > 1 ? 1 : 5) {
    unsigned char frame[256];
    begin();
    forge(frame, &end, FORGED, 1);
    frame[at] ^= (unsigned char)(1 << random_below(random, 8));
    put(frame, last_length);
    expect_number(REAL, "a frame with a changed byte");
  }
}

/** A writer has put two frames into the ring, and was killed before it published them. A process that has the store
 *  open writes a frame that is as long as the first; the second must not follow it. */
static void write_over_the_first(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  int64_t number = 0;
  expect_ok(kept_get_int64(store, "number", &number, &why), "read");
  store_word(word, 1);
  await_word(word, 2, "no group was written");
  expect_ok(kept_set_int64(store, "number", REAL + 1, &why), "write");
  raise(SIGKILL);
}

static void play_ghost(void) {
  unsigned char group[512];
  begin();
  store_word(word, 0);
  pid_t other = start(write_over_the_first, NULL);
  await_word(word, 1, "the store could not be opened");
  place at = end;
  forge(group, &at, FORGED, 1);
  at.previous = number_at(group + CHECKSUM);
  at.position += last_length;
  forge(group + last_length, &at, FORGED + 1, 2);
  put(group, 2 * last_length);
  store_word(word, 2);
  expect_signal(other, SIGKILL);
  expect_number(REAL + 1, "a ghost");
}

static void write_large(void *unused) {
  static char text[200000];
  memset(text, 'x', sizeof text);
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_set_int64(store, "number", REAL, &why), "write");
  store_word(word, 1);
  await_word(word, 2, "the log was not copied");
  expect_ok(kept_set_string(store, "number", text, sizeof text, &why), "write a large value");
  raise(SIGKILL);
}

/** A power loss has kept the frame of a large value, and not the value, which is in SQLite's log. */
static void play_missing_value(void) {
  folder = fresh_folder();
  store_word(word, 0);
  pid_t other = start(write_large, NULL);
  await_word(word, 1, "the store could not be opened");
  bool had_log = copy_file(file_of(folder, "values.sqlite-wal"), file_of(folder, "log"));
  store_word(word, 2);
  expect_signal(other, SIGKILL);
  if (had_log) {
    copy_file(file_of(folder, "log"), file_of(folder, "values.sqlite-wal"));
  } else {
    unlink(file_of(folder, "values.sqlite-wal"));
  }
  unlink(file_of(folder, "log"));
  /* It names this start of the machine, so its position would be believed. */
  unlink(file_of(folder, "pulse"));
  expect_number(REAL, "a frame without its value");
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  word = share(sizeof *word);
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) {
    play_places();
    play_bytes(&random);
    play_ghost();
    play_missing_value();
  }
  return end_torture("frames of %" PRIu32 " bytes", last_length);
}
