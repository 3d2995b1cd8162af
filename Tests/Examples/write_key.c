/* Another process that writes one key: write_key LOCATION KEY JSON */
#include <kept.h>
#include <stdio.h>

int main(int count, char **arguments) {
  kept_store *store = NULL;
  kept_error error;
  if (count != 4) return 2;
  kept_status status = kept_open(arguments[1], NULL, &store, &error);
  if (status >= 0) status = kept_set_json(store, arguments[2], arguments[3], &error);
  kept_close(store);
  if (status < 0) fprintf(stderr, "write_key: %s\n", error.message);
  return status < 0;
}
