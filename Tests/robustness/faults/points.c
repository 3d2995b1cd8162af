/* Every point at which the system can fail: each scene of a store's life is repeated, and fails at its first call, its
 * second, its third ..., once or from there on, until none is left. A failure is reported with the right status, this
 * process and others see the old state, and as soon as the system works again, so does the store, without being
 * reopened; only a store that was opened without room to write is open for reading alone, and says so. */
#include "expectations.h"
#include "processes.h"
#include "failing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* All of the first points are tried, and some of those in the long middle of a checkpoint. */
enum { EVERY_POINT = 60, END_OF_POINTS = 1 << 20, BIG = 1 << 20, BIGS = 5 };

static struct shared {
  int64_t failures, wants_writer, others_wrote, has_played, was_seen, least, most;
} *shared;

static const char *folder;
static kept_store *store;

/* Failures */

static const struct failure {
  const char *name;
  int error;
  unsigned kinds;
} failures[] = {
  { "ENOSPC", ENOSPC, CALL_CREATE | CALL_WRITE },
  { "ENOSPC at a sync", ENOSPC, CALL_SYNC },
  { "EDQUOT", EDQUOT, CALL_CREATE | CALL_WRITE },
  { "EIO", EIO, CALL_OPEN | CALL_CREATE | CALL_REMOVE | CALL_WRITE | CALL_SYNC | CALL_READ | CALL_MAP },
  { "EMFILE", EMFILE, CALL_OPEN | CALL_CREATE },
  { "EACCES", EACCES, CALL_OPEN | CALL_CREATE | CALL_REMOVE },
  { "EROFS", EROFS, CALL_CREATE | CALL_REMOVE | CALL_WRITE },
  { "ENOMEM", ENOMEM, CALL_MAP },
};

/* Scenes */

static void nothing(void) {}

static void just_open(void) { store = open_store(folder, KEPT_SHARED, 200); }

static void open_it(void) {
  int64_t number = 0;
  just_open();
  expect_ok(kept_get_int64(store, "number", &number, &why), "read");
}

static void open_and_write(void) {
  open_it();
  expect_ok(set_both(store, 1, KEPT_SHARED), "write");
  expect_ok(kept_set_int64(store, "other", 1, &why), "write");
}

static void write_as_another(void *unused) {
  just_open();
  expect_ok(kept_set_int64(store, "number", 2, &why), "write as another");
  /* Not closed, so the log remains. */
}

/* The first process starts the writer: a fork here would close this process's connections. */
static void open_and_let_others_write(void) {
  open_it();
  store_word(&shared->wants_writer, 1);
  await_word(&shared->others_wrote, 1, "no other process wrote");
}

static kept_status play_open(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.busy_timeout_ms = 200;
  return kept_open(folder, &options, &store, &why);
}

static kept_status play_read(void) {
  int64_t first = 0;
  kept_status status = kept_get_int64(store, "first", &first, &why);
  if (status == KEPT_OK && first != 1) fail("read %" PRId64 " where 1 is", first);
  return status;
}

static kept_status play_transaction(void) { return set_both(store, 2, KEPT_SHARED); }

static kept_status play_durable(void) { return set_both(store, 2, KEPT_DURABLE); }

static kept_status play_set(void) { return kept_set_int64(store, "number", 2, &why); }

static kept_status play_flush(void) { return kept_flush(store, &why); }

static kept_status play_close(void) {
  kept_close(store);
  return KEPT_OK;
}

/* Enough data for a checkpoint, which the maintenance thread makes. */
static kept_status play_checkpoint(void) {
  static char text[BIG];
  memset(text, 'x', BIG);
  kept_status status = KEPT_OK;
  for (int i = 0; i < BIGS && status == KEPT_OK; i++) {
    char key[16];
    snprintf(key, sizeof key, "big%d", i);
    status = kept_set_string(store, key, text, BIG, &why);
  }
  return status;
}

static kept_status play_observe(void) {
  kept_subscription *subscription = NULL;
  kept_status status =
    kept_observe(store, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, ignore_notice, NULL, NULL, &subscription, &why);
  kept_unobserve(subscription);
  return status;
}

/* A fork closes the connections; the parent reopens them. */
static kept_status play_fork(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  end_of(child);
  return set_both(store, 2, KEPT_SHARED);
}

/* In the child, without the connections of its parent. */
static kept_status play_forked(void) {
  pid_t child = fork();
  if (child == 0) {
    store_word(&shared->failures, 0);
    kept_status played = set_both(store, 2, KEPT_SHARED);
    store_word(&shared->failures, end_failure());
    if (played != KEPT_OK && strchr(why.message, ';') == NULL) _exit(100);
    _exit(-played);
  }
  int status = end_of(child);
  if (status < 0 || status == 100) fail("the child died, or gave no advice");
  snprintf(why.message, sizeof why.message, "see the child;");
  return why.status = -status;
}

enum { NEW = 1, LOGGED = 2, WRITES = 4, MAY_STAND = 8, CLOSES = 16 };

/* LOGGED: a killed writer has left a log.
 * MAY_STAND: a durable commit that could not be synced may be visible. */
static const struct scene {
  const char *name;
  void (*prepare)(void);
  kept_status (*play)(void);
  unsigned traits;
} scenes[] = {
  { "first opening", nothing, play_open, NEW },
  { "opening", nothing, play_open, 0 },
  { "opening with a log", nothing, play_open, LOGGED },
  { "first read", just_open, play_read, 0 },
  { "reading what others wrote", open_and_let_others_write, play_read, 0 },
  { "set", open_it, play_set, 0 },
  { "transaction", open_it, play_transaction, WRITES },
  { "durable", open_it, play_durable, WRITES | MAY_STAND },
  { "checkpoint", open_it, play_checkpoint, 0 },
  { "flush", open_and_write, play_flush, 0 },
  { "close", open_and_write, play_close, CLOSES },
  { "observe", open_it, play_observe, 0 },
  { "fork", open_and_write, play_fork, WRITES },
  { "forked", open_and_write, play_forked, WRITES },
};

/* One round */

static struct round {
  const struct scene *scene;
  const struct failure *failure;
  long point;
  bool for_ever;
} current;

/* If a failure was over when it was reported, the reason may be no more precise than "unavailable". */
static void expect_reason(kept_status status) {
  kept_status wanted = status_of(current.failure->error);
  if (status == KEPT_UNAVAILABLE && !current.for_ever) wanted = status;
  if (status != KEPT_OK) expect_status(wanted, status, what);
}

static void read_meanwhile(void) {
  int64_t number = 0;
  kept_status status = kept_get_int64(store, "number", &number, &why);
  /* Reading works without room to write, except if the connection was closed by a fork and must be reopened. */
  bool may_fail = current.scene->play == play_fork || current.failure->kinds & (CALL_OPEN | CALL_READ | CALL_MAP);
  if (status == KEPT_OK ? number < 1 || number > 2 : !may_fail) {
    fail("reading during the fault gives %" PRId64 ", \"%s\"", number, kept_status_text(status));
  }
  expect_reason(status);
}

/* A store that was opened without room for the files that writing needs can be read, and says what to do. */
static void close_if_read_only(void) {
  kept_status status = set_both(store, 1, KEPT_SHARED);
  if (status == KEPT_OK) return;
  expect_status(KEPT_NO_SPACE, status, what);
  if (strstr(why.message, "closed and opened again") == NULL) fail("no advice: %s", why.message);
  if (get_both(store) != 1) fail("a store open for reading only has other values");
  kept_close(store);
  store = NULL;
}

static void go_on(kept_status status) {
  const struct scene *scene = current.scene;
  if (scene->traits & CLOSES) return;
  if (store == NULL) expect_ok(play_open(), what);
  if (!(scene->traits & NEW)) {
    int64_t found = get_both(store);
    if (found < load(&shared->least) || found > load(&shared->most)) {
      fail("this process reads %" PRId64 " after \"%s\"", found, kept_status_text(status));
    }
  }
  store_word(&shared->has_played, 1);
  await_word(&shared->was_seen, 1, "no other process opened the store");
  if (kept_store_generation(store) == NULL) fail("no generation");
  expect_ok(set_both(store, 3, KEPT_SHARED), what);
  expect_ok(set_both(store, 4, KEPT_DURABLE), what);
  expect_ok(kept_flush(store, &why), what);
  if (get_both(store) != 4) fail("a later write is missing");
  if (__atomic_load_n(kept_store_generation(store), __ATOMIC_SEQ_CST) % 2 == 1) fail("the generation is odd");
  kept_close(store);
}

static void play(void *unused) {
  const struct scene *scene = current.scene;
  const struct failure *failure = current.failure;
  failing_folder(folder);
  scene->prepare();
  plan_failure(failure->error, failure->kinds, current.point, current.for_ever);
  kept_status status = scene->play();
  if (scene->play != play_forked && current.for_ever && store && !(scene->traits & (CLOSES | NEW))) read_meanwhile();
  long failed = end_failure();
  if (scene->play != play_forked) store_word(&shared->failures, failed);
  expect_reason(status);
  if (status != KEPT_OK && load(&shared->failures) == 0) fail("failed by itself: %s", why.message);
  bool writes = scene->traits & WRITES;
  store_word(&shared->least, writes && status == KEPT_OK ? 2 : 1);
  store_word(&shared->most, writes && (status == KEPT_OK || scene->traits & MAY_STAND) ? 2 : 1);
  bool lacks_room = status_of(failure->error) == KEPT_NO_SPACE && failed > 0;
  if (scene->play == play_open && status == KEPT_OK && lacks_room && !(scene->traits & NEW)) close_if_read_only();
  go_on(status);
}

/* Waits until the player has reached this step, or has found a failure. */
static void await_player(pid_t player, const int64_t *word) {
  siginfo_t end = { .si_pid = 0 };
  for (int64_t begin = now_ns(); load(word) == 0; let_pass(50)) {
    if (waitid(P_PID, (id_t)player, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == player) finish(player);
    if (now_ns() - begin > PATIENCE_SECONDS * INT64_C(1000000000)) fail("it hangs");
  }
}

static bool play_round(void) {
  snprintf(what, sizeof what, "%s, %s at point %ld%s", current.scene->name, current.failure->name, current.point,
    current.for_ever ? " and after it" : "");
  folder = fresh_folder();
  *shared = (struct shared){ 0 };
  if (!(current.scene->traits & NEW)) make_store(folder);
  if (current.scene->traits & LOGGED) finish(start(write_as_another, NULL));
  bool is_tidy = !(current.failure->kinds & CALL_REMOVE);
  pid_t player = start(play, NULL);
  if (current.scene->prepare == open_and_let_others_write) {
    await_player(player, &shared->wants_writer);
    finish(start(write_as_another, NULL));
    store_word(&shared->others_wrote, 1);
  }
  if (!(current.scene->traits & (CLOSES | NEW))) {
    await_player(player, &shared->has_played);
    expect_whole(folder, load(&shared->least), load(&shared->most), is_tidy);
  }
  store_word(&shared->was_seen, 1);
  finish(player);
  int64_t last = current.scene->traits & CLOSES ? 1 : 4;
  expect_whole(folder, last, last, is_tidy);
  return load(&shared->failures) > 0;
}

static long next(long point) { return point < EVERY_POINT ? point + stride() : point + point / 4; }

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  shared = share(sizeof *shared);
  /* Runs only the scene of this name, for debugging. */
  const char *only = getenv("KEPT_SCENE");
  unsigned points = 0;
  for (size_t s = 0; s < COUNT(scenes); s++) {
    if (only && strcmp(only, scenes[s].name) != 0) continue;
    unsigned before = points;
    for (size_t f = 0; f < COUNT(failures); f++) {
      for (int for_ever = 0; for_ever < 2; for_ever++) {
        for (long point = 1;; point = next(point), points++) {
          current = (struct round){ &scenes[s], &failures[f], point, for_ever };
          if (!play_round()) break;
          if (point > END_OF_POINTS) fail("there is no end");
        }
      }
    }
    printf("%s: %u points\n", scenes[s].name, points - before);
    fflush(stdout);
  }
  return end_torture("%u failures, each reported and survived", points);
}
