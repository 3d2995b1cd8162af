/* bench FOLDER [--quick] [--only TEXT]: runs the rows of C, all or those whose name has TEXT in it, and prints a line
 * of JSON for each. Stores are made in FOLDER. */
#include "complaint.h"
#include "contest.h"
#include "writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reading, opening and loading take many short turns. Writing takes long ones, so that each has its share of what
 * SQLite puts off: a checkpoint comes only after hundreds of sets. */
typedef struct pace {
  plan reading, writing;
} pace;

#define MILLISECOND 1000000
static const pace full = {.reading = {151, 2 * MILLISECOND}, .writing = {41, 100 * MILLISECOND}};
static const pace quick = {.reading = {31, 2 * MILLISECOND}, .writing = {9, 100 * MILLISECOND}};

static plan plan_of(const row *row, pace pace) {
  bool writing = row->task == &declaring || (row->task == &operating && row->operation >= SET);
  return writing ? pace.writing : pace.reading;
}

int main(int count, char **arguments) {
  if (count == 5 && strcmp(arguments[1], WRITER_ARGUMENT) == 0) {
    return writer_main(arguments[2], arguments[3], strtoul(arguments[4], NULL, 10));
  }
  if (count < 2) complain("usage: bench FOLDER [--quick] [--only TEXT]");
  pace pace = full;
  const char *only = "";
  for (int at = 2; at < count; at++) {
    if (strcmp(arguments[at], "--quick") == 0) pace = quick;
    else if (strcmp(arguments[at], "--only") == 0 && at + 1 < count) only = arguments[++at];
    else complain("there is no option %s", arguments[at]);
  }
  for (size_t at = 0; at < row_count; at++) {
    if (!strstr(rows[at].name, only)) continue;
    fprintf(stderr, "bench: %s\n", rows[at].name);
    contest_run(&rows[at], plan_of(&rows[at], pace), arguments[1]);
  }
  return 0;
}
