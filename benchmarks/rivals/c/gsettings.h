/* The session that GSettings needs before the program begins. */
#ifndef BENCH_GSETTINGS_H
#define BENCH_GSETTINGS_H

/* Enters a session (session.h) with the schemas of the engine `gsettings`. */
void enter_gsettings_session(const char *folder, char **arguments);

#endif
