/* Layers in a sandbox: in a user namespace to which root is not mapped, as bubblewrap, Flatpak, firejail and Steam make
 * it, every file of root seems to belong to nobody. Each role puts files for the administrator below a new /etc, enters
 * such a namespace as an ordinary user, and opens a store by its identifier there. */
#include "others.h"
#include "suite.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { USER = 1000, OTHER = 1001 };

#define IDENTIFIER "com.example.sandboxed"
#define MANAGED "/etc/kept/" IDENTIFIER "/managed.json"
#define SYSTEM "/etc/kept/" IDENTIFIER "/system.json"
#define HOST "/run/host"

static const char locks[] = "{\"values\":{\"k\":1}}";

/** Mounts of this process's own, with an empty /etc and an empty /run that belong to root. */
static void empty_system(void) {
  CHECK_INT(0, unshare(CLONE_NEWNS) | mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
  CHECK_INT(0, mount("none", "/etc", "tmpfs", 0, "mode=755") | mount("none", "/run", "tmpfs", 0, "mode=755"));
}

/** A file of root's with all folders above it. */
static void administer(const char *path, const char *text) {
  char folder[4200];
  for (const char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
    snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
    mkdir(folder, 0755);
  }
  put_file(path, text);
}

/** Continues as an ordinary user in its own user namespace, which maps that user alone, or no user. */
static void enter_sandbox(const char *home, const char *map) {
  CHECK_INT(0, chown(home, USER, USER) | setenv("XDG_CONFIG_HOME", home, 1));
  CHECK(setgroups(0, NULL) == 0 && setresgid(USER, USER, USER) == 0 && setresuid(USER, USER, USER) == 0);
  CHECK_INT(0, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) | unshare(CLONE_NEWUSER));
  if (map == NULL) return;
  CHECK(write_into("/proc/self/uid_map", map));
  CHECK_INT(USER, geteuid());
}

#define OWN_USER "1000 1000 1"

static kept_options standard(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = options.system = KEPT_STANDARD_FILE;
  return options;
}

static void expect_free(void) {
  kept_options options = standard();
  kept_store *store = open_with(IDENTIFIER, &options);
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 2, &why));
  CHECK_TEXT("2", json_of(store, "k"));
}

static void expect_locked(const char *file) {
  kept_options options = standard();
  char *explanation = NULL;
  kept_store *store = open_with(IDENTIFIER, &options);
  CHECK_TEXT("1", json_of(store, "k"));
  EXPECT(KEPT_LOCKED, kept_set_int64(store, "k", 2, &why));
  CHECK(strstr(why.message, file) != NULL);
  EXPECT(KEPT_OK, kept_explain_json(store, "k", &explanation, &why));
  CHECK(explanation != NULL && strstr(explanation, file) != NULL);
  kept_free(explanation);
}

static void expect_refused(const char *managed, const char *words) {
  kept_options options = standard();
  kept_store *store = NULL;
  options.managed = managed;
  EXPECT(KEPT_UNAVAILABLE, kept_open(IDENTIFIER, &options, &store, &why));
  if (strstr(why.message, words) == NULL) CHECK_TEXT(words, why.message);
}

/* Roles. Each runs in a process of its own. */

ROLE(opens_without_files, home) {
  empty_system();
  enter_sandbox(home, OWN_USER);
  expect_free();
}

ROLE(opens_without_files_and_without_a_user, home) {
  empty_system();
  enter_sandbox(home, NULL);
  expect_free();
}

ROLE(opens_with_a_file, home) {
  empty_system();
  administer(MANAGED, locks);
  enter_sandbox(home, OWN_USER);
  expect_locked(MANAGED);
}

ROLE(opens_with_a_file_and_without_a_user, home) {
  empty_system();
  administer(MANAGED, locks);
  enter_sandbox(home, NULL);
  expect_locked(MANAGED);
}

ROLE(opens_with_a_file_that_others_may_write, home) {
  empty_system();
  administer(MANAGED, locks);
  CHECK_INT(0, chmod("/etc/kept/" IDENTIFIER, 0777));
  enter_sandbox(home, OWN_USER);
  expect_refused(KEPT_STANDARD_FILE, "chmod go-w");
}

/* Elsewhere the owner may be any user of the host. */
ROLE(opens_with_a_file_elsewhere, home) {
  const char *folder = file_of(home, "other"), *path = file_of(folder, "managed.json");
  CHECK_INT(0, mkdir(folder, 0755));
  put_file(path, locks);
  CHECK_INT(0, chown(path, OTHER, OTHER) | chown(folder, OTHER, OTHER));
  empty_system();
  CHECK_INT(0, symlink(folder, "/etc/linked"));
  CHECK_INT(0, mkdir("/etc/folder", 0755));
  enter_sandbox(home, OWN_USER);
  expect_refused(path, "user namespace");
  expect_refused("/etc/linked/managed.json", "user namespace");
  /* Not the way there by its text. */
  expect_refused(file_of("/etc/folder/../..", path), "user namespace");
  kept_options options = standard();
  options.managed = file_of(folder, "none.json");
  EXPECT(KEPT_OK, kept_set_int64(open_with(IDENTIFIER, &options), "k", 2, &why));
}

ROLE(opens_where_the_host_is_shown, home) {
  empty_system();
  administer(HOST MANAGED, locks);
  enter_sandbox(home, OWN_USER);
  expect_locked(HOST MANAGED);
}

/* As NixOS has it: links of the host lead to files of the host. */
ROLE(opens_where_the_host_has_links, home) {
  empty_system();
  administer(HOST "/nix/store/x/" IDENTIFIER "/managed.json", locks);
  CHECK_INT(0, mkdir(HOST "/etc", 0755) | symlink("/nix/store/x", HOST "/etc/kept"));
  enter_sandbox(home, OWN_USER);
  expect_locked(HOST MANAGED);
}

ROLE(opens_where_a_link_leads_out_of_the_sandbox, home) {
  empty_system();
  CHECK_INT(0, symlink("/nowhere/kept", "/etc/kept"));
  enter_sandbox(home, OWN_USER);
  expect_refused(KEPT_STANDARD_FILE, "/nowhere/kept");
}

/* Both lock; a value of the host goes before one of the sandbox. */
ROLE(opens_with_files_in_both, home) {
  empty_system();
  administer(HOST MANAGED, "{\"values\":{\"k\":1},\"locked\":[\"host\"]}");
  administer(MANAGED, "{\"values\":{\"k\":3,\"own\":4},\"lockedPrefixes\":[\"inside.\"]}");
  administer(HOST SYSTEM, "{\"values\":{\"s\":5}}");
  administer(SYSTEM, "{\"values\":{\"s\":6,\"t\":7}}");
  enter_sandbox(home, OWN_USER);
  expect_locked(HOST MANAGED);
  kept_options options = standard();
  kept_store *store = open_with(IDENTIFIER, &options);
  EXPECT(KEPT_LOCKED, kept_set_int64(store, "host", 2, &why));
  CHECK(strstr(why.message, HOST MANAGED) != NULL);
  EXPECT(KEPT_LOCKED, kept_set_int64(store, "inside.a", 2, &why));
  CHECK(strstr(why.message, "layer, " MANAGED) != NULL);
  CHECK_TEXT("4", json_of(store, "own"));
  CHECK_TEXT("5", json_of(store, "s"));
  CHECK_TEXT("7", json_of(store, "t"));
}

ROLE(opens_where_a_file_of_the_host_is_wrong, home) {
  empty_system();
  administer(HOST MANAGED, "none");
  administer(MANAGED, locks);
  enter_sandbox(home, OWN_USER);
  expect_refused(KEPT_STANDARD_FILE, HOST MANAGED);
}

/* A mounted ConfigMap, with the links, owners and modes that Kubernetes gives it. */
static void mount_config_map(void) {
  administer("/run/volume/..2026_11_26/managed.json", locks);
  CHECK_INT(0, symlink("..2026_11_26", "/run/volume/..data"));
  CHECK_INT(0, symlink("..data/managed.json", "/run/volume/managed.json") | chmod("/run/volume", 0777));
  CHECK_INT(0, mkdir("/etc/kept", 0755) | mkdir("/etc/kept/" IDENTIFIER, 0755));
  CHECK_INT(0, mount("/run/volume", "/etc/kept/" IDENTIFIER, NULL, MS_BIND, NULL));
}

static void mount_config_map_read_only(void) {
  mount_config_map();
  CHECK_INT(0, mount(NULL, "/etc/kept/" IDENTIFIER, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
}

ROLE(opens_with_a_config_map, home) {
  empty_system();
  mount_config_map_read_only();
  CHECK_INT(0, setenv("XDG_CONFIG_HOME", home, 1));
  expect_locked(MANAGED);
}

ROLE(opens_with_a_config_map_in_a_sandbox, home) {
  empty_system();
  mount_config_map_read_only();
  enter_sandbox(home, OWN_USER);
  expect_locked(MANAGED);
}

/* Any user may write to its folder as long as it is not mounted read-only. */
ROLE(opens_with_a_config_map_that_others_may_write, home) {
  empty_system();
  mount_config_map();
  CHECK_INT(0, setenv("XDG_CONFIG_HOME", home, 1));
  expect_refused(KEPT_STANDARD_FILE, "chmod go-w");
  /* A service whose whole system is read-only has not mounted that folder. */
  CHECK_INT(0, umount("/etc/kept/" IDENTIFIER) | chmod("/etc/kept/" IDENTIFIER, 0777));
  administer(MANAGED, locks);
  CHECK_INT(0, mount(NULL, "/etc", NULL, MS_REMOUNT | MS_RDONLY, NULL));
  expect_refused(KEPT_STANDARD_FILE, "chmod go-w");
}

ROLE(finds_no_sandbox, home) {
  if (unshare(CLONE_NEWNS) != 0 || unshare(CLONE_NEWUSER) != 0) exit(77);
}

/* Tests */

static void play(const char *role) {
  if (!has_other_user()) return;
  const char *home = fresh_folder();
  CHECK_INT(0, mkdir(home, 0755) | chmod(file_of(home, ".."), 0755));
  child child = start_child("finds_no_sandbox", home);
  if (finish_child(&child) == 77) {
    fprintf(stderr, "left out, as no namespace can be made here\n");
    return;
  }
  play_child(role, home);
}

FOLDER_TEST(no_file_locks_nothing) {
  play("opens_without_files");
  play("opens_without_files_and_without_a_user");
}

FOLDER_TEST(a_file_below_etc_locks) {
  play("opens_with_a_file");
  play("opens_with_a_file_and_without_a_user");
}

FOLDER_TEST(a_file_that_others_may_write_is_refused) { play("opens_with_a_file_that_others_may_write"); }

FOLDER_TEST(a_file_elsewhere_of_an_unknown_owner_is_refused) { play("opens_with_a_file_elsewhere"); }

FOLDER_TEST(files_of_the_host_lock) {
  play("opens_where_the_host_is_shown");
  play("opens_where_the_host_has_links");
  play("opens_with_files_in_both");
  play("opens_where_a_file_of_the_host_is_wrong");
}

FOLDER_TEST(a_link_that_leads_nowhere_is_refused) { play("opens_where_a_link_leads_out_of_the_sandbox"); }

FOLDER_TEST(a_config_map_locks_where_it_is_mounted_read_only) {
  play("opens_with_a_config_map");
  play("opens_with_a_config_map_in_a_sandbox");
  play("opens_with_a_config_map_that_others_may_write");
}
