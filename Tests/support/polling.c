#include "polling.h"

#include "check.h"
#include "transacting.h"

#include <poll.h>

kept_store *open_by_host(const char *location) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.delivery = KEPT_BY_HOST;
  EXPECT(KEPT_OK, kept_open(location, &options, &store, &why));
  return store;
}

int fd_of(kept_store *store) {
  int fd = -1;
  EXPECT(KEPT_OK, kept_store_fd(store, &fd, &why));
  return fd;
}

int fd_of_subscription(recorder *recorder) {
  int fd = -1;
  EXPECT(KEPT_OK, kept_subscription_fd(recorder->subscription, &fd, &why));
  return fd;
}

int is_readable(int fd, int milliseconds) {
  struct pollfd watched = { fd, POLLIN, 0 };
  return poll(&watched, 1, milliseconds) == 1 && watched.revents == POLLIN;
}

size_t dispatch(kept_store *store, size_t max) {
  size_t delivered = 4711;
  EXPECT(KEPT_OK, kept_store_dispatch(store, max, &delivered, &why));
  return delivered;
}

size_t dispatch_polled(recorder *recorder, size_t max) {
  size_t delivered = 4711;
  EXPECT(KEPT_OK, kept_subscription_dispatch(recorder->subscription, max, &delivered, &why));
  return delivered;
}
