/* Compares the backend that GSettings has chosen with the environment. */
#define G_SETTINGS_ENABLE_BACKEND
#include "backend.h"

#include "fatal.h"

#include <gio/gio.h>
#include <gio/gsettingsbackend.h>
#include <stdlib.h>
#include <string.h>

static const char *type_of(const char *backend) {
  if (backend && strcmp(backend, "dconf") == 0) return "DConfSettingsBackend";
  if (backend && strcmp(backend, "kept") == 0) return "KeptSettingsBackend";
  die("GSETTINGS_BACKEND is \"%s\", expected dconf or kept", backend ? backend : "");
}

void expect_backend(void) {
  const char *used = G_OBJECT_TYPE_NAME(g_settings_backend_get_default());
  const char *expected = type_of(getenv("GSETTINGS_BACKEND"));
  if (strcmp(used, expected) != 0) die("GSettings would use %s in place of %s", used, expected);
}
