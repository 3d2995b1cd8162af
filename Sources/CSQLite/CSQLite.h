#include <sqlite3.h>

// Variadic C functions are not imported into Swift; these are the calls of sqlite3_db_config that Kept makes.
static inline int kept_sqlite_switch(sqlite3 *connection, int option, int on) {
  return sqlite3_db_config(connection, option, on, (int *)0);
}
