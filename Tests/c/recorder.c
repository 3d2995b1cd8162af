/* How an observer's notices are written as one line of text. */
#define _XOPEN_SOURCE 700
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Global, so that the compiler keeps them and valgrind sees that they are reachable. */
recorder *recorders[256];
static size_t count;

recorder *new_recorder(void) {
  recorder *recorder = calloc(1, sizeof *recorder);
  if (recorder == NULL || count == sizeof recorders / sizeof *recorders) exit(2);
  pthread_mutex_init(&recorder->lock, NULL);
  pthread_cond_init(&recorder->changed, NULL);
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
  pthread_mutex_lock(&recorder->lock);
  const char *tag = kept_notice_tag(notice);
  uint32_t origin = kept_notice_origin(notice);
  append(recorder, origin < sizeof origins / sizeof *origins ? origins[origin] : "?");
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
  pthread_cond_broadcast(&recorder->changed);
  pthread_mutex_unlock(&recorder->lock);
  if (recorder->then != NULL) recorder->then(recorder);
}

void recorder_release(void *context) {
  recorder *recorder = context;
  pthread_mutex_lock(&recorder->lock);
  recorder->releases++;
  pthread_cond_broadcast(&recorder->changed);
  pthread_mutex_unlock(&recorder->lock);
}

static struct timespec in_ten_seconds(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 10;
  return end;
}

static int wait_until(recorder *recorder, const int *counter, int value) {
  struct timespec end = in_ten_seconds();
  pthread_mutex_lock(&recorder->lock);
  while (*counter < value && pthread_cond_timedwait(&recorder->changed, &recorder->lock, &end) == 0) {}
  int found = *counter;
  pthread_mutex_unlock(&recorder->lock);
  return found;
}

const char *recorded(recorder *recorder, int notices) {
  CHECK_INT(notices, wait_until(recorder, &recorder->notices, notices));
  return recorder->text;
}

void await_revision(recorder *recorder, uint64_t revision) {
  struct timespec end = in_ten_seconds();
  pthread_mutex_lock(&recorder->lock);
  while (recorder->revision < revision && pthread_cond_timedwait(&recorder->changed, &recorder->lock, &end) == 0) {}
  CHECK(recorder->revision >= revision);
  pthread_mutex_unlock(&recorder->lock);
}

int64_t wall_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int released(recorder *recorder) { return wait_until(recorder, &recorder->releases, 1); }
