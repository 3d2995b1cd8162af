/* Where an identifier's store is when no variable names a home folder. The tests have a user database of their own, in
 * a mount namespace, and are left out where none can be made. */
#include "namespace.h"
#include "others.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <unistd.h>

/* Replaces the user database for this process and those that it executes. */
static int has_users(const char *folder, const char *text) {
  put_file(file_of(folder, "passwd"), text);
  if (enter_namespace(false) && mount(file_of(folder, "passwd"), "/etc/passwd", NULL, MS_BIND, NULL) == 0) return 1;
  fprintf(stderr, "left out, as nothing can be mounted here\n");
  return 0;
}

static const char *user_with_home(unsigned user, const char *home) {
  char *text = repeated(0, 5000);
  snprintf(text, 5000, "someone:x:%u:%u::%s:/bin/sh\n", user, user, home);
  return text;
}

static void set_number(int64_t number) {
  kept_store *store = open_at("com.example.homely");
  EXPECT(KEPT_OK, kept_set_int64(store, "number", number, &why));
  kept_close(store);
}

ROLE(has_no_variables, folder) {
  const char *home = file_of(folder, "home"), *other = file_of(folder, "other");
  if (!has_users(folder, user_with_home(0, home))) return;
  CHECK_INT(0, mkdir(home, 0700) | mkdir(other, 0700));
  unsetenv("XDG_CONFIG_HOME");
  unsetenv("HOME");
  set_number(7);
  CHECK_UINT(S_IFDIR | 0700, mode_at(file_of(home, ".config/kept/com.example.homely.kept")));
  setenv("XDG_CONFIG_HOME", "relative", 1);
  setenv("HOME", "", 1);
  kept_store *store = open_at("com.example.homely");
  CHECK_TEXT("7", json_of(store, "number"));
  setenv("HOME", other, 1);
  set_number(8);
  CHECK_TEXT("7", json_of(store, "number"));
  CHECK_UINT(S_IFDIR | 0700, mode_at(file_of(other, ".config/kept/com.example.homely.kept")));
}

FOLDER_TEST(a_program_without_variables_finds_its_home_in_the_user_database) {
  const char *folder = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0700));
  play_child("has_no_variables", folder);
}

/* Not root and not nobody, whom systemd adds to a user database without them. */
enum { STRANGER = 4242 };

static void has_no_home(const char *folder, unsigned user, const char *home) {
  kept_store *store = NULL;
  char words[100];
  snprintf(words, sizeof words, "the user database has no home folder for user %d", STRANGER);
  if (!has_users(folder, user_with_home(user, home)) || setuid(STRANGER) != 0) return;
  unsetenv("XDG_CONFIG_HOME");
  unsetenv("HOME");
  EXPECT(KEPT_UNAVAILABLE, kept_open("com.example.homely", NULL, &store, &why));
  CHECK(strstr(why.message, words) != NULL);
}

ROLE(is_not_in_the_user_database, folder) { has_no_home(folder, STRANGER + 1, "/tmp"); }

ROLE(has_a_relative_home, folder) { has_no_home(folder, STRANGER, "relative"); }

FOLDER_TEST(a_user_without_a_home_has_no_store) {
  const char *folder = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0700));
  play_child("is_not_in_the_user_database", folder);
  play_child("has_a_relative_home", folder);
}

/* An entry that needs more memory than most. */
ROLE(has_a_long_entry, folder) {
  const char *home = file_of(folder, "home");
  char *text = repeated(0, 200000), *name = repeated('x', 150000);
  CHECK_INT(0, mkdir(home, 0700));
  snprintf(text, 200000, "someone:x:0:0:%s:%s:/bin/sh\n", name, home);
  if (!has_users(folder, text)) return;
  unsetenv("XDG_CONFIG_HOME");
  unsetenv("HOME");
  set_number(7);
  CHECK_UINT(S_IFDIR | 0700, mode_at(file_of(home, ".config/kept/com.example.homely.kept")));
}

FOLDER_TEST(a_long_entry_of_the_user_database_is_read) {
  const char *folder = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0700));
  play_child("has_a_long_entry", folder);
}

/* A set-user-ID program */

ROLE(keeps_a_number, location) {
  if (getauxval(AT_SECURE) != 0) set_number(9);
  else fprintf(stderr, "left out, as programs get no other rights from their files here\n");
}

FOLDER_TEST(a_set_user_id_program_uses_the_home_of_its_effective_user) {
  if (!has_other_user()) return;
  const char *folder = fresh_folder(), *program = file_of(folder, "program"), *home = file_of(folder, "home"),
             *callers = file_of(folder, "callers");
  CHECK_INT(0, mkdir(folder, 0755) | mkdir(home, 0700) | mkdir(callers, 0777) | chmod(callers, 0777));
  CHECK_INT(0, chmod(file_of(folder, ".."), 0755));
  copy_program(program);
  give_away(program);
  give_away(home);
  CHECK_INT(0, chmod(program, 04755));
  pid_t pid = fork();
  if (pid == 0) {
    if (!has_users(folder, user_with_home(NOBODY, home))) _exit(0);
    setenv("HOME", callers, 1);
    setenv("XDG_CONFIG_HOME", callers, 1);
    execl(program, program, "--child", "keeps_a_number", "none", (char *)NULL);
    _exit(127);
  }
  CHECK_INT(0, end_of(pid));
  CHECK_UINT(0, mode_at(file_of(callers, "kept")));
  CHECK_UINT(0, mode_at(file_of(callers, ".config")));
}
