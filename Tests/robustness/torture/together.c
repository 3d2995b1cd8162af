/* Keys that are written together are read together: in snapshots, exports, listings and transactions, by observers from
 * their initial notice on, and by observers that have missed so much that they are told the present state. The values
 * have every size around the limits at which the library keeps them in another way. */
#include "torture.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A commit writes the same number into all keys of its writer, and into its secret now and then, because an old secret
 * is erased. MANY keys are there after every MANY_EACH-th commit, and make it a long one. */
enum { WRITERS = 2, READERS = 2, OBSERVERS = 2, COMMITS = 400, MANY = 40, MANY_EACH = 64 };
enum { SECRET_EACH = 16, MANY_LENGTH = 120000, MOST_LENGTH = 16 << 20, NAME = 48 };

/* Values of more bytes are not copied into an overlay; are not in the history. */
static const size_t limits[] = { 32, 512, 4096, 65536, 128 << 10, 128 << 10, 128 << 10, 256 << 10, 1 << 20 };

static struct shared {
  int64_t stop, snapshots, exports, listings, transactions, reads, initial, notices, resynced;
  struct writer {
    int number;
    int64_t begun, acknowledged;
  } writers[WRITERS];
  /* For each observer, the last number that it has received from each writer. */
  int64_t received[OBSERVERS][WRITERS];
} *shared;

static const char *folder;

/* What one state of a store says of a writer: the number in each of its keys, and 0 for one that is not there. */
typedef struct seen {
  int64_t n, text, secret, even, item;
  int64_t many, different; /* the number in the last of the many keys, and how many have another one */
  int items, many_count;
} seen;

/* A call is refused as busy while an observer is stopped that holds a lock. */
#define EXPECT_DONE(call, what) \
  do { \
    kept_status done = call; \
    while (done == KEPT_BUSY) done = call; \
    expect_ok(done, what); \
  } while (0)

/* Writing */

static const char *name_of(char *name, int writer, const char *key) {
  snprintf(name, NAME, "writer%d.%s", writer, key);
  return name;
}

/* A text that begins with its number and its length. */
static size_t fill(char *text, int64_t number, size_t length) {
  memset(text, 'a' + (int)(number % 26), length);
  int count = snprintf(text, 32, "%" PRId64 ".%zu.", number, length);
  text[count] = 'x';
  return length;
}

static size_t any_length(uint64_t *random) {
  if (random_below(random, 400) == 0) return MOST_LENGTH - (size_t)random_below(random, 3);
  if (random_below(random, 4) == 0) return 32 + (size_t)random_below(random, 300000);
  size_t limit = limits[random_below(random, COUNT(limits))];
  return limit - 4 + (size_t)random_below(random, 9);
}

static void set_text(kept_store *together, struct writer *writer, const char *key, int64_t number, size_t length) {
  static char text[MOST_LENGTH + 32];
  char name[NAME];
  EXPECT_DONE(kept_set_string(together, name_of(name, writer->number, key), text, fill(text, number, length), &why),
    "set a text");
}

static void remove_key(kept_store *together, struct writer *writer, const char *key) {
  char name[NAME];
  EXPECT_DONE(kept_set_json(together, name_of(name, writer->number, key), "null", &why), "remove a key");
}

static void write_many(kept_store *together, struct writer *writer, int64_t number) {
  char key[NAME];
  for (int i = 0; i < MANY; i++) {
    snprintf(key, sizeof key, "many.%03d", i);
    if (number % MANY_EACH == 0) set_text(together, writer, key, number, MANY_LENGTH);
    else remove_key(together, writer, key);
  }
}

static kept_status commit_next(kept_store *store, struct writer *writer, int64_t number, uint64_t *random) {
  char name[NAME], key[NAME];
  kept_store *together = NULL;
  EXPECT_DONE(kept_begin(store, NULL, &together, &why), "begin");
  EXPECT_DONE(kept_set_int64(together, name_of(name, writer->number, "n"), number, &why), "set the number");
  set_text(together, writer, "text", number, any_length(random));
  if (number % SECRET_EACH == 0) set_text(together, writer, "secret", number, any_length(random));
  if (number % 2 == 0) set_text(together, writer, "even", number, any_length(random));
  else remove_key(together, writer, "even");
  snprintf(key, sizeof key, "item.%" PRId64, number);
  EXPECT_DONE(kept_set_bool(together, name_of(name, writer->number, key), true, &why), "add an item");
  snprintf(key, sizeof key, "item.%" PRId64, number - 1);
  remove_key(together, writer, key);
  if (number % MANY_EACH <= 1) write_many(together, writer, number);
  kept_status status = kept_commit(together, NULL, &why);
  if (status != KEPT_CONFLICT && status != KEPT_BUSY) expect_ok(status, "commit");
  return status;
}

static void write_on(void *own) {
  struct writer *writer = own;
  char name[NAME];
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  uint64_t random = seed * 7 + (uint64_t)writer->number + round_now;
  name_of(name, writer->number, "secret");
  char *json = NULL;
  /* Another process may do the same at the same time. */
  while (kept_secrets_json(store, "{\"do\":\"plain\"}", &json, &why) == KEPT_BUSY) {}
  kept_free(json);
  EXPECT_DONE(kept_declare_json(store, name, "{\"type\":\"string\",\"secret\":true}", &why), "declare");
  for (int64_t number = 1; number <= COMMITS; number++) {
    store_word(&writer->begun, number);
    while (commit_next(store, writer, number, &random) != KEPT_OK) {}
    store_word(&writer->acknowledged, number);
  }
  kept_close(store);
}

/* Checking */

/* Returns the number that a text begins with; a text that is torn fails. */
static int64_t number_in(const char *text, size_t length, const char *key) {
  char *end = NULL;
  int64_t number = strtoll(text, &end, 10);
  if (number < 1 || *end != '.' || strtoull(end + 1, NULL, 10) != length) fail("%s is torn: %.32s", key, text);
  char letter = (char)('a' + (int)(number % 26));
  for (size_t at = 32; at < length; at += 509)
    if (text[at] != letter) fail("%s is torn at byte %zu", key, at);
  return number;
}

/* Notes that a key, without its writer, has a number; 0 if it is not there any more. */
static void note(seen *seen, const char *key, int64_t number) {
  if (strcmp(key, "n") == 0) seen->n = number;
  else if (strcmp(key, "text") == 0) seen->text = number;
  else if (strcmp(key, "secret") == 0) seen->secret = number;
  else if (strcmp(key, "even") == 0) seen->even = number;
  else if (strncmp(key, "item.", 5) == 0) {
    seen->items += number != 0 ? 1 : -1;
    if (number != 0) seen->item = strtoll(key + 5, NULL, 10);
  } else if (strncmp(key, "many.", 5) == 0) {
    seen->many_count += number != 0 ? 1 : -1;
    if (number != 0 && seen->many != 0 && number != seen->many) seen->different++;
    seen->many = number;
  } else fail("a key \"%s\" that was not written", key);
}

static void check(const seen *seen, const struct writer *writer, int64_t least, const char *where) {
  int64_t n = seen->n;
  bool has_even = seen->even == (n % 2 == 0 ? n : 0), has_item = seen->items == (n > 0) && (n == 0 || seen->item == n);
  bool has_many = n > 0 && n % MANY_EACH == 0 ? seen->many_count == MANY && seen->many == n && seen->different == 0
                                              : seen->many_count == 0;
  if (seen->text != n || seen->secret != n - n % SECRET_EACH || !has_even || !has_item || !has_many) {
    fail("%s: half of a commit of writer %d: n %" PRId64 ", text %" PRId64 ", secret %" PRId64 ", even %" PRId64
         ", %d items with %" PRId64 ", %d of many with %" PRId64,
      where, writer->number, n, seen->text, seen->secret, seen->even, seen->items, seen->item, seen->many_count,
      seen->many);
  }
  if (n < least || n > load(&writer->begun))
    fail("%s: %" PRId64 ", though %" PRId64 " was acknowledged", where, n, least);
}

/* Reading */

/* What a transaction answers once a key that it has read was changed. */
enum { CHANGED = -1 };

/* The number in a text of the store; 0 if there is none. */
static int64_t text_of(kept_store *store, int writer, const char *key) {
  static char text[MOST_LENGTH + 32];
  char name[NAME];
  size_t length = 0;
  kept_status status = KEPT_BUSY;
  name_of(name, writer, key);
  while (status == KEPT_BUSY) status = kept_get_string(store, name, text, sizeof text, &length, &why);
  if (status == KEPT_ABSENT || status == KEPT_CONFLICT) return status == KEPT_ABSENT ? 0 : CHANGED;
  expect_ok(status, "read a text");
  return number_in(text, length, name);
}

static int64_t number_of(kept_store *store, int writer) {
  char name[NAME];
  int64_t number = 0;
  kept_status status = KEPT_BUSY;
  name_of(name, writer, "n");
  while (status == KEPT_BUSY) status = kept_get_int64(store, name, &number, &why);
  if (status == KEPT_ABSENT || status == KEPT_CONFLICT) return status == KEPT_ABSENT ? 0 : CHANGED;
  expect_ok(status, "read the number");
  return number;
}

typedef struct listed {
  kept_store *store; /* NULL if only names are of interest */
  int writer;
  seen seen;
} listed;

static int list_key(void *own, const char *name) {
  listed *listed = own;
  const char *key = strchr(name, '.') + 1;
  bool is_text = strncmp(key, "item.", 5) != 0 && strcmp(key, "n") != 0;
  if (listed->store == NULL || !is_text) note(&listed->seen, key, strcmp(key, "n") == 0 ? 0 : 1);
  else note(&listed->seen, key, text_of(listed->store, listed->writer, key));
  return 0;
}

static void read_snapshot(kept_store *store, struct writer *writer, uint64_t *random) {
  char prefix[NAME];
  kept_store *snapshot = NULL;
  int64_t least = load(&writer->acknowledged);
  name_of(prefix, writer->number, "");
  const char *scope = random_below(random, 2) ? prefix : "";
  EXPECT_DONE(kept_snapshot(store, scope, &snapshot, &why), "take a snapshot");
  listed listed = { .store = snapshot, .writer = writer->number };
  EXPECT_DONE(kept_list(snapshot, prefix, list_key, &listed, &why), "list a snapshot");
  listed.seen.n = number_of(snapshot, writer->number);
  kept_snapshot_end(snapshot);
  check(&listed.seen, writer, least, "a snapshot");
  add(&shared->snapshots, 1);
}

/* A listing has names alone, so they must tell the number. */
static void read_listing(kept_store *store, struct writer *writer) {
  char prefix[NAME];
  int64_t least = load(&writer->acknowledged);
  listed listed = { .writer = writer->number };
  EXPECT_DONE(kept_list(store, name_of(prefix, writer->number, ""), list_key, &listed, &why), "list");
  seen *seen = &listed.seen;
  int64_t n = seen->items == 1 ? seen->item : 0;
  bool is_whole = seen->items == (n > 0) && seen->text == (n > 0) && seen->secret == (n >= SECRET_EACH) &&
    seen->even == (n > 0 && n % 2 == 0) && seen->many_count == (n > 0 && n % MANY_EACH == 0 ? MANY : 0);
  if (!is_whole) fail("a listing has half of a commit: %d items, the last is %" PRId64, seen->items, seen->item);
  if (n < least || n > load(&writer->begun)) fail("a listing is stale: %" PRId64, n);
  add(&shared->listings, 1);
}

/* In an export the values follow their keys, and contain nothing that has to be escaped. */
static void read_export(kept_store *store, struct writer *writer) {
  char prefix[NAME], quoted[NAME + 1];
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  char *json = NULL;
  seen seen = { 0 };
  int64_t least = load(&writer->acknowledged);
  options.flags = KEPT_TRANSFER_SECRETS | KEPT_TRANSFER_PLAIN;
  options.prefix = name_of(prefix, writer->number, "");
  EXPECT_DONE(kept_export_json(store, &options, &json, &why), "export");
  snprintf(quoted, sizeof quoted, "\"%s", prefix);
  const char *at = strstr(json, "\"values\":");
  while (at != NULL && (at = strstr(at, quoted)) != NULL) {
    char key[NAME];
    const char *end = strchr(at + 1, '"'), *begin = at + strlen(quoted), *value = end + 2;
    snprintf(key, sizeof key, "%.*s", (int)(end - begin), begin);
    const char *after = *value == '"' ? strchr(value + 1, '"') : value;
    if (*value == '"') note(&seen, key, number_in(value + 1, (size_t)(after - value - 1), key));
    else note(&seen, key, *value == 't' ? 1 : strtoll(value, NULL, 10));
    at = after;
  }
  kept_free(json);
  check(&seen, writer, least, "an export");
  add(&shared->exports, 1);
}

static void read_transaction(kept_store *store, struct writer *writer, int reader) {
  char key[NAME];
  kept_store *transaction = NULL;
  EXPECT_DONE(kept_begin(store, NULL, &transaction, &why), "begin");
  int64_t n = number_of(transaction, writer->number), text = text_of(transaction, writer->number, "text"),
          secret = text_of(transaction, writer->number, "secret"), even = text_of(transaction, writer->number, "even");
  if (n == CHANGED || text == CHANGED || secret == CHANGED || even == CHANGED) {
    kept_rollback(transaction);
    return;
  }
  snprintf(key, sizeof key, "reader%d", reader);
  EXPECT_DONE(kept_set_int64(transaction, key, n, &why), "write");
  kept_status status = kept_commit(transaction, NULL, &why);
  if (status == KEPT_CONFLICT || status == KEPT_BUSY) return;
  expect_ok(status, "commit");
  if (text != n || secret != n - n % SECRET_EACH || even != (n % 2 == 0 ? n : 0)) {
    fail("a transaction that was committed has read n %" PRId64 ", text %" PRId64 ", secret %" PRId64 ", even %" PRId64,
      n, text, secret, even);
  }
  add(&shared->transactions, 1);
}

/* Each read is as new as the one before it. */
static void read_in_turn(kept_store *store, struct writer *writer) {
  int64_t first = number_of(store, writer->number), text = text_of(store, writer->number, "text"),
          secret = text_of(store, writer->number, "secret"), last = number_of(store, writer->number);
  if (first > text || text - text % SECRET_EACH > secret || secret > last || text > last) {
    fail("read in turn: n %" PRId64 ", text %" PRId64 ", secret %" PRId64 ", n %" PRId64, first, text, secret, last);
  }
  add(&shared->reads, 1);
}

static void read_on(void *own) {
  int reader = (int)(intptr_t)own;
  uint64_t random = seed * 3 + (uint64_t)reader + round_now;
  while (!load(&shared->stop)) {
    kept_store *store = open_store(folder, KEPT_SHARED, 5000);
    for (int i = 0; i < 200 && !load(&shared->stop); i++) {
      struct writer *writer = &shared->writers[random_below(&random, WRITERS)];
      switch (random_below(&random, 6)) {
        case 0: read_export(store, writer); break;
        case 1: read_listing(store, writer); break;
        case 2: read_transaction(store, writer, reader); break;
        case 3: read_in_turn(store, writer); break;
        default: read_snapshot(store, writer, &random);
      }
    }
    kept_close(store);
  }
}

/* Observing */

typedef struct observer {
  struct writer *writer;
  int64_t *received;
  seen seen;
} observer;

static int64_t value_of(const kept_value *value, const char *name) {
  int64_t number = 0;
  bool is_there = false;
  const char *text = NULL;
  size_t length = 0;
  if (value == NULL) return 0;
  if (kept_value_int64(value, &number, &why) == KEPT_OK) return number;
  if (kept_value_bool(value, &is_there, &why) == KEPT_OK) return is_there;
  expect_ok(kept_value_string(value, &text, &length, &why), "read a value in a notice");
  return number_in(text, length, name);
}

static void receive(void *own, const kept_notice *notice) {
  observer *observer = own;
  bool is_initial = kept_notice_origin(notice) == KEPT_ORIGIN_INITIAL, has_missed = kept_notice_may_have_missed(notice);
  if (is_initial) observer->seen = (seen){ 0 };
  /* The many keys change together, also if commits were merged. */
  bool has_many = false;
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    const char *name = kept_notice_key(notice, i), *key = strchr(name, '.') + 1;
    int64_t old = value_of(kept_notice_old(notice, i), name), new = value_of(kept_notice_new(notice, i), name);
    /* Items that are not counted again were there before. */
    if (strncmp(key, "item.", 5) == 0 && (old != 0) == (new != 0)) continue;
    if (strncmp(key, "many.", 5) == 0) {
      if (!has_many) observer->seen.many = 0;
      if ((old != 0) == (new != 0)) observer->seen.many_count -= new != 0 ? 1 : -1;
      has_many = true;
    }
    note(&observer->seen, key, new);
  }
  check(&observer->seen, observer->writer, load(observer->received),
    is_initial     ? "an initial notice"
      : has_missed ? "a notice after missed ones"
                   : "a notice");
  store_word(observer->received, observer->seen.n);
  if (is_initial) add(&shared->initial, 1);
  else add(&shared->notices, 1);
  if (has_missed) add(&shared->resynced, 1);
}

static void observe(void *own) {
  int number = (int)(intptr_t)own;
  char prefix[NAME];
  observer observers[WRITERS];
  kept_subscription *subscriptions[WRITERS];
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  for (int64_t next = 0; next < COMMITS;) {
    /* The first one subscribes again and again. The last one, which is stopped now and then, stays. */
    next = number == 0 ? load(&shared->writers[0].acknowledged) + 3 : COMMITS;
    for (int i = 0; i < WRITERS; i++) {
      observers[i] = (observer){ .writer = &shared->writers[i], .received = &shared->received[number][i] };
      EXPECT_DONE(kept_observe(store, name_of(prefix, i, ""), KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, receive,
                    &observers[i], NULL, &subscriptions[i], &why),
        "observe");
    }
    for (int i = 0; i < (next < COMMITS ? 1 : WRITERS); i++) {
      const int64_t *received = &shared->received[number][i];
      while (load(received) < next && load(received) < COMMITS) {
        await_word(received, load(received) + 1, "an observer received nothing");
      }
    }
    for (int i = 0; i < WRITERS; i++) kept_unobserve(subscriptions[i]);
  }
  kept_close(store);
}

/* Rounds */

/* Whether two checkpoints have replaced a journal and the next one. */
static bool is_gone(const char *journal) {
  char next[4300];
  int length = (int)(strrchr(journal, '.') + 1 - journal), number = atoi(journal + length);
  snprintf(next, sizeof next, "%.*s%d", length, journal, number + 1);
  return strcmp(last_of(folder, "journal"), next) != 0 && !is_there(journal) && !is_there(next);
}

static void play_round(uint64_t *random) {
  pid_t writers[WRITERS], readers[READERS], observers[OBSERVERS];
  memset(shared, 0, sizeof *shared);
  folder = fresh_folder();
  for (int i = 0; i < WRITERS; i++) {
    shared->writers[i].number = i;
    writers[i] = start(write_on, &shared->writers[i]);
  }
  await_word(&shared->writers[0].acknowledged, 1, "nothing was written");
  for (int i = 0; i < READERS; i++) readers[i] = start(read_on, (void *)(intptr_t)i);
  for (int i = 0; i < OBSERVERS; i++) observers[i] = start(observe, (void *)(intptr_t)i);
  await_word(&shared->received[OBSERVERS - 1][0], 1, "nothing was observed");
  while (load(&shared->writers[0].acknowledged) < COMMITS) {
    int64_t next = load(&shared->writers[0].acknowledged) + 10 + (int64_t)random_below(random, 40);
    char journal[4300];
    snprintf(journal, sizeof journal, "%s", last_of(folder, "journal"));
    kill(observers[OBSERVERS - 1], SIGSTOP);
    /* At first, and now and then, until the next journal is gone too, so that the observer has to be told the present
     * state. It may have been stopped while it held a lock. */
    bool is_long = load(&shared->resynced) == 0 || random_below(random, 4) == 0;
    for (int64_t last = 0, i = 0; i < 100 && load(&shared->writers[0].acknowledged) < COMMITS; i++) {
      if (is_long ? is_gone(journal) : load(&shared->writers[0].acknowledged) >= next) break;
      if (load(&shared->writers[0].acknowledged) > last) last = load(&shared->writers[0].acknowledged), i = 0;
      let_pass(10000);
    }
    next = load(&shared->writers[0].acknowledged);
    kill(observers[OBSERVERS - 1], SIGCONT);
    await_word(&shared->received[OBSERVERS - 1][0], next, "the observer that was stopped did not go on");
    /* It may have been stopped in a checkpoint, for which the writers wait when the journals are long. */
    if (next < COMMITS) await_word(&shared->writers[0].acknowledged, next + 1, "the writers did not go on");
  }
  for (int i = 0; i < WRITERS; i++) finish(writers[i]);
  for (int i = 0; i < OBSERVERS; i++) finish(observers[i]);
  store_word(&shared->stop, 1);
  for (int i = 0; i < READERS; i++) finish(readers[i]);
}

int main(int argc, char **argv) {
  struct shared sum = { 0 };
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) {
    play_round(&random);
    sum.snapshots += shared->snapshots, sum.exports += shared->exports, sum.listings += shared->listings;
    sum.transactions += shared->transactions, sum.reads += shared->reads, sum.initial += shared->initial;
    sum.notices += shared->notices, sum.resynced += shared->resynced;
  }
  if (sum.resynced == 0) fail("no observer was told the present state");
  return end_torture("%" PRId64 " snapshots, %" PRId64 " exports, %" PRId64 " listings, %" PRId64
                     " transactions, %" PRId64 " reads in turn, %" PRId64 " initial notices, %" PRId64
                     " others and %" PRId64 " after missed ones",
    sum.snapshots, sum.exports, sum.listings, sum.transactions, sum.reads, sum.initial, sum.notices, sum.resynced);
}
