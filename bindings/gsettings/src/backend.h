/* A GSettingsBackend that keeps settings in a Kept store. */
#ifndef KEPT_GSETTINGS_BACKEND_H
#define KEPT_GSETTINGS_BACKEND_H

#define G_SETTINGS_ENABLE_BACKEND
#include <gio/gio.h>
#include <gio/gsettingsbackend.h>

#define KEPT_TYPE_SETTINGS_BACKEND (kept_settings_backend_get_type())

GType kept_settings_backend_get_type(void);

/* Makes `GSETTINGS_BACKEND=kept` mean this backend. */
void kept_settings_backend_register(GTypeModule *module);

#endif
