/* An observer that records what it receives, and lets a test wait for it without sleeping. */
#ifndef RECORDER_H
#define RECORDER_H

#include <kept.h>

#include "gate.h"

typedef struct recorder {
  gate gate;
  int notices;
  int releases;
  pthread_t thread;         /* of the last notice */
  uint64_t first, revision; /* of the last notice */
  int64_t time;             /* of the last notice */
  char tag[64];             /* of the last notice; empty for none */
  bool missed;              /* by the last notice */
  uint32_t layer;           /* of the last change of the last notice */
  bool secret;              /* that change's key */
  char text[4096];          /* "S key:old>new key:old>new;" for each: the origin is S, P, O, I, V for several, or
                                   L for a layer; - means no value */
  kept_subscription *subscription;
  void (*then)(struct recorder *recorder); /* called from inside the callback; may be NULL */
  kept_store *store;                       /* for `then` */
} recorder;

/** A recorder that lives until the program ends, because its release may come after its store was closed. */
recorder *new_recorder(void);
/** Subscribes it. */
void record(recorder *recorder, kept_store *store, const char *key, uint32_t flags);
/** The callbacks that record() subscribes. */
void recorder_notice(void *context, const kept_notice *notice);
void recorder_release(void *context);
/** Waits until its last notice has this revision or a later one; a failed check after a minute. */
void await_revision(recorder *recorder, uint64_t revision);
/** Waits until it has this many notices, and returns its text; a failed check after a minute. */
const char *recorded(recorder *recorder, int notices);
/** Waits until it is released, and returns the number of releases. */
int released(recorder *recorder);

#endif
