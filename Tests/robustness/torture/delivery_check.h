/* What the writers of a store did, what an observer received, and whether the two agree. */
#ifndef DELIVERY_CHECK_H
#define DELIVERY_CHECK_H

#include <kept.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pairs of keys, "pair.00.left" and "pair.00.right", always add up to 0. Every writer increments a key of its own,
 * "count.0". All values are integers; 0 means an absent key. */
enum { PAIRS = 12, COUNTERS = 8, KEYS = 2 * PAIRS + COUNTERS, FIRST_COUNTER = 2 * PAIRS };
enum { KEY_LENGTH = 24, MOST_REVISIONS = 4000 };

/** The name of a key, and the number of a name; -1 for an unknown name. */
const char *name_of(char name[KEY_LENGTH], int key);
int key_named(const char *name);

typedef struct edit {
  int key;
  int64_t value;
} edit;

/** A handle in a process that writes or observes. Its tag is "process.handle". */
typedef struct handle {
  int process, number;
} handle;

typedef struct transaction {
  bool is_known;
  handle author;
  int edit_count;
  edit edits[KEYS];
} transaction;

/** Every transaction by its revision, from 1 to `last`. */
typedef struct truth {
  int64_t last;
  transaction at[MOST_REVISIONS];
} truth;

typedef struct change {
  int key;
  int64_t old, new;
} change;

typedef struct notice {
  int64_t first, last;
  uint32_t origin;
  bool missed, has_tag;
  handle tag;
  size_t begin, count; /* in the record's changes */
} notice;

enum { MOST_NOTICES = MOST_REVISIONS, MOST_CHANGES = 8 * MOST_REVISIONS };

/** What one subscription received from its beginning, when nothing had been written, or from its initial notice. */
typedef struct record {
  handle observer;
  bool is_prefix;
  char scope[KEY_LENGTH];
  int64_t received, received_at; /* the last revision, and the time of its delivery */
  size_t notice_count, change_count;
  notice notices[MOST_NOTICES];
  change changes[MOST_CHANGES];
} record;

/** Records the notice of a callback. */
void write_down(record *record, const kept_notice *notice);

/** Whether every notice holds complete transactions, in order and without gaps, and the last notice leads to the last
 *  state.
 *  @param[out] why  receives the mistake */
bool agrees(const truth *truth, const record *record, char *why, size_t capacity);

#endif
