/* Records what a store passes to `report` of its options, and lets a test wait for it without sleeping. */
#ifndef REPORTS_H
#define REPORTS_H

#include <kept.h>

typedef struct reports reports;

/** Reports that live until the program ends: the last may come while the store is being closed. */
reports *new_reports(void);
/** The function for `report`. */
void write_report(void *context, const kept_error *error);
/** The number of reports so far. */
int reports_now(reports *reports);
/** Waits until there are `number` reports, and returns the message of the last of these, counted from 1; a failed check
 * after a minute. */
const char *report_text(reports *reports, int number);
/** The same, for its status. */
kept_status report_status(reports *reports, int number);

#endif
