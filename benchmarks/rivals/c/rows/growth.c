/* Growth: the same operation with more keys. The base is Kept with 1,000. */
#include "../rows.h"

#define SECTION "Growth, C"

#define GROWN(name, operation_, keys_) \
  { \
    SECTION, name " compared with 1,000 keys", {}, &operating, operation_, .keys = keys_, .candidates = { \
      { &kept }, \
      { &sqlite }, \
      { &lmdb }, \
      { &kept, BASE, "1,000 keys", .keys = 1000 } \
    } \
  }

const row growth_rows[] = {
  GROWN("get int64, 10,000", GET, 10000),
  GROWN("get int64, 100,000", GET, 100000),
  GROWN("set, 10,000", SET, 10000),
  GROWN("set, 100,000", SET, 100000),
  { 0 },
};
