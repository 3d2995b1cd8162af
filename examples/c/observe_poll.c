/* Prints every change of a store in a loop around poll(): observe_poll LOCATION
 *
 * The program watches its standard input as well, like a program with its own event loop. It ends when it reads a line
 * there, or when the key "quit" is set. */
#include <kept.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static const char *shown(const char *json) { return json ? json : "nothing"; }

static void print_changes(void *context, const kept_notice *notice) {
  int *is_over = context;
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    printf("%s: %s -> %s\n", kept_notice_key(notice, i), shown(kept_notice_old_json(notice, i)),
      shown(kept_notice_new_json(notice, i)));
    if (strcmp(kept_notice_key(notice, i), "quit") == 0) *is_over = 1;
  }
  fflush(stdout);
}

int main(int count, char **arguments) {
  if (count != 2) {
    fputs("usage: observe_poll LOCATION\n", stderr);
    return 2;
  }
  kept_options options = KEPT_OPTIONS_INIT;
  options.delivery = KEPT_BY_HOST;
  kept_store *store = NULL;
  kept_subscription *subscription = NULL;
  kept_error error;
  int fd = -1, is_over = 0;

  kept_status status = kept_open(arguments[1], &options, &store, &error);
  if (status >= 0) status = kept_store_fd(store, &fd, &error);
  if (status == KEPT_OK)
    status = kept_observe(store, "", KEPT_OBSERVE_PREFIX, print_changes, &is_over, NULL, &subscription, &error);
  if (status == KEPT_OK) puts("observing"), fflush(stdout);

  struct pollfd watched[] = { { fd, POLLIN, 0 }, { 0, POLLIN, 0 } };
  while (status == KEPT_OK && !is_over && poll(watched, 2, -1) > 0) {
    if (watched[0].revents) status = kept_store_dispatch(store, 0, NULL, &error);
    if (watched[1].revents) is_over = 1;
  }
  kept_close(store);
  if (status == KEPT_OK) return 0;
  fprintf(stderr, "%s\n", error.message);
  return 1;
}
