// The part of PCRE2 that Kept uses: patterns over UTF-8. It is not linked, but loaded when a pattern is first used:
// most programs use none, and would spend a tenth of the time that loading Kept takes on it.
#ifndef KEPT_CPCRE2_H
#define KEPT_CPCRE2_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <dlfcn.h>
#include <pcre2.h>
#include <stddef.h>
#include <string.h>

#if defined(__APPLE__)
#define KEPT_PCRE2_FILE "libpcre2-8.0.dylib"
#else
#define KEPT_PCRE2_FILE "libpcre2-8.so.0"
#endif

#define KEPT_PCRE2_FUNCTIONS(each) \
  each(code_free) each(compile) each(compile_context_create) each(compile_context_free) each(get_error_message) \
    each(match) each(match_context_create) each(match_context_free) each(match_data_create) each(match_data_free) \
      each(set_bsr) each(set_callout) each(set_depth_limit) each(set_heap_limit) each(set_match_limit) \
        each(set_newline) each(set_parens_nest_limit)

#define KEPT_PCRE2_MEMBER(name) __typeof__(pcre2_##name##_8) *_Nonnull name;
#define KEPT_PCRE2_NAME(name) "pcre2_" #name "_8",

/// The functions of the loaded library.
struct kept_pcre2 {
  KEPT_PCRE2_FUNCTIONS(KEPT_PCRE2_MEMBER)
};

/// Loads the library, for good. Returns NULL, or the reason why it cannot be loaded; that text is valid until this
/// thread calls a function of <dlfcn.h>.
static inline const char *_Nullable kept_pcre2_load(struct kept_pcre2 *_Nonnull functions) {
  static const char names[][32] = { KEPT_PCRE2_FUNCTIONS(KEPT_PCRE2_NAME) };
  void *library = dlopen(KEPT_PCRE2_FILE, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *function = library ? dlsym(library, names[i]) : NULL;
    if (!function) {
      const char *reason = dlerror();
      return reason ? reason : "the system gives no reason";
    }
    memcpy((void **)functions + i, &function, sizeof function);
  }
  return NULL;
}

#endif
