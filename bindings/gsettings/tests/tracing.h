/* What a program sees of its settings, printed: the same on every backend. */
#ifndef TRACING_H
#define TRACING_H

#include <gio/gio.h>

/* A value as text, with the keys of dictionaries in order; of long text the length and a checksum. Free it. */
char *text_of(GVariant *value);
/* Prints the signals of an object under this name from now on, and returns the object. */
GSettings *watched(GSettings *settings, const char *name);
/* Lets everything happen that is due, until another process has set the marker and it has arrived. */
void settle(void);

#endif
