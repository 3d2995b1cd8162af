/* Linearizability: processes and threads read, write, remove and compare-and-set a few keys, and each history must be
 * one that a single register could produce. The checker is tested on faulty histories first. */
#include "history.h"
#include "torture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
  PROCESSES = 3,
  THREADS = 2,
  KEYS = 3,
  OPERATIONS = 60,
  CLIENTS = PROCESSES * THREADS,
  MOST_PER_KEY = MOST_OPERATIONS / CLIENTS
};

static struct shared {
  int64_t ready;
  struct client {
    int number;
    uint64_t random;
    int counts[KEYS];
    operation operations[KEYS][MOST_PER_KEY];
  } clients[CLIENTS];
} *shared;

static const char *folder;
static kept_store *store;

/* Clients */

static const char *const keys[KEYS] = { "first", "second", "third" };

static int64_t current_value(const char *key) {
  int64_t value = 0;
  kept_status status = kept_get_int64(store, key, &value, &why);
  if (status != KEPT_ABSENT) expect_ok(status, "read");
  return value;
}

static void read_key(operation *operation, const char *key) {
  operation->kind = READ;
  operation->found = current_value(key);
}

static void write_key(operation *operation, const char *key) {
  operation->kind = WRITE;
  expect_ok(kept_set_int64(store, key, operation->put, &why), "write");
}

/* Removing an absent key counts as a read. */
static void remove_key(operation *operation, const char *key) {
  kept_status status = kept_remove(store, key, &why);
  if (status != KEPT_ABSENT) expect_ok(status, "remove");
  operation->kind = status == KEPT_ABSENT ? READ : REMOVE;
  operation->found = operation->put = 0;
}

/* The revision belongs to the value if the value is the same before and after it; otherwise this is only a read. */
static void compare_and_set(operation *operation, const char *key) {
  uint64_t revision = 0;
  char json[32];
  int64_t value = current_value(key);
  kept_status status = kept_revision_of(store, key, &revision, &why);
  if (status == KEPT_ABSENT) revision = 0;
  else expect_ok(status, "read the revision");
  int64_t after = current_value(key);
  operation->kind = READ;
  operation->found = after;
  if (value != after || (revision == 0) != (value == 0)) return;
  operation->invoked = now_ns();
  snprintf(json, sizeof json, "%" PRId64, operation->put);
  status = kept_set_json_if(store, key, json, revision, NULL, &why);
  if (status != KEPT_CONFLICT) expect_ok(status, "compare and set");
  operation->kind = status == KEPT_OK ? SWAP : NO_SWAP;
}

/* The same in a transaction. One that conflicts is left out. */
static bool swap_in_transaction(operation *operation, const char *key) {
  kept_store *both = NULL;
  expect_ok(kept_begin(store, NULL, &both, &why), "begin");
  kept_status status = kept_get_int64(both, key, &operation->found, &why);
  if (status == KEPT_ABSENT) operation->found = 0;
  else if (status == KEPT_CONFLICT) return kept_rollback(both), false;
  else expect_ok(status, "read in a transaction");
  expect_ok(kept_set_int64(both, key, operation->put, &why), "write in a transaction");
  status = kept_commit(both, NULL, &why);
  if (status != KEPT_CONFLICT) expect_ok(status, "commit");
  operation->kind = SWAP;
  return status == KEPT_OK;
}

static void operate(struct client *client, int number) {
  int key = (int)random_below(&client->random, KEYS);
  while (client->counts[key] == MOST_PER_KEY) key = (key + 1) % KEYS;
  operation *operation = &client->operations[key][client->counts[key]];
  bool counts = true;
  operation->put = (int64_t)client->number * OPERATIONS + number + 1;
  operation->invoked = now_ns();
  switch (random_below(&client->random, 10)) {
    case 0:
    case 1: write_key(operation, keys[key]); break;
    case 2:
    case 3: compare_and_set(operation, keys[key]); break;
    case 4: counts = swap_in_transaction(operation, keys[key]); break;
    case 5: remove_key(operation, keys[key]); break;
    default: read_key(operation, keys[key]);
  }
  operation->answered = now_ns();
  if (counts) client->counts[key]++;
}

static void *operate_all(void *context) {
  for (int i = 0; i < OPERATIONS; i++) operate(context, i);
  return NULL;
}

static void play_clients(void *context) {
  struct client *first = context;
  pthread_t threads[THREADS];
  store = open_store(folder, KEPT_SHARED, 30000);
  add(&shared->ready, 1);
  await_word(&shared->ready, PROCESSES, "not all clients were ready");
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, operate_all, &first[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  kept_close(store);
}

/* Histories */

static int gather(operation *history, int key) {
  int count = 0;
  for (int i = 0; i < CLIENTS; i++) {
    size_t size = (size_t)shared->clients[i].counts[key];
    memcpy(history + count, shared->clients[i].operations[key], size * sizeof *history);
    count += (int)size;
  }
  return count;
}

static void print_history(const operation *history, int count) {
  static const char *const names[] = { "read", "write", "swap", "no swap", "remove" };
  for (int i = 0; i < count; i++) {
    const operation *now = &history[i];
    fprintf(stderr, "%" PRId64 "–%" PRId64 " %s found %" PRId64 " put %" PRId64 "\n", now->invoked, now->answered,
      names[now->kind], now->found, now->put);
  }
}

static int play_round(uint64_t *random) {
  pid_t processes[PROCESSES];
  operation history[MOST_OPERATIONS];
  int operations = 0;
  folder = fresh_folder();
  memset(shared, 0, sizeof *shared);
  for (int i = 0; i < CLIENTS; i++) {
    shared->clients[i].number = i;
    shared->clients[i].random = random_below(random, UINT64_MAX);
  }
  for (int i = 0; i < PROCESSES; i++) processes[i] = start(play_clients, &shared->clients[i * THREADS]);
  for (int i = 0; i < PROCESSES; i++) finish(processes[i]);
  for (int key = 0; key < KEYS; key++) {
    int count = gather(history, key);
    operations += count;
    if (is_linearizable(history, count)) continue;
    print_history(history, count);
    fail("the history of \"%s\" is not linearizable", keys[key]);
  }
  return operations;
}

/* Histories that the checker must accept or reject */

static void expect_verdict(const char *what, bool wanted, const operation *history, int count) {
  if (is_linearizable(history, count) != wanted) fail("the checker is wrong about %s", what);
}
#define EXPECT_VERDICT(what, wanted, history) expect_verdict(what, wanted, history, (int)COUNT(history))

static void try_checker(void) {
  static const operation good[] = {
    { WRITE, 0, 1, 10, 40 },
    { READ, 0, 0, 15, 20 },
    { READ, 1, 0, 18, 30 },
    { SWAP, 1, 2, 35, 60 },
    { NO_SWAP, 1, 3, 50, 70 },
    { READ, 2, 0, 65, 80 },
  };
  static const operation stale[] = {
    { WRITE, 0, 1, 10, 20 },
    { WRITE, 0, 2, 30, 40 },
    { READ, 1, 0, 50, 60 },
  };
  static const operation lost[] = {
    { WRITE, 0, 1, 10, 20 },
    { SWAP, 1, 2, 30, 60 },
    { SWAP, 1, 3, 35, 65 },
    { READ, 3, 0, 70, 80 },
  };
  static const operation torn[] = {
    { WRITE, 0, 1, 10, 20 },
    { WRITE, 0, 2, 30, 60 },
    { READ, 2, 0, 35, 40 },
    { READ, 1, 0, 45, 50 },
    { READ, 2, 0, 70, 80 },
  };
  EXPECT_VERDICT("a good history", true, good);
  EXPECT_VERDICT("a stale read", false, stale);
  EXPECT_VERDICT("a lost update", false, lost);
  EXPECT_VERDICT("a write that is seen, not seen, and seen again", false, torn);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  try_checker();
  shared = share(sizeof *shared);
  uint64_t random = seed;
  long operations = 0;
  for (round_now = 0; round_now < rounds; round_now++) operations += play_round(&random);
  return end_torture("%u histories of %d clients and %d keys, %ld operations", rounds, CLIENTS, KEYS, operations);
}
