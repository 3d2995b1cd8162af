/* The generation: a word that changes with every commit of every process. */
#include "suite.h"

static uint64_t look(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

FOLDER_TEST(the_generation_changes_only_with_a_write) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location), *other = open_at(location);
  const uint64_t *word = kept_store_generation(store);
  int64_t volume = 0;
  CHECK(word != NULL);
  if (word == NULL) return;
  EXPECT(KEPT_OK, kept_set_int64(store, "audio.volume", 1, &why));
  uint64_t before = look(word);
  CHECK_UINT(0, before % 2);
  EXPECT(KEPT_OK, kept_get_int64(store, "audio.volume", &volume, &why));
  CHECK_UINT(before, look(word));
  EXPECT(KEPT_OK, kept_set_int64(other, "audio.volume", 2, &why));
  uint64_t after = look(word);
  CHECK(after != before && after % 2 == 0);
  CHECK_UINT(after, look(kept_store_generation(other)));
  /* Writing the stored value again is not a change. */
  EXPECT(KEPT_OK, kept_set_int64(store, "audio.volume", 2, &why));
  EXPECT(KEPT_OK, kept_get_int64(store, "audio.volume", &volume, &why));
  CHECK_INT(2, volume);
}

ROLE(writer, location) {
  EXPECT(KEPT_OK, kept_set_int64(open_at(location), "key", 1, &why));
  signal_parent();
  await_parent();
}

FOLDER_TEST(another_process_moves_the_generation) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  const uint64_t *word = kept_store_generation(store);
  CHECK(word != NULL);
  if (word == NULL) return;
  uint64_t before = look(word);
  child other = start_child("writer", location);
  await_child(&other);
  CHECK(look(word) != before);
  kill_child(&other);
}

TEST(the_generation_can_be_read_after_closing) {
  kept_store *store = fresh_store();
  const uint64_t *word = kept_store_generation(store);
  CHECK(word != NULL);
  kept_close(store);
  if (word != NULL) (void)look(word);
  CHECK(kept_store_generation(store) != NULL && look(kept_store_generation(store)) % 2 == 1);
}

TEST(the_generation_of_a_memory_store_is_always_odd) {
  kept_store *store = NULL;
  EXPECT(KEPT_OK, kept_open("memory:", NULL, &store, &why));
  const uint64_t *word = kept_store_generation(store);
  CHECK(word != NULL);
  for (int64_t number = 0; word != NULL && number < 3; number++) {
    EXPECT(KEPT_OK, kept_set_int64(store, "n", number, &why));
    CHECK_UINT(1, look(word) % 2);
  }
  kept_close(store);
}

TEST(only_a_store_has_a_generation) {
  kept_store *transaction = NULL;
  CHECK(kept_store_generation(NULL) == NULL);
  EXPECT(KEPT_OK, kept_begin(fresh_store(), NULL, &transaction, &why));
  CHECK(kept_store_generation(transaction) == NULL);
  kept_rollback(transaction);
  CHECK(kept_store_generation(transaction) == NULL);
}
