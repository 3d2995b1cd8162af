/* How reports are recorded. */
#include "reports.h"

#include <stdlib.h>

#include "check.h"
#include "gate.h"

enum { MOST = 64 };

struct reports {
  gate gate;
  int count;
  kept_error errors[MOST];
};

/* Global, so that valgrind sees that they are reachable. */
reports *all_reports[64];
static size_t count;

reports *new_reports(void) {
  reports *reports = calloc(1, sizeof *reports);
  if (reports == NULL || count == COUNT(all_reports)) exit(2);
  make_gate(&reports->gate);
  return all_reports[count++] = reports;
}

void write_report(void *context, const kept_error *error) {
  reports *reports = context;
  enter_gate(&reports->gate);
  if (reports->count < MOST) reports->errors[reports->count++] = *error;
  leave_gate(&reports->gate);
}

int reports_now(reports *reports) { return await_count(&reports->gate, &reports->count, 0); }

static const kept_error *awaited(reports *reports, int number) {
  CHECK(await_count(&reports->gate, &reports->count, number) >= number);
  return &reports->errors[number - 1];
}

const char *report_text(reports *reports, int number) { return awaited(reports, number)->message; }

kept_status report_status(reports *reports, int number) { return awaited(reports, number)->status; }
