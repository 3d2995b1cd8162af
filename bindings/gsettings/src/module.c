/* The functions of a module that GIO calls. */
#include "backend.h"

#include <gmodule.h>

G_MODULE_EXPORT void g_io_module_load(GIOModule *module) {
  /* A thread of the library calls into this module: it must stay. */
  g_type_module_use(G_TYPE_MODULE(module));
  kept_settings_backend_register(G_TYPE_MODULE(module));
}

G_MODULE_EXPORT void g_io_module_unload(GIOModule *module) { (void)module; }

G_MODULE_EXPORT char **g_io_module_query(void) {
  char *points[] = { G_SETTINGS_BACKEND_EXTENSION_POINT_NAME, NULL };
  return g_strdupv(points);
}
