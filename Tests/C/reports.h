/* Writes down what a store reports to `report` of its options, and lets a test wait for it: no test sleeps. */
#ifndef REPORTS_H
#define REPORTS_H

#include "check.h"

typedef struct reports reports;

/** Reports that live until the program ends: the last may come while the store is being closed. */
reports *new_reports(void);
/** What `report` is to call. */
void write_report(void *context, const kept_error *error);
/** How many there were. */
int reports_now(reports *reports);
/** Waits until there are so many, and returns the sentence of that one, from 1; a failed check after ten seconds. */
const char *report_text(reports *reports, int number);
/** The same, of its status. */
kept_status report_status(reports *reports, int number);

#endif
