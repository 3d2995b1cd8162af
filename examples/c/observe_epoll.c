/* Prints the changes of some groups of keys, each at its own pace, in a loop around epoll: observe_epoll LOCATION
 *
 * Each group is a subscription with its own descriptor. Due notices of "audio." are all printed at once; of "window."
 * one in each turn of the loop, so that many of them do not delay the others. The program ends when the key "quit" is
 * set. */
#include <kept.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct group {
  const char *prefix;
  size_t pace; /* callbacks in a turn; 0 for all that are due */
  kept_subscription *subscription;
};

static int is_over;

static const char *shown(const char *json) { return json ? json : "nothing"; }

static void print_changes(void *context, const kept_notice *notice) {
  (void)context;
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    const char *key = kept_notice_key(notice, i);
    printf("%s: %s -> %s\n", key, shown(kept_notice_old_json(notice, i)), shown(kept_notice_new_json(notice, i)));
    if (strcmp(key, "quit") == 0) is_over = 1;
  }
  fflush(stdout);
}

/* Subscribes, and lets the loop watch the subscription's descriptor. */
static kept_status watch(int loop, kept_store *store, struct group *group, kept_error *error) {
  struct epoll_event event = { EPOLLIN, { .ptr = group } };
  int fd;
  kept_status status = kept_observe(store, group->prefix, KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_POLLED, print_changes,
    NULL, NULL, &group->subscription, error);
  if (status == KEPT_OK) status = kept_subscription_fd(group->subscription, &fd, error);
  if (status == KEPT_OK) epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
  return status;
}

int main(int count, char **arguments) {
  if (count != 2) {
    fputs("usage: observe_epoll LOCATION\n", stderr);
    return 2;
  }
  struct group groups[] = { { "audio.", 0, NULL }, { "window.", 1, NULL }, { "quit", 0, NULL } };
  int loop = epoll_create1(EPOLL_CLOEXEC);
  kept_store *store = NULL;
  kept_error error;

  kept_status status = kept_open(arguments[1], NULL, &store, &error);
  for (size_t i = 0; status >= 0 && i < sizeof groups / sizeof *groups; i++)
    status = watch(loop, store, &groups[i], &error);
  if (status == KEPT_OK) puts("observing"), fflush(stdout);

  struct epoll_event event;
  while (status == KEPT_OK && !is_over && epoll_wait(loop, &event, 1, -1) == 1) {
    const struct group *group = event.data.ptr;
    status = kept_subscription_dispatch(group->subscription, group->pace, NULL, &error);
  }
  close(loop);
  kept_close(store);
  if (status == KEPT_OK) return 0;
  fprintf(stderr, "%s\n", error.message);
  return 1;
}
