/* Reading: from an open store, with keys that were read before. */
#include "../rows.h"

#define SECTION "Reading, C"
#define KB ((size_t)1024)

const row reading_rows[] = {
  { SECTION, "get int64, 1,000 keys", { "<= 25 ns", "<= 1 x LMDB", "<= 0.05 x SQLite", "<= 0.05 x GSettings" },
    &operating, GET, .keys = 1000,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings }, { &hash_table, FLOOR } } },
  { SECTION, "get 20-byte string, 1,000 keys", { "<= 25 ns", "<= 1 x LMDB", "<= 0.05 x SQLite", "<= 0.05 x GSettings" },
    &operating, GET, .keys = 1000, .length = 20,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings }, { &hash_table, FLOOR } } },
  { SECTION, "get 1 KB string, 1,000 keys", {}, &operating, GET, .keys = 1000, .length = KB,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &hash_table, FLOOR } } },
  { SECTION, "get 64 KB string, 1,000 keys", {}, &operating, GET, .keys = 1000, .length = 64 * KB,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &hash_table, FLOOR } } },

  { SECTION, "get int64, 100,000 keys", { "<= 1 x LMDB" }, &operating, GET, .keys = 100000,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings }, { &hash_table, FLOOR } } },
  { SECTION, "get 20-byte string, 100,000 keys", { "<= 1 x LMDB" }, &operating, GET, .keys = 100000, .length = 20,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings }, { &hash_table, FLOOR } } },
  { SECTION, "get 1 KB string, 100,000 keys", {}, &operating, GET, .keys = 100000, .length = KB,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &hash_table, FLOOR } } },
  /* 64 KB for each key would be 6.4 GB for each candidate. */
  { SECTION, "get 64 KB string, 1,000 among 100,000 keys", {}, &operating, GET, .keys = 100000, .some = 1000,
    .length = 64 * KB, .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &hash_table, FLOOR } } },

  { SECTION, "get int64, 1,000 keys, 2 threads", { ">= 1.6 x one thread" }, &operating, GET, .keys = 1000, .threads = 2,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &hash_table, FLOOR },
      { &kept, BASE, "one thread", .alone = true } } },
  { SECTION, "get 20-byte string, 1,000 keys, 2 threads", { ">= 1.6 x one thread" }, &operating, GET, .keys = 1000,
    .length = 20, .threads = 2,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &hash_table, FLOOR },
      { &kept, BASE, "one thread", .alone = true } } },
  { SECTION, "get int64, 1,000 keys, another process sets 1,000/s", { "<= 1.2 x without sets", "<= 1 x LMDB" },
    &operating, GET, .keys = 1000, .beside_writer = true,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &kept, BASE, "without sets", .quiet = true } } },
  { 0 },
};
