/* Sets a key to a value given as JSON, or prints why it is refused: set_key LOCATION KEY JSON */
#include <kept.h>
#include <stdio.h>

int main(int count, char **arguments) {
  if (count != 4) {
    fputs("usage: set_key LOCATION KEY JSON\n", stderr);
    return 2;
  }
  kept_store *settings = NULL;
  kept_error error;
  kept_status status = kept_open(arguments[1], NULL, &settings, &error);
  if (status >= 0) status = kept_set_json(settings, arguments[2], arguments[3], &error);
  kept_close(settings);
  if (status < 0) fprintf(stderr, "C:      %s: %s\n", kept_status_text(status), error.message);
  return status < 0;
}
