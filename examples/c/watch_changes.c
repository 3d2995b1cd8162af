/* Prints the changes of a store made by any process, until the key "quit" is set:
 *
 *   watch_changes LOCATION
 *
 * Prints a line for each change: its key, old and new value, and its latency. For the latency, a writer sets a key to
 * the current time in the same transaction: any date in a notice is used. */
#define _POSIX_C_SOURCE 200809L
#include <kept.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static sem_t quit;

/* Microseconds since the newest date in a notice; -1 if it has none. */
static double age_of(const kept_notice *notice) {
  struct timespec now;
  double age = -1;
  clock_gettime(CLOCK_REALTIME, &now);
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    int64_t seconds;
    int32_t nanoseconds;
    if (kept_value_date(kept_notice_new(notice, i), &seconds, &nanoseconds, NULL) != KEPT_OK) continue;
    double since = (double)(now.tv_sec - seconds) * 1e6 + (double)(now.tv_nsec - nanoseconds) / 1e3;
    if (age < 0 || since < age) age = since;
  }
  return age;
}

static const char *shown(const char *json) { return json != NULL ? json : "null"; }

/* Called on the library's own thread. */
static void print_changes(void *context, const kept_notice *notice) {
  double age = age_of(notice);
  (void)context;
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    const char *key = kept_notice_key(notice, i);
    printf("C:      %s: %s -> %s", key, shown(kept_notice_old_json(notice, i)), shown(kept_notice_new_json(notice, i)));
    if (age >= 0) printf("  after %.0f us", age);
    putchar('\n');
    if (strcmp(key, "quit") == 0) sem_post(&quit);
  }
  fflush(stdout);
}

int main(int count, char **arguments) {
  kept_store *store = NULL;
  kept_subscription *subscription = NULL;
  kept_error error;
  if (count != 2) {
    fputs("usage: watch_changes LOCATION\n", stderr);
    return 2;
  }
  sem_init(&quit, 0, 0);
  kept_status status = kept_open(arguments[1], NULL, &store, &error);
  if (status >= 0) {
    status = kept_observe(store, "", KEPT_OBSERVE_PREFIX, print_changes, NULL, NULL, &subscription, &error);
  }
  if (status < 0) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  puts("C:      watching");
  fflush(stdout);
  while (sem_wait(&quit) != 0) {}
  kept_close(store);
  return 0;
}
