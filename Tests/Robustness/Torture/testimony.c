/* Compares what an observer received with what was written, revision by revision: the changes in a notice must be
 * exactly the difference that its transactions make to the state delivered before. */
#include "testimony.h"

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
  for (int key = 0; key < KEYS; key++) if (strcmp(name_of(name, key), wanted) == 0) return key;
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
  kept_error error;
  int64_t number = 0;
  if (value != NULL) expect_ok(kept_value_int64(value, &number, &error), "read a value in a notice", &error);
  return number;
}

static bool read_tag(const char *tag, handle *out) {
  return tag != NULL && sscanf(tag, "%d.%d", &out->process, &out->number) == 2;
}

void write_down(record *record, const kept_notice *told) {
  size_t count = kept_notice_count(told);
  if (record->notice_count == MOST_NOTICES || record->change_count + count > MOST_CHANGES) fail("too many notices");
  notice *notice = &record->notices[record->notice_count++];
  notice->first = (int64_t)kept_notice_first_revision(told);
  notice->last = (int64_t)kept_notice_revision(told);
  notice->origin = kept_notice_origin(told);
  notice->missed = kept_notice_may_have_missed(told);
  notice->has_tag = read_tag(kept_notice_tag(told), &notice->tag);
  notice->begin = record->change_count;
  notice->count = count;
  for (size_t i = 0; i < count; i++) {
    change *change = &record->changes[record->change_count++];
    change->key = key_named(kept_notice_key(told, i));
    change->old = number_in(kept_notice_old(told, i));
    change->new = number_in(kept_notice_new(told, i));
  }
  store_word(&record->heard_at, now_ns());
  store_word(&record->heard, notice->last);
}

/* Comparing */

typedef struct comparison {
  const truth *truth;
  const record *record;
  int64_t at;             /* everything up to this revision has been compared */
  int64_t state[KEYS];    /* as it was delivered */
  char *why;
  size_t capacity;
} comparison;

__attribute__((format(printf, 2, 3)))
static bool disagree(comparison *so_far, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(so_far->why, so_far->capacity, format, values);
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

static void advance(const comparison *so_far, int64_t from, int64_t to, int64_t state[KEYS]) {
  for (int64_t at = from; at <= to; at++) apply(so_far->record, &so_far->truth->at[at], state);
}

/* Revisions without a notice must not change any key in scope, in total. */
static bool were_silent(comparison *so_far, int64_t to) {
  int64_t next[KEYS];
  char name[KEY_LENGTH];
  memcpy(next, so_far->state, sizeof next);
  advance(so_far, so_far->at + 1, to, next);
  for (int key = 0; key < KEYS; key++) {
    if (next[key] != so_far->state[key] && is_in_scope(so_far->record, key)) {
      return disagree(so_far, "nothing was told of revisions %" PRId64 " to %" PRId64 ", which change %s",
                      so_far->at + 1, to, name_of(name, key));
    }
  }
  memcpy(so_far->state, next, sizeof next);
  so_far->at = to;
  return true;
}

static bool has_changes(comparison *so_far, const notice *notice, const int64_t next[KEYS]) {
  const change *told = so_far->record->changes + notice->begin, *end = told + notice->count;
  char name[KEY_LENGTH];
  for (const change *each = told + 1; each < end; each++) {
    if (strcmp(name_of((char[KEY_LENGTH]){ 0 }, each[-1].key), name_of(name, each->key)) >= 0) {
      return disagree(so_far, "the keys are not in order at %s", name);
    }
  }
  size_t expected = 0;
  for (int key = 0; key < KEYS; key++) {
    if (next[key] == so_far->state[key] || !is_in_scope(so_far->record, key)) continue;
    const change *found = told;
    while (found < end && found->key != key) found++;
    if (found == end) return disagree(so_far, "the change of %s was not told", name_of(name, key));
    if (found->old != so_far->state[key] || found->new != next[key]) {
      return disagree(so_far, "%s went from %" PRId64 " to %" PRId64 ", told was from %" PRId64 " to %" PRId64,
                      name_of(name, key), so_far->state[key], next[key], found->old, found->new);
    }
    expected++;
  }
  return expected == notice->count || disagree(so_far, "%zu changes were told of %zu", notice->count, expected);
}

static bool is_same(handle left, handle right) {
  return left.process == right.process && left.number == right.number;
}

/* Changes of the own process come one transaction at a time, and changes of others never under its name; a tag belongs
 * to every transaction of the notice. */
static bool has_origin(comparison *so_far, const notice *notice) {
  handle me = so_far->record->observer;
  int64_t state[KEYS];
  bool agree = true;
  memcpy(state, so_far->state, sizeof state);
  for (int64_t at = notice->first; at <= notice->last; at++) {
    const transaction *done = &so_far->truth->at[at];
    agree &= is_same(done->author, so_far->truth->at[notice->first].author);
    if (!apply(so_far->record, done, state)) continue;
    uint32_t right = done->author.process != me.process ? KEPT_ORIGIN_OTHER
      : is_same(done->author, me) ? KEPT_ORIGIN_STORE : KEPT_ORIGIN_PROCESS;
    if (notice->origin != right) {
      return disagree(so_far, "revision %" PRId64 ", in a notice of %" PRId64 " to %" PRId64
                      ", came with origin %u in place of %u", at, notice->first, notice->last, notice->origin, right);
    }
    if (right != KEPT_ORIGIN_OTHER && notice->first != notice->last) return disagree(so_far, "own ones were merged");
    if (notice->has_tag && !is_same(notice->tag, done->author)) {
      return disagree(so_far, "revision %" PRId64 ", in a notice of %" PRId64 " to %" PRId64
                      ", is by %d.%d and came with the tag %d.%d", at, notice->first, notice->last,
                      done->author.process, done->author.number, notice->tag.process, notice->tag.number);
    }
  }
  return notice->has_tag || !agree || disagree(so_far, "revisions %" PRId64 " to %" PRId64 " came without their tag",
                                               notice->first, notice->last);
}

/* Checks the delivered state of the pairs, whichever process wrote them. */
static bool has_whole_pairs(comparison *so_far) {
  if (!so_far->record->is_prefix) return true;
  for (int pair = 0; pair < PAIRS; pair++) {
    if (so_far->state[2 * pair] + so_far->state[2 * pair + 1] != 0) return disagree(so_far, "pair %d is torn", pair);
  }
  return true;
}

static bool agrees_initially(comparison *so_far, const notice *notice) {
  const change *told = so_far->record->changes + notice->begin;
  int64_t now[KEYS] = { 0 };
  advance(so_far, 1, notice->last, now);
  for (size_t i = 0; i < notice->count; i++) {
    if (told[i].key < 0 || told[i].old != 0 || told[i].new != now[told[i].key]) {
      return disagree(so_far, "an initial value is wrong");
    }
    so_far->state[told[i].key] = told[i].new;
  }
  for (int key = 0; key < KEYS; key++) {
    if (now[key] != so_far->state[key] && is_in_scope(so_far->record, key)) {
      return disagree(so_far, "an initial value is missing");
    }
  }
  memcpy(so_far->state, now, sizeof now);
  so_far->at = notice->last;
  return true;
}

static bool agrees_next(comparison *so_far, const notice *notice) {
  int64_t next[KEYS];
  if (notice->first <= so_far->at || notice->last < notice->first || notice->last > so_far->truth->last) {
    return disagree(so_far, "after revision %" PRId64 " came %" PRId64 " to %" PRId64, so_far->at, notice->first,
                    notice->last);
  }
  if (notice->missed) return disagree(so_far, "something was missed");
  if (!were_silent(so_far, notice->first - 1)) return false;
  memcpy(next, so_far->state, sizeof next);
  advance(so_far, notice->first, notice->last, next);
  if (!has_changes(so_far, notice, next) || !has_origin(so_far, notice)) return false;
  memcpy(so_far->state, next, sizeof next);
  so_far->at = notice->last;
  return has_whole_pairs(so_far);
}

bool agrees(const truth *truth, const record *record, char *why, size_t capacity) {
  comparison so_far = { .truth = truth, .record = record, .why = why, .capacity = capacity };
  for (size_t i = 0; i < record->notice_count; i++) {
    const notice *notice = &record->notices[i];
    bool is_initial = i == 0 && notice->origin == KEPT_ORIGIN_INITIAL;
    if (!(is_initial ? agrees_initially : agrees_next)(&so_far, notice)) return false;
  }
  return were_silent(&so_far, truth->last);
}
