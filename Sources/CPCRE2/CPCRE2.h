// The part of the system's PCRE2 that Kept uses: patterns over UTF-8.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
