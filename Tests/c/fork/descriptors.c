/* Descriptors in a child: of a program without standard files, and an event descriptor when the child has no descriptor
 * left. */
#include "polling.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/** Whether a descriptor refers to one of our files. */
static int is_ours(int number, const char *folder) {
  char link[32], target[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", number);
  ssize_t length = readlink(link, target, sizeof target - 1);
  if (length < 0) return 0;
  target[length] = 0;
  return strncmp(target, folder, strlen(folder)) == 0 || strncmp(target, "anon_inode", 10) == 0;
}

/** Uses everything that has a descriptor. @return how many standard descriptors the library has taken; 100 on
 * failure */
static int standard_numbers_taken(const char *folder, unsigned closed) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  kept_subscription *subscription = NULL;
  int fd = -1, taken = 0;
  options.delivery = KEPT_BY_HOST;
  options.system = file_of(folder, "system.json");
  for (int number = 0; number < 3; number++)
    if (closed >> number & 1) close(number);
  if (kept_open(file_of(folder, "store"), &options, &store, NULL) != KEPT_OK) return 100;
  if (kept_set_int64(store, "key", 1, NULL) != KEPT_OK) return 100;
  if (kept_observe(store, "key", 0, ignore_notice, NULL, NULL, &subscription, NULL) != KEPT_OK) return 100;
  if (kept_store_fd(store, &fd, NULL) != KEPT_OK) return 100;
  for (int number = 0; number < 3; number++) taken += closed >> number & 1 && is_ours(number, folder);
  if (kept_export_file(store, file_of(folder, "export"), NULL, NULL) != KEPT_OK) return 100;
  kept_close(store);
  return taken;
}

FOLDER_TEST(output_of_a_program_without_standard_files_goes_into_no_file_of_ours) {
  for (unsigned closed = 1; closed < 16; closed++) {
    const char *folder = fresh_folder();
    mkdir(folder, 0700);
    /* Creating a store takes other descriptors than opening it. */
    if (closed > 7) kept_close(open_at(file_of(folder, "store")));
    pid_t child = fork();
    if (child == 0) leave_fork(standard_numbers_taken(folder, closed % 8));
    CHECK_INT(0, end_of(child));
  }
}

TEST(a_child_without_a_free_descriptor_does_not_silence_its_parents) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_subscription *subscription = NULL;
  struct rlimit before, few;
  int fd = -1, count = 0, taken[64];
  options.delivery = KEPT_BY_HOST;
  kept_store *store = open_with(fresh_location(), &options);
  EXPECT(KEPT_OK, kept_observe(store, "key", 0, ignore_notice, NULL, NULL, &subscription, &why));
  EXPECT(KEPT_OK, kept_store_fd(store, &fd, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  CHECK(is_readable(fd, 0));
  getrlimit(RLIMIT_NOFILE, &before);
  few = before;
  few.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &few);
  while (count < 64 && (taken[count] = dup(1)) >= 0) count++;
  CHECK(count > 0);
  pid_t child = fork();
  if (child == 0) {
    close(taken[0]);
    kept_observe(store, "other", 0, ignore_notice, NULL, NULL, &subscription, NULL);
    kept_set_int64(store, "other", 1, NULL);
    kept_store_dispatch(store, 0, NULL, NULL);
    leave_fork(0);
  }
  CHECK_INT(0, end_of(child));
  CHECK(is_readable(fd, 0));
  while (count > 0) close(taken[--count]);
  setrlimit(RLIMIT_NOFILE, &before);
}
