/* How reports are recorded. */
#define _XOPEN_SOURCE 700
#include "reports.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64 };

struct reports {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int count;
  kept_error errors[MOST];
};

/* Global, so that valgrind sees that they are reachable. */
reports *all_reports[64];
static size_t count;

reports *new_reports(void) {
  reports *reports = calloc(1, sizeof *reports);
  if (reports == NULL || count == sizeof all_reports / sizeof *all_reports) exit(2);
  pthread_mutex_init(&reports->lock, NULL);
  pthread_cond_init(&reports->changed, NULL);
  return all_reports[count++] = reports;
}

void write_report(void *context, const kept_error *error) {
  reports *reports = context;
  pthread_mutex_lock(&reports->lock);
  if (reports->count < MOST) reports->errors[reports->count++] = *error;
  pthread_cond_broadcast(&reports->changed);
  pthread_mutex_unlock(&reports->lock);
}

int reports_now(reports *reports) {
  pthread_mutex_lock(&reports->lock);
  int count = reports->count;
  pthread_mutex_unlock(&reports->lock);
  return count;
}

static const kept_error *awaited(reports *reports, int number) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 10;
  pthread_mutex_lock(&reports->lock);
  while (reports->count < number && pthread_cond_timedwait(&reports->changed, &reports->lock, &end) == 0) {}
  CHECK(reports->count >= number);
  pthread_mutex_unlock(&reports->lock);
  return &reports->errors[number - 1];
}

const char *report_text(reports *reports, int number) { return awaited(reports, number)->message; }

kept_status report_status(reports *reports, int number) { return awaited(reports, number)->status; }
