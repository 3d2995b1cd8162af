/* A session of its own for GSettings on dconf: a bus, a folder for its settings, and the schemas that it wants. */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

/* Runs this program again inside such a session, and returns only there.
 * @param folder     where the session keeps its files
 * @param arguments  the program's own
 * @param schemas    what a .gschema.xml has between <schemalist> and </schemalist> */
void enter_session(const char *folder, char **arguments, const char *schemas);

/* Complains where GSettings is not on dconf: it falls back on memory without a word where that is not installed. */
void expect_dconf(void);

#endif
