/* Steps that create the files of a scenario, in a folder of each run's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

static const char *path_of(struct run *run, const char *name) {
  static char paths[8][512];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", run->folder, name);
  return path;
}

const char *take_path(struct run *run, json_object *step, const char *field) {
  return has(step, field) ? path_of(run, take_word(step, field, "")) : NULL;
}

/* Atomically replaces a file by one that was created beside it. */
static void put_in_place(struct run *run, int failed, const char *beside, const char *path) {
  if (failed || rename(beside, path) != 0) fail_step(run, "%s cannot be made: %s", path, strerror(errno));
}

void step_write_file(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  (void)on, (void)outcome;
  const char *path = take_path(run, step, "file"), *beside = path_of(run, ".new");
  json_object *text = take_text(run, step, "text");
  mode_t mode = (mode_t)strtol(take_word(step, "mode", "644"), NULL, 8);
  size_t length = (size_t)json_object_get_string_len(text);
  FILE *file = fopen(beside, "w");
  int failed =
    file == NULL || fwrite(json_object_get_string(text), 1, length, file) < length || fchmod(fileno(file), mode) != 0;
  if (file) failed |= fclose(file) != 0;
  put_in_place(run, failed, beside, path);
  json_object_put(text);
}

void step_remove_file(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  (void)on, (void)outcome;
  const char *path = take_path(run, step, "file");
  if (remove(path) != 0) fail_step(run, "%s cannot be removed: %s", path, strerror(errno));
}

/* Replaces the contents of a closed store's database. */
void step_damage(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  (void)on, (void)outcome;
  char path[600];
  snprintf(path, sizeof path, "%s/values.sqlite", take_path(run, step, "file"));
  FILE *file = fopen(path, "r+");
  int failed = file == NULL || ftruncate(fileno(file), 0) != 0 || fputs("damaged", file) < 0;
  if (file) failed |= fclose(file) != 0;
  if (failed) fail_step(run, "%s cannot be damaged: %s", path, strerror(errno));
}

void step_make(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  (void)on, (void)outcome;
  const char *path = take_path(run, step, "file"), *beside = path_of(run, ".new"), *to = take_path(run, step, "to");
  const char *what = take_word(step, "as", "");
  if (strcmp(what, "folder") == 0) {
    if (mkdir(path, 0755) != 0) fail_step(run, "%s cannot be made: %s", path, strerror(errno));
  } else if (strcmp(what, "fifo") == 0) {
    put_in_place(run, mkfifo(beside, 0644), beside, path);
  } else if (strcmp(what, "link") == 0 && to) {
    put_in_place(run, symlink(to, beside), beside, path);
  } else {
    fail_step(run, "the runner cannot make \"%s\"", what);
  }
}
