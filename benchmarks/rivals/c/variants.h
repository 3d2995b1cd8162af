/* Variants of Kept: with declared keys, and with values from layers.
 *
 * Each is an engine, so that a row can compare it with the plain one. */
#ifndef BENCH_VARIANTS_H
#define BENCH_VARIANTS_H

#include "engine.h"

#include <kept.h>

/* Every key is declared: an integer with bounds, one of seven words, text that matches a pattern. */
extern const engine kept_integers, kept_words, kept_pattern;
/* Values are passed as JSON; its texts are objects. */
extern const engine kept_json;
/* The store holds declarations in addition to its values. */
extern const engine kept_1000_declarations, kept_10000_declarations;
/* All layers exist, all keys are declared, and one layer has the values that are read. */
extern const engine kept_managed, kept_arguments, kept_environment, kept_user, kept_system, kept_registered,
  kept_declared;

/* Ends the program unless the call succeeded. */
void expect_done(kept_status status, const kept_error *error, const char *what);
/* Opens the store in a folder. */
kept_store *open_kept(const char *folder, const kept_options *options);
/* Creates a store where `count` keys have the same declaration. */
void create_declared(const char *folder, size_t count, const char *declaration);
/* A list for kept_declare_list(); free() it. */
char *declaration_list(size_t count, const char *declaration);

#define BOUNDED_INTEGER \
  "{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000000,\"default\":7,\"summary\":\"How loud it is.\"}"

/* The functions of an engine of Kept, unless it overrides them. */
#define KEPT_USUAL \
  .library = kept_version, .open = usual_open, .join = usual_join, .leave = usual_leave, .close = usual_close, \
  .get = usual_get, .set = usual_set, .set_words = usual_set_words, .set_refused = usual_set_refused

void *usual_open(const char *folder, bool durable);
void *usual_join(void *store);
void usual_leave(void *session);
void usual_close(void *store);
void usual_get(void *session, walk *walk);
void usual_set(void *session, walk *walk);
void usual_set_words(void *session, walk *walk);
void usual_set_refused(void *session, walk *walk);
void usual_set_together(void *session, walk *walk);

#endif
