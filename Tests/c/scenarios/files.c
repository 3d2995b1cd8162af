/* Steps that create the files of a scenario, in a folder of each run's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "run.h"

const char *take_path(struct run *run, json_object *step, const char *field) {
  return has(step, field) ? file_of(run->folder, take_word(step, field, "")) : NULL;
}

/* Atomically replaces a file by one that was created next to it. */
static void put_in_place(struct run *run, int failed, const char *draft, const char *path) {
  if (failed || rename(draft, path) != 0) fail_step(run, "%s cannot be made: %s", path, strerror(errno));
}

void step_write_file(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  const char *path = take_path(run, step, "file"), *draft = file_of(run->folder, ".new");
  json_object *text = take_text(run, step, "text");
  mode_t mode = (mode_t)strtol(take_word(step, "mode", "644"), NULL, 8);
  write_file(draft, json_object_get_string(text), (size_t)json_object_get_string_len(text));
  put_in_place(run, chmod(draft, mode), draft, path);
  json_object_put(text);
}

void step_remove_file(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  const char *path = take_path(run, step, "file");
  if (remove(path) != 0) fail_step(run, "%s cannot be removed: %s", path, strerror(errno));
}

/* Replaces the contents of a closed store's checkpoint. */
void step_damage(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  write_file(file_of(take_path(run, step, "file"), "values"), "damaged", 7);
}

void step_make(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  const char *path = take_path(run, step, "file"), *draft = file_of(run->folder, ".new"),
             *to = take_path(run, step, "to");
  const char *what = take_word(step, "as", "");
  if (strcmp(what, "folder") == 0) {
    if (mkdir(path, 0755) != 0) fail_step(run, "%s cannot be made: %s", path, strerror(errno));
  } else if (strcmp(what, "fifo") == 0) {
    put_in_place(run, mkfifo(draft, 0644), draft, path);
  } else if (strcmp(what, "link") == 0 && to) {
    put_in_place(run, symlink(to, draft), draft, path);
  } else {
    fail_step(run, "the runner cannot make \"%s\"", what);
  }
}
