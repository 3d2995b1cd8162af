/* The arguments that a script may pass: valid ones, so that calls succeed, and ones that are as invalid as possible. */
#include "calls.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define ONE_OF(script, list) (list)[next_byte(script) % COUNT(list)]

uint8_t next_byte(script *script) { return script->place < script->count ? script->bytes[script->place++] : 0; }

uint64_t next_word(script *script) {
  uint64_t word = 0;
  for (int i = 0; i < 8; i++) word = word << 8 | next_byte(script);
  return word;
}

bool rarely(script *script, unsigned times) { return next_byte(script) % times == 1; }

size_t next_bytes(script *script, char *out, size_t most) {
  size_t count = next_byte(script) % (most + 1);
  for (size_t i = 0; i < count; i++) out[i] = (char)next_byte(script);
  out[count] = 0;
  return count;
}

kept_error *next_error(script *script) { return rarely(script, 8) ? NULL : &script->error; }

/* Handles: every number that could be a handle, but no invalid address. */

kept_store *next_handle(script *script) {
  static const uintptr_t garbage[] = { 0, 1, 3, 5, 7, 0xFFF, 0x7FFFFFFFFFFFFFFF, UINTPTR_MAX, UINTPTR_MAX - 2 };
  uint8_t byte = next_byte(script);
  if (byte >= 248) return (kept_store *)garbage[byte % COUNT(garbage)];
  if (byte >= 220) return script->stores[byte % most_stores];
  /* Mostly one of the newest that are still open. */
  size_t passed = byte < 160 ? 0 : byte % 3;
  for (size_t age = 1; age <= most_stores; age++) {
    size_t place = (script->next_store + most_stores - age) % most_stores;
    if (script->stores[place] != NULL && !script->ended[place] && passed-- == 0) return script->stores[place];
  }
  return script->stores[0];
}

kept_store *next_ending(script *script) {
  kept_store *store = next_handle(script);
  for (size_t place = 0; place < most_stores; place++) {
    if (script->stores[place] == store) script->ended[place] = true;
  }
  return store;
}

kept_subscription *next_subscription(script *script) {
  static const uintptr_t garbage[] = { 0, 1, 2, 3, 8, 0xFFF, UINTPTR_MAX };
  uint8_t byte = next_byte(script);
  if (byte >= 240) return (kept_subscription *)garbage[byte % COUNT(garbage)];
  size_t age = byte < 160 ? 0 : byte % most_subscriptions;
  return script->subscriptions[(script->next_subscription + most_subscriptions - 1 - age) % most_subscriptions];
}

void keep_store(script *script, kept_store *store) {
  size_t place = script->next_store++ % most_stores;
  NOTE(kept_close), kept_close(script->stores[place]);
  script->stores[place] = store;
  script->ended[place] = false;
}

/* Text */

static const char *filled(char byte, size_t count) {
  static char text[8192];
  memset(text, byte, count);
  text[count] = 0;
  return text;
}

/** Bytes of the script, without anything that leads out of the script's folder. */
static const char *harmless(script *script) {
  static char text[64];
  next_bytes(script, text, 40);
  for (char *byte = text; *byte; byte++) {
    if (*byte == '/' || *byte == '.') *byte = '_';
  }
  return text;
}

const char *next_key(script *script) {
  static const char *const common[] = { "a", "p.a", "flag", "text", "bytes", "date" };
  static const char *const keys[] = { "a", "b", "p.a", "p.b", "token", "a", "p.a", "unused", "..", "a/b", "%", "\n",
    "\xF0\x9F\x8E\x89", "", "\xFF", "cut \xE2\x82", "\xED\xA0\x80" };
  static char own[64];
  uint8_t byte = next_byte(script);
  if (byte < 160) return common[byte % COUNT(common)];
  if (byte < 235) return keys[byte % COUNT(keys)];
  if (byte < 240) return NULL;
  if (byte < 248) return next_bytes(script, own, 40), own;
  return filled('k', byte % 3 == 0 ? 1024 : byte % 3 == 1 ? 1025 : 8000);
}

const char *next_prefix(script *script) {
  static const char *const prefixes[] = { "", "p.", "a", "", "p.", "q", "\xFF", "." };
  uint8_t byte = next_byte(script);
  return byte < 240 ? prefixes[byte % COUNT(prefixes)] : next_key(script);
}

static const char *nested(size_t depth) {
  static char text[1024];
  memset(text, '[', depth);
  memset(text + depth, ']', depth);
  text[2 * depth] = 0;
  return text;
}

const char *next_json(script *script) {
  static const char *const texts[] = {
    "1",
    "true",
    "2.5",
    "\"text\"",
    "[1,[2,{\"a\":null}]]",
    "{\"a\":1,\"p.a\":2}",
    "null",
    "-9223372036854775808",
    "9223372036854775807",
    "{\"$numberULong\":\"18446744073709551615\"}",
    "{\"$numberDouble\":\"NaN\"}",
    "5e-324",
    "{\"$binary\":{\"base64\":\"AAECAw==\",\"subType\":\"00\"}}",
    "{\"$date\":\"0000-01-01T00:00:00Z\"}",
    "{\"$date\":\"9999-12-31T23:59:59.999999999Z\"}",
    "1.7976931348623157e308",
    "\"a text of more than thirty-two bytes\"",
    "1e-9223372036854775808",
    "1e9223372036854775808",
    "99999999999999999999",
    "-0",
    "{\"a\":1,\"a\":2}",
    "\"\xFF\"",
    "[1",
    "",
    "{\"$numberULong\":\"-1\"}",
    "{\"$date\":\"9999-99-99T99:99:99Z\"}",
    "\"\\ud800\"",
  };
  static char own[512];
  uint8_t byte = next_byte(script);
  if (byte < 220) return texts[byte % COUNT(texts)];
  if (byte < 225) return NULL;
  if (byte < 240) return nested(byte % 2 == 0 ? 64 : 65 + byte);
  return next_bytes(script, own, 250), own;
}

const char *next_schema(script *script) {
  static const char *const schemas[] = {
    "{\"type\":\"integer\",\"default\":5}",
    "{\"type\":\"string\",\"default\":\"text\"}",
    "{\"type\":\"boolean\"}",
    "{\"type\":\"string\",\"secret\":true}",
    "{\"type\":\"number\",\"multipleOf\":5e-324}",
    "{\"type\":\"bytes\"}",
    "{\"type\":\"integer\",\"minimum\":-9223372036854775808,\"exclusiveMaximum\":-9223372036854775807}",
    "{\"type\":\"integer\",\"exclusiveMinimum\":9223372036854775807}",
    "{\"type\":\"date\"}",
    "{\"type\":\"integer\",\"maximum\":1e308,\"minimum\":-1e308}",
    "{\"type\":\"array\",\"uniqueItems\":true}",
    "{\"type\":\"integer\",\"exclusiveMinimum\":{\"$numberULong\":\"18446744073709551615\"}}",
    "{\"type\":\"string\",\"minLength\":9223372036854775807}",
    "{\"type\":\"string\",\"maxLength\":-1}",
    "{\"type\":\"string\",\"minLength\":{\"$numberULong\":\"18446744073709551615\"}}",
    "{\"type\":\"string\",\"pattern\":\"^(a|aa)+$\"}",
    "{\"type\":\"string\",\"pattern\":\"(\"}",
    "{\"type\":\"string\",\"pattern\":\"a{99999}\"}",
    "{\"type\":\"number\",\"enum\":[0,-0.0,1e308]}",
    "{\"type\":\"integer\",\"deprecated\":true}",
    "{\"type\":\"object\",\"additionalProperties\":false}",
    "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"maxItems\":9223372036854775807}",
    "{\"type\":\"x\"}",
    "1",
  };
  uint8_t byte = next_byte(script);
  return byte < 230 ? schemas[byte % COUNT(schemas)] : next_json(script);
}

const char *next_list(script *script) {
  static const char *const lists[] = {
    ("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},"
     "\"token\":{\"type\":\"string\",\"secret\":true}}}"),
    "{\"type\":\"object\",\"properties\":{}}",
    "{\"type\":\"object\",\"properties\":{\"p.a\":{\"type\":\"string\",\"default\":\"d\"}}}",
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\",\"minimum\":1e308,\"maximum\":-1e308}}}",
    "{\"type\":\"object\",\"properties\":{\"\":{\"type\":\"integer\"}}}",
    "{\"type\":\"object\"}",
  };
  uint8_t byte = next_byte(script);
  return byte < 230 ? lists[byte % COUNT(lists)] : next_json(script);
}

const char *next_location(script *script) {
  static const char *const locations[] = {
    "memory:",
    "memory:calls",
    "./store",
    "dir:./values",
    "com.example.calls",
    "./store",
    "memory:",
    "./broken",
    "./store/",
    "./other",
    "dir:./other",
    "",
    "dir:",
    "./file",
    "dir:./file",
    "/dev/null",
    "./\xFF",
    "store/../store",
  };
  static char own[64];
  uint8_t byte = next_byte(script);
  if (byte < 225) return locations[byte % COUNT(locations)];
  if (byte < 230) return NULL;
  if (byte < 240) return snprintf(own, sizeof own, "./%s", harmless(script)), own;
  if (byte < 245) return filled('x', 8000);
  return harmless(script);
}

const char *next_path(script *script) {
  static const char *const paths[] = { "./copy", "./folder/", "./copy", "./export", "./file", "./schema", "./store", "",
    "/dev/null", "./store/values", "./store/x", "./none/x", "./\xFF" };
  static char own[64];
  uint8_t byte = next_byte(script);
  if (byte < 225) return paths[byte % COUNT(paths)];
  if (byte < 232) return NULL;
  if (byte < 240) return filled('/', 8000);
  return snprintf(own, sizeof own, "./%s", harmless(script)), own;
}

/* Numbers */

int64_t next_integer(script *script) {
  static const int64_t numbers[] = { 0, 1, -1, 5, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, INT32_MAX,
    INT32_MIN, UINT32_MAX, 253402300799, 253402300800, -62167219200, -62167219201 };
  uint8_t byte = next_byte(script);
  return byte < 230 ? numbers[byte % COUNT(numbers)] : (int64_t)next_word(script);
}

double next_double(script *script) {
  static const double numbers[] = { 0, 1, 1.5, -0.0, NAN, INFINITY, -INFINITY, 5e-324, 1.7976931348623157e308,
    9007199254740993.0, 0x1p63, -0x1p63, 0x1p64 };
  uint8_t byte = next_byte(script);
  if (byte < 230) return numbers[byte % COUNT(numbers)];
  uint64_t bits = next_word(script);
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

size_t next_size(script *script) {
  static const size_t sizes[] = { 0, 1, 2, 33, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1, UINT32_MAX,
    (size_t)UINT32_MAX + 1, SIZE_MAX / 32, SIZE_MAX / 64 + 1 };
  return ONE_OF(script, sizes);
}

size_t next_length(script *script, size_t count, size_t most) {
  if (!rarely(script, 8)) return count;
  size_t asked = next_size(script);
  return asked <= count || asked > most ? asked : count;
}

uint32_t next_flags(script *script, uint32_t known) {
  uint8_t byte = next_byte(script);
  return byte < 240 ? byte & known : byte < 248 ? UINT32_MAX : (uint32_t)next_word(script);
}
