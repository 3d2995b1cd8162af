/* Files and folders that another user replaces just as they are opened. This program interposes the system calls,
 * so that each attack succeeds at the first attempt or never. */
#include "others.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system calls */

static const char *watched = "/none";    /* the suffix of the path */
static void (*before)(const char *path); /* what the other user does before the call */
static void (*after)(void);              /* and after it */
static int only_opens;
static int is_acting;
static int done;

static int ends_with(const char *path, const char *end) {
  size_t length = strlen(path), wanted = strlen(end);
  return length >= wanted && strcmp(path + length - wanted, end) == 0;
}

static int begin(const char *path, int is_open) {
  if (is_acting || (only_opens && !is_open) || before == NULL || !ends_with(path, watched)) return 0;
  is_acting = 1;
  before(path);
  done++;
  is_acting = 0;
  return 1;
}

static int end(int has_begun, int result) {
  int error = errno;
  if (has_begun && after != NULL) {
    is_acting = 1;
    after();
    is_acting = 0;
  }
  errno = error;
  return result;
}

static int opens(int folder, const char *path, int flags, mode_t mode) {
  int has_begun = begin(path, 1);
  return end(has_begun, (int)syscall(SYS_openat, folder, path, flags, mode));
}

static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

#define OPEN(name, take_folder, folder) \
  int name(take_folder const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = mode_of(flags, rest); \
    va_end(rest); \
    return opens(folder, path, flags, mode); \
  }
#define AT int at,
#define NONE
int open64(const char *path, int flags, ...);
int openat64(int at, const char *path, int flags, ...);
OPEN(open, NONE, AT_FDCWD)
OPEN(open64, NONE, AT_FDCWD)
OPEN(openat, AT, at)
OPEN(openat64, AT, at)

int fstatat(int at, const char *restrict path, struct stat *restrict status, int flags) {
  int has_begun = begin(path, 0);
  return end(has_begun, (int)syscall(SYS_newfstatat, at, path, status, flags));
}

int lstat(const char *restrict path, struct stat *restrict status) {
  return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

static void attack(const char *end, void (*first)(const char *), void (*then)(void)) {
  done = only_opens = 0;
  watched = end;
  after = then;
  before = first;
}

static void leave_alone(void) { before = NULL; }

/** A folder that belongs to the other user. */
static const char *folder_of_nobody(void) {
  const char *folder = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0755) | chmod(file_of(folder, ".."), 0755));
  give_away(folder);
  return folder;
}

/* Backups */

static const char *target;
static int has_exchanged;

static void put_mine(const char *path) {
  int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0666);
  CHECK(file >= 0 && fchmod(file, 0666) == 0 && fchown(file, NOBODY, NOBODY) == 0);
  close(file);
}

/** Replaces every draft with files of its own. */
static void exchange_drafts(const char *path) {
  DIR *files = opendir(target);
  for (struct dirent *entry; files && (entry = readdir(files));) {
    if (strncmp(entry->d_name, ".new-", 5) != 0) continue;
    const char *draft = file_of(target, entry->d_name), *mine = file_of(target, "mine");
    put_mine(mine);
    if (S_ISDIR(mode_at(draft))) {
      CHECK_INT(0, rename(draft, file_of(target, "theirs")) | mkdir(draft, 0777));
      give_away(draft);
      CHECK_INT(0, link(mine, file_of(draft, "draft")));
    } else {
      CHECK_INT(0, link(mine, file_of(target, "copy")) | rename(file_of(target, "copy"), draft));
    }
    has_exchanged = 1;
    before = NULL;
    break;
  }
  if (files) closedir(files);
}

FOLDER_TEST(a_backup_reaches_no_file_of_another_user_s) {
  /* As soon as it exists, and when it is opened. */
  static const char *const names[] = { "", "draft" };
  if (!has_other_user()) return;
  for (int i = 0; i < 2; i++) {
    kept_store *store = open_at(fresh_folder());
    EXPECT(KEPT_OK, kept_set_string(store, "token", "TOPSECRET", 9, &why));
    target = folder_of_nobody();
    has_exchanged = 0;
    attack(names[i], exchange_drafts, NULL);
    only_opens = 1;
    kept_status status = kept_backup(store, file_of(target, "backup"), 0, NULL, &why);
    leave_alone();
    CHECK(has_exchanged);
    CHECK(!holds(file_of(target, "mine"), "TOPSECRET"));
    struct stat made;
    if (status == KEPT_OK && lstat(file_of(target, "backup"), &made) == 0) {
      CHECK_INT(0, made.st_uid);
      CHECK_UINT(S_IFREG | 0600, made.st_mode);
    }
  }
}

/* The folder of a store */

static const char *own, *foreign;

static void exchange(void) { syscall(SYS_renameat2, AT_FDCWD, own, AT_FDCWD, foreign, 2 /* RENAME_EXCHANGE */); }
static void exchange_before(const char *path) { exchange(); }

FOLDER_TEST(a_store_stays_in_its_folder_whatever_its_path_leads_to) {
  static const char *const names[] = { "/values", "/journal.0", "/pulse" };
  static const char *const left[] = { "values", "journal.0" };
  if (!has_other_user()) return;
  for (size_t i = 0; i < COUNT(names); i++) {
    const char *parent = folder_of_nobody();
    own = file_of(parent, "own");
    foreign = file_of(parent, "foreign");
    for (int store = 0; store < 2; store++) {
      kept_store *made = open_at(store ? foreign : own);
      EXPECT(KEPT_OK, kept_set_int64(made, "number", store, &why));
      kept_close(made);
    }
    give_away_store(foreign);
    attack(names[i], exchange_before, exchange);
    only_opens = 1;
    kept_store *store = NULL;
    kept_status status = kept_open(own, NULL, &store, &why), written = KEPT_CLOSED;
    if (status == KEPT_OK) {
      CHECK_TEXT("0", json_of(store, "number"));
      written = kept_set_string(store, "token", "TOPSECRET", 9, &why);
      CHECK_TEXT("0", json_of(store, "number"));
      kept_close(store);
    }
    leave_alone();
    for (size_t file = 0; file < COUNT(left); file++) CHECK(!holds(file_of(foreign, left[file]), "TOPSECRET"));
    if (written == KEPT_OK) CHECK_TEXT("\"TOPSECRET\"", json_of(open_at(own), "token"));
  }
}

FOLDER_TEST(a_store_whose_folder_is_moved_says_so) {
  if (!has_other_user()) return;
  const char *parent = folder_of_nobody();
  own = file_of(parent, "own");
  kept_store *store = open_at(own);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  kept_close(store);
  EXPECT(KEPT_OK, kept_backup(open_at(own), file_of(parent, "own/../backup"), 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_backup(open_at(own), file_of(own, "backup"), 0, NULL, &why));
  CHECK(strstr(why.message, "/proc/") == NULL);
}

FOLDER_TEST(errors_name_a_folder_that_others_could_move_by_its_own_path) {
  if (!has_other_user()) return;
  own = file_of(folder_of_nobody(), "own");
  kept_store *store = open_at(own);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  kept_close(store);
  static const char *const files[] = { "values", "journal.0", "pulse" };
  for (size_t i = 0; i < COUNT(files); i++) {
    const char *file = file_of(own, files[i]);
    CHECK_INT(0, chmod(file, 0666));
    EXPECT(KEPT_DENIED, kept_open(own, NULL, &store, &why));
    CHECK(strstr(why.message, file) != NULL);
    CHECK_INT(0, chmod(file, 0600));
  }
}

/* A store of another user */

ROLE(reads_while_fifos_come_and_go, location) {
  static const char *const names[] = { "values", "journal.0", "pulse" };
  alarm(60);
  for (size_t i = 0; i < COUNT(names); i++) {
    own = file_of(location, names[i]);
    foreign = file_of(location, "fifo");
    unlink(foreign);
    CHECK_INT(0, mkfifo(foreign, 0600));
    give_away(foreign);
    kept_options options = KEPT_OPTIONS_INIT;
    kept_store *store = NULL;
    options.busy_timeout_ms = 50;
    attack(names[i], exchange_before, exchange);
    only_opens = 1;
    if (kept_open(location, &options, &store, &why) >= 0) kept_close(store);
    leave_alone();
  }
}

ROLE(writes_as_nobody, location) {
  become_nobody();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  signal_parent();
  await_parent();
}

static const char *killed_store_of_nobody(void) {
  const char *location = file_of(folder_of_nobody(), "store");
  child writer = start_child("writes_as_nobody", location);
  await_child(&writer);
  kill_child(&writer);
  return location;
}

FOLDER_TEST(root_does_not_wait_for_a_fifo_that_is_exchanged_for_a_file) {
  if (has_other_user()) play_child("reads_while_fifos_come_and_go", killed_store_of_nobody());
}

ROLE(reads_while_checkpoints_are_exchanged, location) {
  alarm(60);
  own = file_of(location, "values");
  foreign = file_of(location, "copy");
  kept_store *store = open_at(location);
  CHECK_TEXT("1", json_of(store, "number"));
  attack("values", exchange_before, NULL);
  for (int i = 0; i < 5; i++) CHECK_TEXT("1", json_of(store, "number"));
  CHECK(done > 0);
  leave_alone();
  CHECK_TEXT("1", json_of(store, "number"));
  kept_close(store);
}

FOLDER_TEST(root_does_not_read_for_ever_what_its_owner_exchanges) {
  if (!has_other_user()) return;
  const char *location = file_of(folder_of_nobody(), "store");
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  kept_close(store);
  CHECK(copy_file(file_of(location, "values"), file_of(location, "copy")));
  CHECK_INT(0, chmod(file_of(location, "copy"), 0600));
  give_away_store(location);
  play_child("reads_while_checkpoints_are_exchanged", location);
}
