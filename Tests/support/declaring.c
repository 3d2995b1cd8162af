#include "declaring.h"

#include <stdio.h>

#include "check.h"

const char *const volume =
  "{\"type\":\"integer\",\"minimum\":0,\"maximum\":100,\"default\":50,\"summary\":\"How loud it is.\"}";

void declare(kept_store *store, const char *key, const char *schema) {
  EXPECT(KEPT_OK, kept_declare_json(store, key, schema, &why));
}

const char *declared(kept_store *store, const char *key) {
  static char text[4096];
  char *schema = NULL;
  kept_status status = kept_declaration_json(store, key, &schema, NULL);
  snprintf(text, sizeof text, "%s", schema != NULL ? schema : kept_status_text(status));
  kept_free(schema);
  return text;
}
