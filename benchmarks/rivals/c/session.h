/* A session for GSettings on dconf: a bus, a folder for its settings, and its schemas. */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

/* Runs this program again inside such a session. Returns only inside it.
 * @param folder     the folder for the files of the session
 * @param arguments  the program's own
 * @param schemas    the part of a .gschema.xml between <schemalist> and </schemalist> */
void enter_session(const char *folder, char **arguments, const char *schemas);

#endif
