/* Writing: each set is a commit that survives a kill; a durable one also survives power loss. A set of GSettings is
 * only queued unless it is durable (gsettings.c). It is left out with 100,000 keys: flushing the queue takes longer
 * than all turns together, since dconf writes all keys for each change. */
#include "../rows.h"

#define SECTION "Writing, C"
#define KB ((size_t)1024)

const row writing_rows[] = {
  { SECTION, "set", { "<= 0.5 x LMDB" }, &operating, SET, .keys = 1000,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings }, { &page, FLOOR, "write of a page" } } },
  { SECTION, "set 20-byte string", { "<= 0.5 x LMDB" }, &operating, SET, .keys = 1000, .length = 20,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings }, { &page, FLOOR, "write of a page" } } },
  { SECTION, "set 1 KB string", { "<= 1.2 x SQLite" }, &operating, SET, .keys = 1000, .length = KB,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &page, FLOOR, "write of a page" } } },
  { SECTION, "set 64 KB string", { "<= 1.2 x SQLite" }, &operating, SET, .keys = 1000, .length = 64 * KB,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &page, FLOOR, "write of 16 pages" } } },

  { SECTION, "set, 100,000 keys", {}, &operating, SET, .keys = 100000,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &page, FLOOR, "write of a page" } } },
  { SECTION, "set 20-byte string, 100,000 keys", {}, &operating, SET, .keys = 100000, .length = 20,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &page, FLOOR, "write of a page" } } },
  { SECTION, "set, 100,000 keys, for 10 s on end", { "<= 1 x LMDB" }, &operating, SET, .keys = 100000, .seconds = 10,
    .candidates = { { &kept }, { &sqlite }, { &lmdb } } },
  { SECTION, "set 20-byte string, 100,000 keys, for 10 s on end", { "<= 1 x LMDB" }, &operating, SET, .keys = 100000,
    .length = 20, .seconds = 10, .candidates = { { &kept }, { &sqlite }, { &lmdb } } },
  { SECTION, "set 1 KB string, 100,000 keys", {}, &operating, SET, .keys = 100000, .length = KB,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &page, FLOOR, "write of a page" } } },
  { SECTION, "set 64 KB string, 1,000 among 100,000 keys", {}, &operating, SET, .keys = 100000, .some = 1000,
    .length = 64 * KB, .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &page, FLOOR, "write of 16 pages" } } },

  { SECTION, "set, 2 threads", {}, &operating, SET, .keys = 1000, .threads = 2,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &kept, BASE, "one thread", .alone = true } } },
  { SECTION, "set, 8 threads", { ">= 2 x one thread" }, &operating, SET, .keys = 1000, .threads = 8,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &kept, BASE, "one thread", .alone = true } } },
  { SECTION, "set, durable", { "<= 1.15 x fdatasync of a page" }, &operating, SET, .keys = 1000, .durable = true,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings }, { &page, FLOOR, "fdatasync of a page" } } },
  { SECTION, "set, durable, 8 threads", { ">= 4 x one thread" }, &operating, SET, .keys = 1000, .threads = 8,
    .durable = true,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &kept, BASE, "one thread", .alone = true } } },
  { SECTION, "1,000 sets in one transaction, each", { "<= 1 x LMDB" }, &operating, SET_TOGETHER, .keys = 1000,
    .candidates = { { &kept }, { &sqlite }, { &lmdb } } },
  { 0 },
};
