/* Compares the notices of an observer with the commits, revision by revision: the changes in a notice must be
 * exactly the difference that its transactions make to the state delivered before. */
#include "delivery_check.h"

#include "torture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Keys */

const char *name_of(char name[KEY_LENGTH], int key) {
  if (key >= FIRST_COUNTER) snprintf(name, KEY_LENGTH, "count.%d", key - FIRST_COUNTER);
  else snprintf(name, KEY_LENGTH, "pair.%02d.%s", key / 2, key % 2 ? "right" : "left");
  return name;
}

int key_named(const char *wanted) {
  char name[KEY_LENGTH];
  for (int key = 0; key < KEYS; key++)
    if (strcmp(name_of(name, key), wanted) == 0) return key;
  return -1;
}

static bool is_in_scope(const record *record, int key) {
  char name[KEY_LENGTH];
  name_of(name, key);
  if (!record->is_prefix) return strcmp(name, record->scope) == 0;
  return strncmp(name, record->scope, strlen(record->scope)) == 0;
}

/* Recording */

static int64_t number_in(const kept_value *value) {
  int64_t number = 0;
  if (value != NULL) expect_ok(kept_value_int64(value, &number, &why), "read a value in a notice");
  return number;
}

static bool read_tag(const char *tag, handle *out) {
  return tag != NULL && sscanf(tag, "%d.%d", &out->process, &out->number) == 2;
}

void write_down(record *record, const kept_notice *delivered) {
  size_t count = kept_notice_count(delivered);
  if (record->notice_count == MOST_NOTICES || record->change_count + count > MOST_CHANGES) fail("too many notices");
  notice *notice = &record->notices[record->notice_count++];
  notice->first = (int64_t)kept_notice_first_revision(delivered);
  notice->last = (int64_t)kept_notice_revision(delivered);
  notice->origin = kept_notice_origin(delivered);
  notice->missed = kept_notice_may_have_missed(delivered);
  notice->has_tag = read_tag(kept_notice_tag(delivered), &notice->tag);
  notice->begin = record->change_count;
  notice->count = count;
  for (size_t i = 0; i < count; i++) {
    change *change = &record->changes[record->change_count++];
    change->key = key_named(kept_notice_key(delivered, i));
    change->old = number_in(kept_notice_old(delivered, i));
    change->new = number_in(kept_notice_new(delivered, i));
  }
  store_word(&record->received_at, now_ns());
  store_word(&record->received, notice->last);
}

/* Comparing */

typedef struct comparison {
  const truth *truth;
  const record *record;
  int64_t at;          /* everything up to this revision has been compared */
  int64_t state[KEYS]; /* as it was delivered */
  char *why;
  size_t capacity;
} comparison;

__attribute__((format(printf, 2, 3))) static bool mismatch(comparison *comparison, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(comparison->why, comparison->capacity, format, values);
  va_end(values);
  return false;
}

/* Applies one transaction to a state. @return whether it changes a key in scope */
static bool apply(const record *record, const transaction *done, int64_t state[KEYS]) {
  bool concerns = false;
  for (int i = 0; i < done->edit_count; i++) {
    edit edit = done->edits[i];
    concerns |= state[edit.key] != edit.value && is_in_scope(record, edit.key);
    state[edit.key] = edit.value;
  }
  return concerns;
}

static void advance(const comparison *comparison, int64_t from, int64_t to, int64_t state[KEYS]) {
  for (int64_t at = from; at <= to; at++) apply(comparison->record, &comparison->truth->at[at], state);
}

/* Revisions without a notice must not change any key in scope, in total. */
static bool were_silent(comparison *comparison, int64_t to) {
  int64_t next[KEYS];
  char name[KEY_LENGTH];
  memcpy(next, comparison->state, sizeof next);
  advance(comparison, comparison->at + 1, to, next);
  for (int key = 0; key < KEYS; key++) {
    if (next[key] != comparison->state[key] && is_in_scope(comparison->record, key)) {
      return mismatch(comparison, "nothing was delivered of revisions %" PRId64 " to %" PRId64 ", which change %s",
        comparison->at + 1, to, name_of(name, key));
    }
  }
  memcpy(comparison->state, next, sizeof next);
  comparison->at = to;
  return true;
}

static bool has_changes(comparison *comparison, const notice *notice, const int64_t next[KEYS]) {
  const change *delivered = comparison->record->changes + notice->begin, *end = delivered + notice->count;
  char name[KEY_LENGTH];
  for (const change *each = delivered + 1; each < end; each++) {
    if (strcmp(name_of((char[KEY_LENGTH]){ 0 }, each[-1].key), name_of(name, each->key)) >= 0) {
      return mismatch(comparison, "the keys are not in order at %s", name);
    }
  }
  size_t expected = 0;
  for (int key = 0; key < KEYS; key++) {
    if (next[key] == comparison->state[key] || !is_in_scope(comparison->record, key)) continue;
    const change *found = delivered;
    while (found < end && found->key != key) found++;
    if (found == end) return mismatch(comparison, "the change of %s was not delivered", name_of(name, key));
    if (found->old != comparison->state[key] || found->new != next[key]) {
      return mismatch(comparison, "%s went from %" PRId64 " to %" PRId64 ", delivered as %" PRId64 " to %" PRId64,
        name_of(name, key), comparison->state[key], next[key], found->old, found->new);
    }
    expected++;
  }
  return expected == notice->count || mismatch(comparison, "%zu changes instead of %zu", notice->count, expected);
}

static bool is_same(handle left, handle right) { return left.process == right.process && left.number == right.number; }

/* Changes of the own process come one transaction at a time, and changes of others never under its name; a tag belongs
 * to every transaction of the notice. */
static bool has_origin(comparison *comparison, const notice *notice) {
  handle me = comparison->record->observer;
  int64_t state[KEYS];
  bool agree = true;
  memcpy(state, comparison->state, sizeof state);
  for (int64_t at = notice->first; at <= notice->last; at++) {
    const transaction *done = &comparison->truth->at[at];
    agree &= is_same(done->author, comparison->truth->at[notice->first].author);
    if (!apply(comparison->record, done, state)) continue;
    uint32_t right = done->author.process != me.process ? KEPT_ORIGIN_OTHER
      : is_same(done->author, me)                       ? KEPT_ORIGIN_STORE
                                                        : KEPT_ORIGIN_PROCESS;
    if (notice->origin != right) {
      return mismatch(comparison,
        "revision %" PRId64 ", in a notice of %" PRId64 " to %" PRId64 ", came with origin %u in place of %u", at,
        notice->first, notice->last, notice->origin, right);
    }
    if (right != KEPT_ORIGIN_OTHER && notice->first != notice->last) {
      return mismatch(comparison, "own ones were merged");
    }
    if (notice->has_tag && !is_same(notice->tag, done->author)) {
      return mismatch(comparison,
        "revision %" PRId64 ", in a notice of %" PRId64 " to %" PRId64 ", is by %d.%d and came with the tag %d.%d", at,
        notice->first, notice->last, done->author.process, done->author.number, notice->tag.process,
        notice->tag.number);
    }
  }
  if (notice->has_tag || !agree) return true;
  return mismatch(
    comparison, "revisions %" PRId64 " to %" PRId64 " came without their tag", notice->first, notice->last);
}

/* Checks the delivered state of the pairs, whichever process wrote them. */
static bool has_whole_pairs(comparison *comparison) {
  if (!comparison->record->is_prefix) return true;
  for (int pair = 0; pair < PAIRS; pair++) {
    if (comparison->state[2 * pair] + comparison->state[2 * pair + 1] != 0) {
      return mismatch(comparison, "pair %d is torn", pair);
    }
  }
  return true;
}

static bool agrees_initially(comparison *comparison, const notice *notice) {
  const change *delivered = comparison->record->changes + notice->begin;
  int64_t now[KEYS] = { 0 };
  advance(comparison, 1, notice->last, now);
  for (size_t i = 0; i < notice->count; i++) {
    if (delivered[i].key < 0 || delivered[i].old != 0 || delivered[i].new != now[delivered[i].key]) {
      return mismatch(comparison, "an initial value is wrong");
    }
    comparison->state[delivered[i].key] = delivered[i].new;
  }
  for (int key = 0; key < KEYS; key++) {
    if (now[key] != comparison->state[key] && is_in_scope(comparison->record, key)) {
      return mismatch(comparison, "an initial value is missing");
    }
  }
  memcpy(comparison->state, now, sizeof now);
  comparison->at = notice->last;
  return true;
}

static bool agrees_next(comparison *comparison, const notice *notice) {
  int64_t next[KEYS];
  if (notice->first <= comparison->at || notice->last < notice->first || notice->last > comparison->truth->last) {
    return mismatch(comparison, "after revision %" PRId64 " came %" PRId64 " to %" PRId64, comparison->at,
      notice->first, notice->last);
  }
  if (notice->missed) return mismatch(comparison, "something was missed");
  if (!were_silent(comparison, notice->first - 1)) return false;
  memcpy(next, comparison->state, sizeof next);
  advance(comparison, notice->first, notice->last, next);
  if (!has_changes(comparison, notice, next) || !has_origin(comparison, notice)) return false;
  memcpy(comparison->state, next, sizeof next);
  comparison->at = notice->last;
  return has_whole_pairs(comparison);
}

bool agrees(const truth *truth, const record *record, char *why, size_t capacity) {
  comparison comparison = { .truth = truth, .record = record, .why = why, .capacity = capacity };
  for (size_t i = 0; i < record->notice_count; i++) {
    const notice *notice = &record->notices[i];
    bool is_initial = i == 0 && notice->origin == KEPT_ORIGIN_INITIAL;
    if (!(is_initial ? agrees_initially : agrees_next)(&comparison, notice)) return false;
  }
  return were_silent(&comparison, truth->last);
}
