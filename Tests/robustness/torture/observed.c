/* Every change is delivered to every process, in order. Processes write with several threads; processes observe keys
 * and prefixes, with callbacks from the library, from their own loop and from a poll. The notices of each are compared
 * with the commits. The comparison must also find the faults that are inserted into a copy of it. */
#include "delivery_check.h"
#include "torture.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PROCESSES = 5, FIRST_OBSERVER = 2, OBSERVERS = PROCESSES - FIRST_OBSERVER, SUBSCRIPTIONS = 7, CLOSER = 9 };
/* Processes 0 and 1 only write, with two threads each; 2 writes on both of its handles and observes; 3 and 4 only
 * observe. */
enum { WRITERS = 6, TRANSACTIONS = 250, BY_LIBRARY = 0, BY_HOST = 1 };

typedef struct writer {
  handle handle;
  int number;
  uint64_t random;
  kept_store *store;
} writer;

static struct shared {
  int64_t subscribed, written, closed_at;
  truth truth;
  record records[OBSERVERS][SUBSCRIPTIONS];
} *shared;

static const char *folder;
static int64_t delivered, merged, slowest_ns;
static unsigned inserted;

/* Writing */

static kept_store *open_as(int process, int number) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  char tag[16];
  snprintf(tag, sizeof tag, "%d.%d", process, number);
  options.tag = tag;
  options.busy_timeout_ms = 30000;
  options.delivery = number == BY_HOST ? KEPT_BY_HOST : KEPT_BY_LIBRARY;
  expect_ok(kept_open(folder, &options, &store, &why), "open");
  return store;
}

static kept_status set(kept_store *store, edit edit) {
  char name[KEY_LENGTH];
  name_of(name, edit.key);
  return edit.value != 0 ? kept_set_int64(store, name, edit.value, &why) : kept_set_json(store, name, "null", &why);
}

static kept_status try_to_commit(kept_store *store, const transaction *wanted, uint64_t *revision) {
  kept_store *together = NULL;
  expect_ok(kept_begin(store, NULL, &together, &why), "begin");
  for (int i = 0; i < wanted->edit_count; i++) {
    kept_status status = set(together, wanted->edits[i]);
    if (status != KEPT_OK) return kept_rollback(together), status;
  }
  return kept_commit(together, revision, &why);
}

/* Removing a key reads whether it exists, and conflicts if another process has changed it since. */
static uint64_t commit(kept_store *store, const transaction *wanted) {
  uint64_t revision = 0;
  kept_status status;
  do status = try_to_commit(store, wanted, &revision);
  while (status == KEPT_CONFLICT);
  expect_ok(status, "commit");
  return revision;
}

/* No other thread writes the writer's counter, so its revision is that of the write. */
static uint64_t set_alone(kept_store *store, edit edit) {
  char name[KEY_LENGTH];
  uint64_t revision = 0;
  expect_ok(set(store, edit), "set");
  expect_ok(kept_revision_of(store, name_of(name, edit.key), &revision, &why), "read the revision");
  return revision;
}

static void testify(const transaction *done, uint64_t revision) {
  if (revision == 0 || revision >= MOST_REVISIONS) fail("revision %" PRIu64 " of a commit", revision);
  transaction *place = &shared->truth.at[revision];
  if (place->is_known) fail("two commits have revision %" PRIu64, revision);
  *place = *done;
  place->is_known = true;
}

static void change_pair(transaction *wanted, int pair, int64_t value) {
  for (int i = 0; i < wanted->edit_count; i++)
    if (wanted->edits[i].key == 2 * pair) return;
  wanted->edits[wanted->edit_count++] = (edit){ 2 * pair, value };
  wanted->edits[wanted->edit_count++] = (edit){ 2 * pair + 1, -value };
}

static void write_next(writer *writer, int64_t count) {
  transaction next = { .author = writer->handle };
  next.edits[next.edit_count++] = (edit){ FIRST_COUNTER + writer->number, count };
  for (uint64_t pairs = random_below(&writer->random, 4); pairs > 0; pairs--) {
    int64_t value = random_below(&writer->random, 5) == 0 ? 0 : count * WRITERS + writer->number;
    change_pair(&next, (int)random_below(&writer->random, PAIRS), value);
  }
  testify(&next, next.edit_count == 1 ? set_alone(writer->store, next.edits[0]) : commit(writer->store, &next));
}

/* Sometimes in a burst, sometimes with a pause, so that some notices are coalesced and some are not. */
static void *write_all(void *own) {
  writer *writer = own;
  await_word(&shared->subscribed, OBSERVERS, "no observer subscribed");
  for (int64_t count = 1; count <= TRANSACTIONS; count++) {
    write_next(writer, count);
    if (random_below(&writer->random, 3) == 0) let_pass(random_below(&writer->random, 1500));
  }
  add(&shared->written, 1);
  return NULL;
}

static void start_writing(pthread_t *thread, writer *writer, handle handle, int number, kept_store *store) {
  uint64_t random = seed ^ (uint64_t)(round_now * WRITERS + (unsigned)number + 1) << 20;
  *writer = (struct writer){ handle, number, random, store };
  if (pthread_create(thread, NULL, write_all, writer) != 0) fail("no thread");
}

static void write_only(void *own) {
  int process = *(int *)own;
  pthread_t threads[2];
  writer writers[2];
  kept_store *store = open_as(process, BY_LIBRARY);
  for (int i = 0; i < 2; i++) {
    start_writing(&threads[i], &writers[i], (handle){ process, BY_LIBRARY }, 2 * process + i, store);
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  kept_close(store);
}

/* Writes every key once more, so that every observer receives the last transaction. */
static void write_last(void *context) {
  kept_store *store = open_as(CLOSER, BY_LIBRARY);
  transaction last = { .author = { CLOSER, BY_LIBRARY } };
  for (int pair = 0; pair < PAIRS; pair++) change_pair(&last, pair, 1000000 + pair);
  for (int key = FIRST_COUNTER; key < KEYS; key++) last.edits[last.edit_count++] = (edit){ key, 1000000 + key };
  uint64_t revision = commit(store, &last);
  store_word(&shared->closed_at, now_ns());
  testify(&last, revision);
  store_word(&shared->truth.last, (int64_t)revision);
  kept_close(store);
}

/* Observing */

typedef struct listening {
  int process;
  uint64_t random;
  kept_store *stores[2];
  kept_subscription *subscriptions[SUBSCRIPTIONS];
  record *records;
} listening;

static void receive(void *record, const kept_notice *notice) { write_down(record, notice); }

/* Sometimes slow enough that other callbacks must be called first. */
static void receive_slowly(void *own, const kept_notice *notice) {
  record *record = own;
  write_down(record, notice);
  let_pass(record->notice_count % 64 == 5 ? 120000 : 300);
}

typedef struct ear {
  int store;
  const char *scope;
  uint32_t flags;
  kept_notice_callback callback;
} ear;

enum { POLLED = 3, LATE = 6 };
static const ear ears[SUBSCRIPTIONS] = {
  { BY_LIBRARY, "", KEPT_OBSERVE_PREFIX, receive },
  { BY_LIBRARY, "pair.03.left", KEPT_OBSERVE_KEY, receive },
  { BY_LIBRARY, "pair.", KEPT_OBSERVE_PREFIX, receive_slowly },
  { BY_LIBRARY, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_POLLED, receive },
  { BY_HOST, "", KEPT_OBSERVE_PREFIX, receive },
  { BY_HOST, "count.4", KEPT_OBSERVE_KEY, receive },
  { BY_LIBRARY, "pair.0", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, receive },
};

static void listen(listening *own, int number) {
  const ear *ear = &ears[number];
  record *record = &own->records[number];
  record->observer = (handle){ own->process, ear->store };
  record->is_prefix = ear->flags & KEPT_OBSERVE_PREFIX;
  snprintf(record->scope, sizeof record->scope, "%s", ear->scope);
  expect_ok(kept_observe(own->stores[ear->store], ear->scope, ear->flags, ear->callback, record, NULL,
              &own->subscriptions[number], &why),
    "observe");
}

static bool have_all_received(const listening *own) {
  int64_t last = load(&shared->truth.last);
  for (int i = 0; last > 0 && i < SUBSCRIPTIONS; i++)
    if (load(&own->records[i].received) < last) return false;
  return last > 0;
}

/* The loop of a program that watches two descriptors. */
static void run_loop(listening *own) {
  struct pollfd due[2] = { { .events = POLLIN }, { .events = POLLIN } };
  bool is_late = true;
  int64_t last_call = 0;
  expect_ok(kept_store_fd(own->stores[BY_HOST], &due[0].fd, &why), "get the descriptor");
  expect_ok(kept_subscription_fd(own->subscriptions[POLLED], &due[1].fd, &why), "get the descriptor");
  while (!have_all_received(own)) {
    poll(due, 2, 20);
    size_t most = (size_t)random_below(&own->random, 4);
    if (due[0].revents) expect_ok(kept_store_dispatch(own->stores[BY_HOST], most, NULL, &why), "dispatch");
    if (due[1].revents) {
      expect_ok(kept_subscription_dispatch(own->subscriptions[POLLED], most, NULL, &why), "dispatch");
    }
    if (is_late && random_below(&own->random, 60) == 0) listen(own, LATE), is_late = false;
    if (last_call == 0) last_call = load(&shared->closed_at);
    if (last_call != 0 && is_late) listen(own, LATE), is_late = false;
    if (last_call != 0 && now_ns() - last_call > PATIENCE_SECONDS * INT64_C(1000000000)) {
      fail("the last notice was not delivered");
    }
  }
}

static void listen_all(void *own) {
  int process = *(int *)own;
  listening all = { .process = process, .random = seed + round_now };
  all.records = shared->records[process - FIRST_OBSERVER];
  int writer_count = process == FIRST_OBSERVER ? 2 : 0;
  pthread_t threads[2];
  writer writers[2];
  for (int store = 0; store < 2; store++) all.stores[store] = open_as(process, store);
  for (int i = 0; i < LATE; i++) listen(&all, i);
  add(&shared->subscribed, 1);
  for (int i = 0; i < writer_count; i++) {
    start_writing(&threads[i], &writers[i], (handle){ process, i }, 4 + i, all.stores[i]);
  }
  run_loop(&all);
  for (int i = 0; i < writer_count; i++) pthread_join(threads[i], NULL);
  for (int store = 0; store < 2; store++) kept_close(all.stores[store]);
}

/* Comparing */

static void check(const record *record) {
  char why[200];
  if (!agrees(&shared->truth, record, why, sizeof why)) {
    fail("process %d, handle %d, \"%s\": %s", record->observer.process, record->observer.number, record->scope, why);
  }
  if (record->received_at - shared->closed_at > slowest_ns) slowest_ns = record->received_at - shared->closed_at;
  delivered += (int64_t)record->notice_count;
  for (size_t i = 0; i < record->notice_count; i++) merged += record->notices[i].first != record->notices[i].last;
}

static void lose_notice(record *record, size_t at) {
  memmove(&record->notices[at], &record->notices[at + 1], (--record->notice_count - at) * sizeof(notice));
}

/* Delivers its first change alone, and the others in a later notice of the same transactions. */
static void split_notice(record *record, size_t at) {
  memmove(&record->notices[at + 1], &record->notices[at], (record->notice_count++ - at) * sizeof(notice));
  record->notices[at].count = 1;
  record->notices[at + 1].begin++;
  record->notices[at + 1].count--;
}

/* Gives each notice the revisions of the other, so that only the values reveal it. */
static void swap_notices(record *record, size_t at) {
  notice first = record->notices[at], second = record->notices[at + 1];
  record->notices[at].begin = second.begin;
  record->notices[at].count = second.count;
  record->notices[at + 1].begin = first.begin;
  record->notices[at + 1].count = first.count;
}

static void expect_rejected(const record *received, void (*plant)(record *, size_t), size_t at, const char *what) {
  static record planted;
  char why[200];
  planted = *received;
  plant(&planted, at);
  if (agrees(&shared->truth, &planted, why, sizeof why)) fail("notice %zu %s, and nothing was noticed", at, what);
  if (round_now == 0) printf("  notice %zu %s: %s\n", at, what, why);
}

/* Fails unless the comparison finds every inserted fault. An observer that a busy machine lets run late receives
 * everything in a few notices, where nothing can be inserted. */
static void expect_faults_found(const record *received, uint64_t *random) {
  if (received->notice_count < 4) return;
  inserted++;
  size_t at = (size_t)random_below(random, received->notice_count - 2);
  expect_rejected(received, lose_notice, at, "lost");
  expect_rejected(received, swap_notices, at, "swapped with the next");
  while (received->notices[at].count < 2) at = (at + 1) % received->notice_count;
  expect_rejected(received, split_notice, at, "split");
}

/* Rounds */

static void play_round(uint64_t *random) {
  pid_t processes[PROCESSES];
  int numbers[PROCESSES];
  folder = fresh_folder();
  memset(shared, 0, sizeof *shared);
  for (int i = 0; i < PROCESSES; i++) {
    numbers[i] = i;
    processes[i] = start(i < FIRST_OBSERVER ? write_only : listen_all, &numbers[i]);
  }
  await_word(&shared->written, WRITERS, "the writers did not come to an end");
  finish(start(write_last, NULL));
  for (int i = 0; i < PROCESSES; i++) finish(processes[i]);
  for (int i = 0; i < OBSERVERS * SUBSCRIPTIONS; i++) check(&shared->records[i / SUBSCRIPTIONS][i % SUBSCRIPTIONS]);
  expect_faults_found(&shared->records[round_now % OBSERVERS][POLLED], random);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_round);
  if (inserted == 0) fail("no round had enough notices to insert faults");
  return end_torture("%u transactions, %d subscriptions in %d processes, %" PRId64 " notices, %" PRId64 " of several "
                     "transactions; the last arrived after %.1f ms at most, also at slow observers",
    rounds * (WRITERS * TRANSACTIONS + 1), OBSERVERS * SUBSCRIPTIONS, OBSERVERS, delivered, merged,
    (double)slowest_ns / 1e6);
}
