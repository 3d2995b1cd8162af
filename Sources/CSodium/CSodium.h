// The part of libsodium that Kept uses. It is not linked, but loaded when a store has secrets. Its functions are
// declared here, so that no package of headers is needed: they have not changed since version 1.0.15.
#ifndef KEPT_CSODIUM_H
#define KEPT_CSODIUM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__APPLE__)
#define KEPT_SODIUM_FILE "libsodium.23.dylib"
#else
#define KEPT_SODIUM_FILE "libsodium.so.23"
#endif

enum {
  KEPT_ARGON2ID13 = 2, // crypto_pwhash_ALG_ARGON2ID13
  KEPT_BASE64 = 1,     // sodium_base64_VARIANT_ORIGINAL
};

/// The functions of the loaded library.
struct kept_sodium {
  int (*sodium_init)(void);
  void *(*sodium_malloc)(size_t size);
  void (*sodium_free)(void *memory);
  void (*sodium_memzero)(void *memory, size_t size);
  void (*randombytes_buf)(void *memory, size_t size);
  char *(*sodium_bin2base64)(char *text, size_t capacity, const unsigned char *bytes, size_t count, int variant);
  int (*sodium_base642bin)(unsigned char *bytes, size_t capacity, const char *text, size_t length, const char *ignored,
    size_t *count, const char **end, int variant);
  int (*crypto_generichash_blake2b)(unsigned char *hash, size_t size, const unsigned char *message,
    unsigned long long length, const unsigned char *key, size_t key_size);
  int (*crypto_aead_chacha20poly1305_ietf_encrypt)(unsigned char *sealed, unsigned long long *sealed_length,
    const unsigned char *message, unsigned long long length, const unsigned char *data, unsigned long long data_length,
    const unsigned char *unused, const unsigned char *nonce, const unsigned char *key);
  int (*crypto_aead_chacha20poly1305_ietf_decrypt)(unsigned char *message, unsigned long long *length,
    unsigned char *unused, const unsigned char *sealed, unsigned long long sealed_length, const unsigned char *data,
    unsigned long long data_length, const unsigned char *nonce, const unsigned char *key);
  int (*crypto_pwhash)(unsigned char *key, unsigned long long size, const char *passphrase, unsigned long long length,
    const unsigned char *salt, unsigned long long operations, size_t memory, int algorithm);
  int (*crypto_scalarmult_curve25519)(unsigned char *shared, const unsigned char *secret, const unsigned char *point);
  int (*crypto_scalarmult_curve25519_base)(unsigned char *point, const unsigned char *secret);
};

/// Loads the library, for good. Returns NULL, or the reason why it cannot be used; that text is valid until this thread
/// calls a function of <dlfcn.h>.
static inline const char *kept_sodium_load(struct kept_sodium *functions) {
  // In the order of the members.
  static const char *const names[sizeof *functions / sizeof(void *)] = {
    "sodium_init",
    "sodium_malloc",
    "sodium_free",
    "sodium_memzero",
    "randombytes_buf",
    "sodium_bin2base64",
    "sodium_base642bin",
    "crypto_generichash_blake2b",
    "crypto_aead_chacha20poly1305_ietf_encrypt",
    "crypto_aead_chacha20poly1305_ietf_decrypt",
    "crypto_pwhash",
    "crypto_scalarmult_curve25519",
    "crypto_scalarmult_curve25519_base",
  };
  void *library = dlopen(KEPT_SODIUM_FILE, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *function = library ? dlsym(library, names[i]) : NULL;
    if (!function) {
      const char *reason = dlerror();
      return reason ? reason : "the system gives no reason";
    }
    memcpy((void **)functions + i, &function, sizeof function);
  }
  return functions->sodium_init() < 0 ? "it finds no source of random numbers" : NULL;
}

#endif
