/* What it costs to copy, restore and migrate a store of many keys, and what somebody who writes meanwhile feels.
 *
 *   lives FOLDER [KEYS]    a folder that is not there yet; without KEYS, 100,000
 *
 * A second process writes a key of its own every millisecond, and keeps its longest wait for each. */
#include <kept.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct shared {
  long long longest, written;
} *shared;

static const char *folder;
static int keys = 100000;
static kept_error error;

static void check(kept_status status, const char *what) {
  if (status == KEPT_OK) return;
  fprintf(stderr, "could not %s: %s\n", what, error.message);
  exit(1);
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static kept_store *open_store(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.busy_timeout_ms = 60000;
  check(kept_open(folder, &options, &store, &error), "open");
  return store;
}

static const char *path_of(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s-%s", folder, name);
  return path;
}

static void fill(kept_store *store) {
  char key[64], text[64];
  kept_store *all = NULL;
  check(kept_begin(store, NULL, &all, &error), "begin");
  for (int i = 0; i < keys; i++) {
    snprintf(key, sizeof key, "application.section%d.setting%d", i % 100, i);
    int length = snprintf(text, sizeof text, "the value of setting number %d", i);
    check(kept_set_string(all, key, text, (size_t)length, &error), "fill");
  }
  check(kept_commit(all, NULL, &error), "commit");
}

static void write_on(void) {
  kept_store *store = open_store();
  for (long long number = 1;; number++) {
    struct timespec pause = { 0, 1000000 };
    double before = now_ms();
    check(kept_set_int64(store, "the writer's own", number, &error), "write meanwhile");
    long long waited = (long long)((now_ms() - before) * 1000);
    if (waited > shared->longest) shared->longest = waited;
    shared->written++;
    nanosleep(&pause, NULL);
  }
}


struct listed {
  kept_store *transaction;
  char **names;
  int count;
};

static int keep_name(void *context, const char *key) {
  struct listed *listed = context;
  listed->names[listed->count++] = strdup(key);
  return 0;
}

static kept_status touch_all(void *context, kept_store *transaction, kept_error *why) {
  struct listed listed = { transaction, calloc((size_t)keys + 10, sizeof(char *)), 0 };
  (void)context;
  kept_status status = kept_list(transaction, "application.", keep_name, &listed, why);
  for (int i = 0; i < listed.count && status == KEPT_OK; i++)
    status = kept_set_int64(transaction, listed.names[i], i, why);
  for (int i = 0; i < listed.count; i++) free(listed.names[i]);
  free(listed.names);
  return status;
}

static kept_status back_up(kept_store *store) { return kept_backup(store, path_of("copy"), 0, NULL, &error); }
static kept_status restore(kept_store *store) { return kept_restore(store, path_of("copy"), NULL, &error); }
static kept_status migrate(kept_store *store) {
  const kept_migration steps[] = { { 1, 0, "touch all", touch_all, NULL } };
  return kept_migrate(store, steps, 1, 0, NULL, NULL, &error);
}

/* The other way to copy a database: page by page, beginning again whenever another process writes. */
static kept_status back_up_pages(kept_store *store) {
  sqlite3 *from = NULL, *to = NULL;
  char database[4096];
  (void)store;
  snprintf(database, sizeof database, "%s/values.sqlite", folder);
  if (sqlite3_open(database, &from) != SQLITE_OK || sqlite3_open(path_of("pages"), &to) != SQLITE_OK) abort();
  sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
  int answer = SQLITE_OK;
  while ((answer = sqlite3_backup_step(backup, -1)) == SQLITE_BUSY || answer == SQLITE_LOCKED) {}
  sqlite3_backup_finish(backup);
  sqlite3_close(from);
  sqlite3_close(to);
  return answer == SQLITE_DONE ? KEPT_OK : KEPT_FAILED;
}

static void measure(const char *what, kept_status (*act)(kept_store *), bool with_writer) {
  kept_store *store = open_store();
  pid_t writer = 0;
  memset(shared, 0, sizeof *shared);
  if (with_writer) {
    fflush(stdout);
    kept_close(store);
    if ((writer = fork()) == 0) write_on();
    while (__atomic_load_n(&shared->written, __ATOMIC_SEQ_CST) < 100) {
      if (waitpid(writer, NULL, WNOHANG) != 0) { puts("the writer has ended; nothing was measured"); exit(1); }
      usleep(1000);
    }
    shared->longest = 0;
    store = open_store();
  }
  double before = now_ms();
  kept_status status = act(store);
  double took = now_ms() - before;
  if (writer) kill(writer, SIGKILL), waitpid(writer, NULL, 0);
  printf("%-26s %s %8.1f ms", what, status == KEPT_OK ? "ok  " : kept_status_text(status), took);
  if (with_writer) printf(", longest wait of the writer %.1f ms", shared->longest / 1000.0);
  printf("\n");
  fflush(stdout);
  kept_close(store);
}

static void begin_anew(void) {
  char command[9000];
  snprintf(command, sizeof command, "rm -rf '%s' '%s-'*", folder, folder);
  if (system(command) != 0) exit(1);
  pid_t filler = fork();
  if (filler == 0) {
    kept_store *store = open_store();
    fill(store);
    kept_close(store);
    _exit(0);
  }
  waitpid(filler, NULL, 0);
}

static void measure_anew(const char *what, kept_status (*act)(kept_store *), bool with_writer, bool copied) {
  begin_anew();
  pid_t measurer = fork();
  if (measurer == 0) {
    if (copied) {
      kept_store *store = open_store();
      check(back_up(store), "back up first");
      check(kept_set_bool(store, "other", true, &error), "write");
      check(migrate(store), "change all");
      kept_close(store);
    }
    measure(what, act, with_writer);
    _exit(0);
  }
  waitpid(measurer, NULL, 0);
}

int main(int count, char **arguments) {
  if (count < 2) return fputs("usage: lives FOLDER [KEYS]\n", stderr), 2;
  folder = arguments[1];
  if (count > 2) keys = atoi(arguments[2]);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  printf("%d keys\n", keys);
  for (int with_writer = 0; with_writer <= 1; with_writer++) {
    measure_anew("backup", back_up, with_writer, false);
    measure_anew("backup, page by page", back_up_pages, with_writer, false);
    measure_anew("restore", restore, with_writer, true);
    measure_anew("migrate, touching all", migrate, with_writer, false);
  }
  begin_anew();
  char command[9000];
  snprintf(command, sizeof command, "rm -rf '%s' '%s-'*", folder, folder);
  return system(command) != 0;
}
