/* A store on a file system of its own, mounted for the test: processes share it, a writer is killed, everything that
 * was acknowledged is there, and after the file system was mounted again, too.
 *   mounts ext4 | xfs | btrfs | tmpfs | overlayfs [ROUNDS SEED]
 * Where that cannot be made or mounted, the program says so, and CTest marks the test as skipped. */
#include "namespace.h"
#include "torture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* btrfs wants 109 MiB and more, xfs 300. */
enum { MEBIBYTES = 320, WRITES = 300, LARGE = 140000 };

static struct shared {
  int64_t is_mounted, begun, acknowledged, stop, reads;
} *shared;

static char place[4400], folder[4500];

/* Mounting */

static bool make_mount(const char *kind) {
  const char *base = fresh_folder();
  snprintf(place, sizeof place, "%s/place", base);
  snprintf(folder, sizeof folder, "%s/store", place);
  if (!enter_namespace(false) || mkdir(base, 0700) != 0 || mkdir(place, 0700) != 0) return false;
  if (strcmp(kind, "tmpfs") == 0) return mount("kept", place, "tmpfs", 0, "size=64m") == 0;
  if (strcmp(kind, "overlayfs") == 0) {
    char layers[16000];
    if (!runs("mkdir '%s/lower' '%s/upper' '%s/work'", base, base, base)) return false;
    snprintf(layers, sizeof layers, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", base, base, base);
    return mount("kept", place, "overlay", 0, layers) == 0;
  }
  return runs("truncate -s %dM '%s/image' && mkfs.%s -q '%s/image'", MEBIBYTES, base, kind, base) &&
    runs("mount -t %s -o loop '%s/image' '%s'", kind, base, place);
}

/* Stored values must be on the disk, not only in memory. */
static void mount_again(const char *kind) {
  if (strcmp(kind, "tmpfs") == 0 || strcmp(kind, "overlayfs") == 0) return;
  if (!runs("umount '%s' && mount -t %s -o loop '%s/../image' '%s'", place, kind, place, place)) {
    fail("%s cannot be mounted again", kind);
  }
}

/* The processes */

static void write_on(void *unused) {
  static char text[LARGE];
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  memset(text, 'x', LARGE);
  while (!load(&shared->stop)) {
    kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
    kept_store *both = NULL;
    int64_t number = load(&shared->acknowledged) + 1;
    store_word(&shared->begun, number);
    options.durability = number % 10 == 0 ? KEPT_DURABLE : KEPT_SHARED;
    expect_ok(kept_begin(store, &options, &both, &why), "begin");
    expect_ok(kept_set_int64(both, "left", number, &why), "write");
    expect_ok(kept_set_string(both, "text", text, number % 20 ? 3000 : LARGE, &why), "write");
    expect_ok(kept_set_int64(both, "right", number, &why), "write");
    expect_ok(kept_commit(both, NULL, &why), "commit");
    store_word(&shared->acknowledged, number);
  }
  kept_close(store);
}

static void look(kept_store *store) {
  kept_store *snapshot = NULL;
  int64_t least = load(&shared->acknowledged), left = 0, right = 0;
  expect_ok(kept_snapshot(store, "", &snapshot, &why), "read all");
  if (kept_get_int64(snapshot, "left", &left, NULL) == KEPT_OK) {
    expect_ok(kept_get_int64(snapshot, "right", &right, &why), "read");
  }
  kept_snapshot_end(snapshot);
  if (left != right || left < least || left > load(&shared->begun)) {
    fail("found %" PRId64 " and %" PRId64 ", though %" PRId64 " was acknowledged", left, right, least);
  }
  add(&shared->reads, 1);
}

static void look_on(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  while (!load(&shared->stop)) look(store);
  kept_close(store);
}

static void look_once(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  look(store);
  kept_close(store);
}

static void play(void *kind) {
  if (!make_mount(kind)) return;
  store_word(&shared->is_mounted, 1);
  for (int day = 0; day < 3; day++) {
    int64_t before = load(&shared->acknowledged);
    store_word(&shared->stop, 0);
    pid_t writer = start(write_on, NULL), reader = start(look_on, NULL);
    await_word(&shared->acknowledged, before + WRITES / 2, "nothing was written");
    kill_now(writer);
    /* Another continues while the reader has the store open. */
    writer = start(write_on, NULL);
    await_word(&shared->acknowledged, before + WRITES, "nothing was written after the kill");
    await_word(&shared->reads, 10, "nothing was read");
    store_word(&shared->stop, 1);
    finish(writer);
    finish(reader);
    finish(start(look_once, NULL));
    mount_again(kind);
    finish(start(look_once, NULL));
  }
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  begin_torture(argc - 1, argv + 1, 1);
  shared = share(sizeof *shared);
  finish(start(play, argv[1]));
  bool is_mounted = load(&shared->is_mounted);
  int status = end_torture("%s", is_mounted ? "mounted" : "cannot be made or mounted here");
  return is_mounted ? status : SKIPPED;
}
