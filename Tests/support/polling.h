/* Descriptors of stores and subscriptions, and dispatching. */
#ifndef POLLING_H
#define POLLING_H

#include "recorder.h"

kept_store *open_by_host(const char *location);
int fd_of(kept_store *store);
int fd_of_subscription(recorder *recorder);

int is_readable(int fd, int milliseconds);
#define CHECK_READABLE(fd) CHECK(is_readable(fd, 10000))
#define CHECK_SILENT(fd) CHECK(!is_readable(fd, 0))

/** @return the number of callbacks that ran */
size_t dispatch(kept_store *store, size_t max);
size_t dispatch_polled(recorder *recorder, size_t max);

#endif
