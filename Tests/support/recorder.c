/* How an observer's notices are written as one line of text. */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "clock.h"

/* Global, so that the compiler keeps them and valgrind sees that they are reachable. */
recorder *recorders[256];
static size_t count;

recorder *new_recorder(void) {
  recorder *recorder = calloc(1, sizeof *recorder);
  if (recorder == NULL || count == COUNT(recorders)) exit(2);
  make_gate(&recorder->gate);
  return recorders[count++] = recorder;
}

void record(recorder *recorder, kept_store *store, const char *key, uint32_t flags) {
  recorder->store = store;
  EXPECT(KEPT_OK,
    kept_observe(store, key, flags, recorder_notice, recorder, recorder_release, &recorder->subscription, &why));
}

static void append(recorder *recorder, const char *text) {
  size_t used = strlen(recorder->text);
  snprintf(recorder->text + used, sizeof recorder->text - used, "%s", text);
}

static void append_change(recorder *recorder, const kept_notice *notice, size_t index) {
  const char *old = kept_notice_old_json(notice, index), *new = kept_notice_new_json(notice, index);
  append(recorder, " ");
  append(recorder, kept_notice_key(notice, index));
  append(recorder, ":");
  append(recorder, old ? old : "-");
  append(recorder, ">");
  append(recorder, new ? new : "-");
}

void recorder_notice(void *context, const kept_notice *notice) {
  static const char *const origins[] = { "S", "P", "O", "I", "V", "L" };
  recorder *recorder = context;
  enter_gate(&recorder->gate);
  const char *tag = kept_notice_tag(notice);
  uint32_t origin = kept_notice_origin(notice);
  append(recorder, origin < COUNT(origins) ? origins[origin] : "?");
  for (size_t i = 0; i < kept_notice_count(notice); i++) append_change(recorder, notice, i);
  append(recorder, ";");
  snprintf(recorder->tag, sizeof recorder->tag, "%s", tag ? tag : "");
  recorder->time = kept_notice_time(notice);
  recorder->missed = kept_notice_may_have_missed(notice);
  recorder->layer = kept_notice_layer(notice, kept_notice_count(notice) - 1);
  recorder->secret = kept_notice_secret(notice, kept_notice_count(notice) - 1);
  recorder->first = kept_notice_first_revision(notice);
  recorder->revision = kept_notice_revision(notice);
  recorder->thread = pthread_self();
  recorder->notices++;
  leave_gate(&recorder->gate);
  if (recorder->then != NULL) recorder->then(recorder);
}

void recorder_release(void *context) {
  recorder *recorder = context;
  count_up(&recorder->gate, &recorder->releases);
}

const char *recorded(recorder *recorder, int notices) {
  CHECK_INT(notices, await_count(&recorder->gate, &recorder->notices, notices));
  return recorder->text;
}

void await_revision(recorder *recorder, uint64_t revision) {
  int64_t begun = now_ns();
  enter_gate(&recorder->gate);
  while (recorder->revision < revision && wait_in_gate(&recorder->gate, begun)) {}
  CHECK(recorder->revision >= revision);
  leave_gate(&recorder->gate);
}

int released(recorder *recorder) { return await_count(&recorder->gate, &recorder->releases, 1); }
