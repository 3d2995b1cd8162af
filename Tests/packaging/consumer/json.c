/* The smallest program that writes and reads a json-c tree. */
#include <kept_json.h>
#include <stdio.h>

int main(void) {
  kept_error error;
  kept_store *store;
  json_object *frame = json_object_new_object();
  json_object *read = NULL;

  json_object_object_add(frame, "width", json_object_new_int64(640));
  if (kept_open("memory:", NULL, &store, &error) != KEPT_OK ||
    kept_json_set(store, "window.frame", frame, &error) != KEPT_OK ||
    kept_json_get(store, "window.frame", &read, &error) != KEPT_OK) {
    printf("%s\n", error.message);
    return 1;
  }
  printf("window.frame is %s\n", json_object_to_json_string(read));
  int equal = json_object_equal(frame, read);
  json_object_put(read);
  json_object_put(frame);
  kept_close(store);
  return equal ? 0 : 1;
}
