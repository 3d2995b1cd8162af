/* Setting and resetting, one key or several together. */
#ifndef KEPT_GSETTINGS_CHANGING_H
#define KEPT_GSETTINGS_CHANGING_H

#include "opening.h"

/* A change of settings, and what came of it. */
typedef struct {
  OpenStore *settings;
  kept_status status;
  kept_error error;
  /* Whether it changed anything. Otherwise it is not announced, as on dconf. */
  gboolean has_effect;
} Changing;

/* Sets the value of a path, or resets it if there is none. */
void change_one(Changing *changing, const char *path, GVariant *value);

/* Sets and resets paths, the keys of a tree whose values are GVariants or NULL, in one transaction. */
void change_all(Changing *changing, GTree *tree);

#endif
