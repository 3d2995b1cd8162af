/* Every row that C measures. The goals are those of design.md, section 11. */
#include "rows.h"

#define READING "Reading, C"
#define WRITING "Writing, C"
#define OPENING "Opening and loading"

const row rows[] = {
  {READING, "get int64, 1,000 keys", {"<= 25 ns", "<= 1 x LMDB"}, &operating, GET_INTEGERS, .keys = 1000,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&hash_table, FLOOR}}},
  {READING, "get 20-byte string, 1,000 keys", {"<= 25 ns", "<= 1 x LMDB"}, &operating, GET_TEXTS, .keys = 1000,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&hash_table, FLOOR}}},
  {READING, "get int64, 100,000 keys", {"<= 1 x LMDB"}, &operating, GET_INTEGERS, .keys = 100000,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&hash_table, FLOOR}}},
  {READING, "get 20-byte string, 100,000 keys", {"<= 1 x LMDB"}, &operating, GET_TEXTS, .keys = 100000,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&hash_table, FLOOR}}},
  {READING, "get int64, 1,000 keys, 2 threads", {">= 1.6 x one thread"}, &operating, GET_INTEGERS, .keys = 1000,
   .threads = 2,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&hash_table, FLOOR}, {&kept, BASE, "one thread", .threads = 1}}},
  {READING, "get int64, 1,000 keys, another process sets 1,000/s", {"<= 1 x LMDB"}, &operating, GET_INTEGERS,
   .keys = 1000, .beside_writer = true,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}}},

  {WRITING, "set", {"<= 1.5 x SQLite"}, &operating, SET, .keys = 1000,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&page, FLOOR, "write of a page"}}},
  {WRITING, "set, 8 threads", {">= 4 x one thread"}, &operating, SET, .keys = 1000, .threads = 8,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&kept, BASE, "one thread", .threads = 1}}},
  {WRITING, "set, durable", {"<= 1.2 x SQLite"}, &operating, SET, .keys = 1000, .durable = true,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&page, FLOOR, "fdatasync of a page"}}},
  {WRITING, "set, durable, 8 threads", {">= 4 x one thread"}, &operating, SET, .keys = 1000, .threads = 8,
   .durable = true,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&kept, BASE, "one thread", .threads = 1}}},
  {WRITING, "1,000 sets in one transaction, each", {"<= 1.3 x SQLite"}, &operating, SET_TOGETHER, .keys = 1000,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}}},

  {OPENING, "open to first value, 1,000 keys", {"<= 1.3 x SQLite"}, &opening, .keys = 1000,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}}},
  {OPENING, "open to first value, 100,000 keys", {"<= 1.3 x SQLite", "<= 1.3 x 1,000 keys"}, &opening, .keys = 100000,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}, {&kept, BASE, "1,000 keys", .keys = 1000}}},
  {OPENING, "load the library", {"<= 3 ms"}, &loading,
   .contestants = {{&kept}, {&sqlite}, {&lmdb}}},
};

const size_t row_count = sizeof rows / sizeof *rows;
