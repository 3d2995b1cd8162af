/* Opening: from nothing open to the first value, in a process that has done it before. For GSettings the bus connection
 * and the file of dconf stay open. Loading is measured in a fresh process. */
#include "../rows.h"

#define SECTION "Opening and loading"

const row opening_rows[] = {
  { SECTION, "open to first value, 1,000 keys", { "<= 1.5 x SQLite" }, &opening, .keys = 1000,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings } } },
  { SECTION, "open to first value, 100,000 keys", { "<= 1.5 x SQLite", "<= 1.3 x 1,000 keys" }, &opening,
    .keys = 100000,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &gsettings }, { &kept, BASE, "1,000 keys", .keys = 1000 } } },
  { SECTION, "load the library", { "<= 3 ms" }, &loading, .candidates = { { &kept }, { &sqlite }, { &lmdb } } },
  { 0 },
};
