/* bench FOLDER [--quick] [--only TEXT]: runs the rows of C, all or those whose name has TEXT in it, and prints a line
 * of JSON for each. Stores are made in FOLDER. */
#include "complaint.h"
#include "contest.h"
#include "writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const plan full = {.rounds = 151, .turn_ns = 2000000};
static const plan quick = {.rounds = 31, .turn_ns = 2000000};

int main(int count, char **arguments) {
  if (count == 5 && strcmp(arguments[1], WRITER_ARGUMENT) == 0) {
    return writer_main(arguments[2], arguments[3], strtoul(arguments[4], NULL, 10));
  }
  if (count < 2) complain("usage: bench FOLDER [--quick] [--only TEXT]");
  plan plan = full;
  const char *only = "";
  for (int at = 2; at < count; at++) {
    if (strcmp(arguments[at], "--quick") == 0) plan = quick;
    else if (strcmp(arguments[at], "--only") == 0 && at + 1 < count) only = arguments[++at];
    else complain("there is no option %s", arguments[at]);
  }
  for (size_t at = 0; at < row_count; at++) {
    if (!strstr(rows[at].name, only)) continue;
    fprintf(stderr, "bench: %s\n", rows[at].name);
    contest_run(&rows[at], plan, arguments[1]);
  }
  return 0;
}
