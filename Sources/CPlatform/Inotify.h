// Notifications of changes in folders: inotify, or nothing on other systems, where the caller polls.
#ifndef KEPT_INOTIFY_H
#define KEPT_INOTIFY_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "Files.h"

#if defined(__linux__)
#include <sys/inotify.h>

/// Opens a non-blocking descriptor; -1 with errno set if inotify is not available or its limit is reached.
static inline int kept_inotify_open(void) { return kept_not_standard(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)); }

/// Watches the names in a folder, and changes to its files only if `files` is set. A second call for the same folder
/// adds to the watch. Returns the number of the watch, or -1 with errno set.
static inline int kept_inotify_add(int events, const char *folder, bool files) {
  uint32_t names = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
  uint32_t contents = IN_DELETE | IN_MOVED_FROM | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB;
  return inotify_add_watch(events, folder, names | (files ? contents : 0) | IN_ONLYDIR | IN_MASK_ADD);
}

static inline void kept_inotify_remove(int events, int watch) { inotify_rm_watch(events, watch); }

/// Discards the pending events; after many reads the remaining ones are left for another time. Returns whether a file
/// was renamed to one of the names, each ending with a zero byte; an empty name ends the list.
static inline bool kept_inotify_drain(int events, const char *names) {
  char bytes[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
  bool found = false;
  for (int readings = 0; readings < 64; readings++) {
    ssize_t count = read(events, bytes, sizeof bytes);
    if (count <= 0) break;
    for (ssize_t next = 0; next < count;) {
      const struct inotify_event *event = (const struct inotify_event *)(bytes + next);
      next += (ssize_t)sizeof *event + event->len;
      if (!(event->mask & IN_MOVED_TO) || event->len == 0) continue;
      for (const char *name = names; *name && !found; name += strlen(name) + 1) found = !strcmp(name, event->name);
    }
  }
  return found;
}

#else

static inline int kept_inotify_open(void) {
  errno = ENOSYS;
  return -1;
}

static inline int kept_inotify_add(int events, const char *folder, bool files) {
  (void)events, (void)folder, (void)files;
  errno = ENOSYS;
  return -1;
}

static inline void kept_inotify_remove(int events, int watch) { (void)events, (void)watch; }

static inline bool kept_inotify_drain(int events, const char *names) {
  (void)events, (void)names;
  return false;
}

#endif

/// Sleeps until the event is signalled or there are inotify events, up to a time limit; -1 means no descriptor.
/// Returns whether there are inotify events.
static inline bool kept_sleep_until_events(int wake, int events, int milliseconds) {
  struct pollfd watched[] = { { .fd = wake, .events = POLLIN }, { .fd = events, .events = POLLIN } };
  return poll(watched, 2, milliseconds) > 0 && watched[1].revents != 0;
}

#endif
