/* LMDB: one environment for each process; a read transaction that is kept and renewed for each get, so that no read is
 * stale. A set that need not survive power loss uses MDB_NOSYNC. */
#include "fatal.h"
#include "engine.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#define MAP_SIZE ((size_t)1 << 30)

typedef struct session {
  MDB_env *environment;
  MDB_dbi database;
  MDB_txn *reading; /* reset between two gets */
} session;

static void check(int status, const char *what) {
  if (status != MDB_SUCCESS) die("LMDB cannot %s: %s", what, mdb_strerror(status));
}

static void *open_store(const char *folder, bool durable) {
  MDB_env *environment;
  check(mdb_env_create(&environment), "create an environment");
  check(mdb_env_set_mapsize(environment, MAP_SIZE), "set the size of its map");
  check(mdb_env_open(environment, folder, MDB_NOTLS | (durable ? 0 : MDB_NOSYNC), 0600), "open");
  return environment;
}

static void close_store(void *store) { mdb_env_close(store); }

static void create(const char *folder) { close_store(open_store(folder, false)); }

static void *join(void *store) {
  session *joined = malloc(sizeof *joined);
  if (!joined) die("no memory");
  joined->environment = store;
  check(mdb_txn_begin(store, NULL, MDB_RDONLY, &joined->reading), "begin reading");
  check(mdb_dbi_open(joined->reading, NULL, 0, &joined->database), "open its database");
  mdb_txn_reset(joined->reading);
  return joined;
}

static void leave(void *session_) {
  session *session = session_;
  mdb_txn_abort(session->reading);
  free(session);
}

/* The current value of a key, valid until the transaction is reset. */
static MDB_val begin_get(session *session, const key *key) {
  MDB_val name = { key->length, (void *)key->text }, value;
  check(mdb_txn_renew(session->reading), "renew its transaction");
  check(mdb_get(session->reading, session->database, &name, &value), "get");
  return value;
}

static void take(MDB_val value, walk *walk) {
  int64_t integer;
  if (value.mv_size != (walk->length ? walk->length : sizeof integer)) die("LMDB has %zu bytes", value.mv_size);
  if (walk->length) {
    memcpy(walk->text, value.mv_data, value.mv_size);
    walk->sum += value.mv_size + (unsigned char)walk->text[0];
  } else {
    memcpy(&integer, value.mv_data, sizeof integer);
    walk->sum += (uint64_t)integer;
  }
}

static void get(void *session_, walk *walk) {
  session *session = session_;
  for (size_t step = 0; step < walk->steps; step++) {
    take(begin_get(session, walk_next(walk)), walk);
    mdb_txn_reset(session->reading);
  }
}

static MDB_val next_value(walk *walk) {
  if (walk->length) return (MDB_val){ walk->length, (void *)walk_text(walk) };
  walk->stamp++;
  return (MDB_val){ sizeof walk->stamp, &walk->stamp };
}

static void put(session *session, MDB_txn *writing, walk *walk) {
  const key *key = walk_next(walk);
  MDB_val name = { key->length, (void *)key->text }, value = next_value(walk);
  check(mdb_put(writing, session->database, &name, &value, 0), "put");
}

static void set_together(void *session_, walk *walk) {
  session *session = session_;
  MDB_txn *writing;
  check(mdb_txn_begin(session->environment, NULL, 0, &writing), "begin writing");
  for (size_t step = 0; step < walk->steps; step++) put(session, writing, walk);
  check(mdb_txn_commit(writing), "commit");
}

static void set(void *session_, walk *walk) {
  session *session = session_;
  for (size_t step = 0; step < walk->steps; step++) {
    MDB_txn *writing;
    check(mdb_txn_begin(session->environment, NULL, 0, &writing), "begin writing");
    put(session, writing, walk);
    check(mdb_txn_commit(writing), "commit");
  }
}

const engine lmdb = {
  .name = "LMDB",
  .library = mdb_version,
  .create = create,
  .open = open_store,
  .join = join,
  .leave = leave,
  .close = close_store,
  .get = get,
  .set = set,
  .set_together = set_together,
};
