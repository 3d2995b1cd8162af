/* delivery FOLDER COUNT: receives COUNT changes that another process makes, each after the one before was delivered.
 *
 * Under callgrind only the thread that runs callbacks is counted, from one callback to the one COUNT later: waking up,
 * reading the new commits, and calling. */
#include "../rivals/c/fatal.h"
#include "../rivals/c/folders.h"

#include <fcntl.h>
#include <kept.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#define KEY "audio.volume"
#define REHEARSED 20 /* warm-up changes */

extern char **environ;

typedef struct notification {
  size_t received, last;
  int orders; /* each byte requests the next change */
  sem_t done;
} notification;

static void check(kept_status status, const kept_error *error) {
  if (status != KEPT_OK) die("Kept: %s (%s)", error->message, kept_status_text(status));
}

static kept_store *open_store(const char *path) {
  kept_store *store;
  kept_error error;
  check(kept_open(path, NULL, &store, &error), &error);
  return store;
}

static void order(notification *notification) {
  if (write(notification->orders, "", 1) != 1) die("the writing process has ended");
}

static void receive(void *context, const kept_notice *notice) {
  notification *notification = context;
  int64_t value;
  kept_error error;
  check(kept_value_int64(kept_notice_new(notice, 0), &value, &error), &error);
  size_t number = ++notification->received;
  if (number == REHEARSED || number == notification->last) CALLGRIND_TOGGLE_COLLECT;
  if (number == notification->last) sem_post(&notification->done);
  else order(notification);
}

/* The other process: this program again, which callgrind does not follow. */
static int write_on_order(const char *path) {
  kept_store *store = open_store(path);
  kept_error error;
  int64_t value = 1000000;
  for (char byte; read(STDIN_FILENO, &byte, 1) == 1;) check(kept_set_int64(store, KEY, ++value, &error), &error);
  kept_close(store);
  return 0;
}

static pid_t start_writing(notification *notification, char *program, char *path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) die("cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  pid_t process;
  char *arguments[] = { program, "--write", path, NULL };
  /* Random numbers tell processes apart: the library that makes them the same is for the counted one. */
  unsetenv("LD_PRELOAD");
  int failure = posix_spawn(&process, program, &actions, NULL, arguments, environ);
  if (failure) die("cannot start a writing process: %s", strerror(failure));
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  notification->orders = ends[1];
  return process;
}

int main(int count, char **arguments) {
  if (count != 3) die("usage: delivery FOLDER COUNT");
  if (strcmp(arguments[1], "--write") == 0) return write_on_order(arguments[2]);
  char *folder = folder_make(arguments[1], "delivery"), *path = folder_path(folder, "store.kept");
  notification notification = { .last = REHEARSED + strtoul(arguments[2], NULL, 10) };
  sem_init(&notification.done, 0, 0);
  kept_store *store = open_store(path);
  kept_subscription *subscription;
  kept_error error;
  check(kept_observe(store, KEY, KEPT_OBSERVE_KEY, receive, &notification, NULL, &subscription, &error), &error);
  pid_t writer = start_writing(&notification, arguments[0], path);
  order(&notification);
  int status;
  for (struct timespec until = { 0 }; sem_timedwait(&notification.done, &until) != 0;) {
    if (waitpid(writer, &status, WNOHANG) != 0) die("the writing process has ended");
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
  }
  close(notification.orders);
  if (waitpid(writer, &status, 0) < 0 || status != 0) die("the writing process failed");
  kept_close(store);
  folder_remove(folder);
  free(path);
  free(folder);
  return 0;
}
