/* Processes: several use the same store, each with its own keys. As with threads, the total time is divided by the
 * number of all operations. */
#include "../rows.h"

#define SECTION "Processes, C"

#define READERS_BESIDE_A_WRITER(count) \
  { \
    SECTION, "get int64, " #count " processes, another sets 1,000/s", {}, &operating, GET, .keys = 1000, \
      .processes = count, .beside_writer = true, .candidates = { \
        { &kept }, \
        { &sqlite }, \
        { &lmdb }, \
        { &kept, BASE, "one reader", .alone = true } \
      } \
  }

const row process_rows[] = {
  { SECTION, "get int64, 2 processes", {}, &operating, GET, .keys = 1000, .processes = 2,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &kept, BASE, "one process", .alone = true } } },
  { SECTION, "set, 2 processes", { ">= 1 x one process" }, &operating, SET, .keys = 1000, .processes = 2,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &kept, BASE, "one process", .alone = true } } },
  { SECTION, "set, 4 processes", { ">= 1 x one process" }, &operating, SET, .keys = 1000, .processes = 4,
    .candidates = { { &kept }, { &sqlite }, { &lmdb }, { &kept, BASE, "one process", .alone = true } } },
  READERS_BESIDE_A_WRITER(4),
  READERS_BESIDE_A_WRITER(8),
  READERS_BESIDE_A_WRITER(16),
  { 0 },
};
