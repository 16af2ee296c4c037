// The interface as a program in C uses it. Ends with 0 if all is as it should be, else it says what is not.

#include <quorate.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A program has the sizes and places of the header with which it was compiled. Others need another QUORATE_ABI.
_Static_assert(QUORATE_ABI == 1, "write the new sizes and places here and in src/abi/mod.rs");
#define SIZE(structure, size) _Static_assert(sizeof(struct structure) == (size), #structure)
#define PLACE(structure, field, place) _Static_assert(offsetof(struct structure, field) == (place), #structure "." #field)
SIZE(quorate_bytes, 16);
PLACE(quorate_bytes, data, 0);
PLACE(quorate_bytes, size, 8);
SIZE(quorate_error, 512);
PLACE(quorate_error, code, 0);
PLACE(quorate_error, text, 4);
SIZE(quorate_options, 32);
PLACE(quorate_options, threads, 0);
PLACE(quorate_options, soundness, 4);
PLACE(quorate_options, backend, 8);
PLACE(quorate_options, backend_size, 16);
PLACE(quorate_options, most_known, 24);
SIZE(quorate_claim, 112);
PLACE(quorate_claim, suite, 0);
PLACE(quorate_claim, kind, 4);
PLACE(quorate_claim, public_keys, 8);
PLACE(quorate_claim, public_key_count, 16);
PLACE(quorate_claim, messages, 24);
PLACE(quorate_claim, message_count, 32);
PLACE(quorate_claim, signature, 40);
PLACE(quorate_claim, source, 56);
PLACE(quorate_claim, key_set, 72);
PLACE(quorate_claim, members, 80);
PLACE(quorate_claim, indices, 96);
PLACE(quorate_claim, index_count, 104);
SIZE(quorate_batcher_options, 56);
PLACE(quorate_batcher_options, threads, 0);
PLACE(quorate_batcher_options, soundness, 4);
PLACE(quorate_batcher_options, backend, 8);
PLACE(quorate_batcher_options, backend_size, 16);
PLACE(quorate_batcher_options, linger_us, 24);
PLACE(quorate_batcher_options, target_us, 32);
PLACE(quorate_batcher_options, queue_us, 40);
PLACE(quorate_batcher_options, queue_bytes, 48);

// Claims; a multiple of eight, from 16 on.
#ifndef COUNT
#define COUNT 64
#endif
// The backend of verifiers and batchers; without a name the fastest one.
#ifndef BACKEND
#define BACKEND ""
#endif
#define KEY 48
#define SIGNATURE 96

static void check_at(int line, bool fine, const char *what) {
  if (!fine) {
    fprintf(stderr, "library.c:%d: %s\n", line, what);
    exit(1);
  }
}
#define CHECK(condition) check_at(__LINE__, (condition), #condition)

static struct quorate_error error;
// A call that must work.
#define OK(call) \
  do { \
    if ((call) != QUORATE_CODE_OK) { \
      fprintf(stderr, "library.c:%d: %s: %s\n", __LINE__, #call, error.text); \
      exit(1); \
    } \
  } while (0)
// A call that must fail, with a text.
#define FAILS(expected, call) \
  do { \
    error.text[0] = 0; \
    CHECK((call) == (expected)); \
    CHECK(error.code == (expected) && error.text[0] != 0); \
  } while (0)

static struct quorate_bytes bytes(const void *data, size_t size) {
  struct quorate_bytes bytes = {data, size};
  return bytes;
}

// What signers made: message number i is the byte i.
struct signers {
  uint32_t suite;
  uint8_t messages[COUNT];
  uint8_t keys[COUNT][KEY];
  uint8_t signatures[COUNT][SIGNATURE];
  uint8_t same[COUNT][SIGNATURE];
  uint8_t proofs[COUNT][SIGNATURE];
};

static void make_signers(struct signers *signers) {
  OK(quorate_suite("eth2", 4, &signers->suite, &error));
  size_t key = 0, signature = 0;
  OK(quorate_suite_lengths(signers->suite, &key, &signature, &error));
  CHECK(key == KEY && signature == SIGNATURE);
  for (int i = 0; i < COUNT; i++) {
    uint8_t material[32] = {0};
    material[0] = (uint8_t)i;
    signers->messages[i] = (uint8_t)i;
    struct quorate_secret_key *secret = NULL;
    OK(quorate_secret_key_derive(signers->suite, bytes(material, 32), bytes(NULL, 0), &secret, &error));
    OK(quorate_secret_key_public_key(secret, signers->keys[i], KEY, &error));
    OK(quorate_secret_key_sign(secret, &signers->messages[i], 1, signers->signatures[i], SIGNATURE, &error));
    OK(quorate_secret_key_sign(secret, (const uint8_t *)"same", 4, signers->same[i], SIGNATURE, &error));
    OK(quorate_secret_key_prove(secret, signers->proofs[i], SIGNATURE, &error));
    quorate_secret_key_free(secret);
  }
}

struct claims {
  struct quorate_bytes keys[COUNT], messages[COUNT];
  struct quorate_claim claims[COUNT];
};

static void make_claims(struct claims *claims, const struct signers *signers) {
  for (int i = 0; i < COUNT; i++) {
    claims->keys[i] = bytes(signers->keys[i], KEY);
    claims->messages[i] = bytes(&signers->messages[i], 1);
    struct quorate_claim claim = {.suite = signers->suite, .kind = QUORATE_MESSAGES_SHARED,
                                  .public_keys = &claims->keys[i], .public_key_count = 1,
                                  .messages = &claims->messages[i], .message_count = 1,
                                  .signature = bytes(signers->signatures[i], SIGNATURE), .source = bytes("peer", 4)};
    claims->claims[i] = claim;
  }
}

static void verdicts_with_reasons(const struct quorate_verifier *verifier, const struct signers *signers) {
  struct claims made;
  make_claims(&made, signers);
  // The wrong signature, half of a signature, no keys, an unknown key.
  made.claims[3].signature = bytes(signers->signatures[4], SIGNATURE);
  made.claims[5].signature.size = SIGNATURE / 2;
  made.claims[7].public_key_count = 0;
  static const uint8_t zeros[KEY];
  made.keys[9] = bytes(zeros, KEY);
  // A proof of possession, and one of somebody else.
  made.claims[11].kind = made.claims[13].kind = QUORATE_MESSAGES_POSSESSION;
  made.claims[11].message_count = made.claims[13].message_count = 0;
  made.claims[11].signature = made.claims[13].signature = bytes(signers->proofs[11], SIGNATURE);

  uint8_t verdicts[COUNT];
  memset(verdicts, QUORATE_VERDICT_VALID, COUNT);
  struct quorate_verdicts *reasons = NULL;
  OK(quorate_verify(verifier, made.claims, COUNT, false, verdicts, &reasons, &error));
  for (int i = 0; i < COUNT; i++) {
    uint8_t expected = i == 3 || i == 13 ? QUORATE_VERDICT_MISMATCH
                       : i == 5 || i == 9 ? QUORATE_VERDICT_ENCODING
                       : i == 7           ? QUORATE_VERDICT_RULE
                                          : QUORATE_VERDICT_VALID;
    CHECK(verdicts[i] == expected);
    char text[200];
    size_t length = 1;
    OK(quorate_verdicts_reason(reasons, (size_t)i, text, sizeof text, &length, &error));
    CHECK(strlen(text) == length && (length == 0) == (expected == QUORATE_VERDICT_VALID));
  }
  char text[200], little[8];
  size_t length = 0;
  OK(quorate_verdicts_reason(reasons, 5, text, sizeof text, &length, &error));
  CHECK(strcmp(text, "signature: found 48 bytes, expected the 96 bytes of a G2 point") == 0);
  OK(quorate_verdicts_reason(reasons, 5, little, sizeof little, &length, &error));
  CHECK(strcmp(little, "signatu") == 0 && length == strlen(text));
  OK(quorate_verdicts_reason(reasons, 5, NULL, 0, &length, &error));
  CHECK(length == strlen(text));
  FAILS(QUORATE_CODE_MISUSE, quorate_verdicts_reason(reasons, COUNT, text, sizeof text, NULL, &error));
  quorate_verdicts_free(reasons);
  OK(quorate_verify(verifier, NULL, 0, false, NULL, NULL, &error));
}

static size_t pack_word(uint8_t *packed, size_t at, uint32_t word) {
  for (int i = 0; i < 4; i++) packed[at + (size_t)i] = (uint8_t)(word >> (8 * i));
  return at + 4;
}

static size_t pack_bytes(uint8_t *packed, size_t at, const void *data, uint32_t size) {
  at = pack_word(packed, at, size);
  if (size != 0) memcpy(packed + at, data, size);
  return at + size;
}

static void packed_claims(const struct quorate_verifier *verifier, const struct signers *signers) {
  static uint8_t packed[COUNT * 256];
  size_t size = 0;
  for (int i = 0; i < COUNT; i++) {
    const uint32_t head[] = {signers->suite, QUORATE_MESSAGES_SHARED, 1, 1};
    for (int word = 0; word < 4; word++) size = pack_word(packed, size, head[word]);
    size = pack_bytes(packed, size, signers->keys[i], KEY);
    size = pack_bytes(packed, size, &signers->messages[i == 8 ? 9 : i], 1);
    size = pack_bytes(packed, size, signers->signatures[i], SIGNATURE);
    size = pack_bytes(packed, size, "", 0);
  }
  uint8_t verdicts[COUNT];
  OK(quorate_verify_packed(verifier, packed, size, COUNT, true, verdicts, NULL, &error));
  for (int i = 0; i < COUNT; i++) CHECK((verdicts[i] == QUORATE_VERDICT_VALID) == (i != 8));
  size_t known = 0;
  OK(quorate_verifier_known(verifier, &known, &error));
  CHECK(known == COUNT - 1);
  OK(quorate_verifier_forget(verifier, &error));
  OK(quorate_verifier_known(verifier, &known, &error));
  CHECK(known == 0);

  char plan[20000];
  size_t length = 0;
  OK(quorate_plan(verifier, packed, size, plan, sizeof plan, &length, &error));
  CHECK(length > 0 && length < sizeof plan && strstr(plan, "pairing") != NULL);

  // Whatever cannot be read leaves nothing valid.
  memset(verdicts, QUORATE_VERDICT_VALID, COUNT);
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify_packed(verifier, packed, size - 1, COUNT, false, verdicts, NULL, &error));
  for (int i = 0; i < COUNT; i++) CHECK(verdicts[i] == QUORATE_VERDICT_UNDECIDED);
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify_packed(verifier, packed, size, COUNT - 1, false, verdicts, NULL, &error));
  FAILS(QUORATE_CODE_NULL, quorate_verify_packed(verifier, NULL, size, COUNT, false, verdicts, NULL, &error));
}

static void sums_and_sets(const struct quorate_verifier *verifier, const struct signers *signers) {
  uint8_t sum[SIGNATURE + 1], rest[SIGNATURE], key[KEY], of_set[KEY];
  // More room than a sum needs is fine.
  sum[SIGNATURE] = 7;
  OK(quorate_aggregate(signers->suite, signers->same[0], COUNT * SIGNATURE, sum, sizeof sum, &error));
  CHECK(sum[SIGNATURE] == 7);
  OK(quorate_aggregate_public_keys(signers->suite, signers->keys[0], COUNT * KEY, key, KEY, &error));
  uint8_t verdict = QUORATE_VERDICT_UNDECIDED;
  OK(quorate_verify_one(verifier, signers->suite, bytes(key, KEY), bytes("same", 4), bytes(sum, SIGNATURE), &verdict, NULL, &error));
  CHECK(verdict == QUORATE_VERDICT_VALID);
  OK(quorate_verify_one(verifier, signers->suite, bytes(key, KEY), bytes("some", 4), bytes(sum, SIGNATURE), &verdict, NULL, &error));
  CHECK(verdict == QUORATE_VERDICT_MISMATCH);

  // Keys that the verifier knows, or not, have the same sum.
  for (int again = 0; again < 2; again++) {
    OK(quorate_verifier_aggregate_public_keys(verifier, signers->suite, signers->keys[0], COUNT * KEY, of_set, KEY, &error));
    CHECK(memcmp(key, of_set, KEY) == 0);
  }
  FAILS(QUORATE_CODE_ENCODING, quorate_verifier_aggregate_public_keys(verifier, signers->suite, signers->same[0], SIGNATURE, key, KEY, &error));
  OK(quorate_aggregate_checked(signers->suite, signers->same[0], COUNT * SIGNATURE, rest, SIGNATURE, &error));
  CHECK(memcmp(sum, rest, SIGNATURE) == 0);

  struct quorate_key_set *set = NULL;
  OK(quorate_key_set_new(signers->suite, &set, &error));
  OK(quorate_key_set_push(set, signers->keys[0], (COUNT - 1) * KEY, true, &error));
  OK(quorate_key_set_push(set, signers->keys[COUNT - 1], KEY, false, &error));
  OK(quorate_key_set_push(set, NULL, 0, true, &error));
  size_t members = 0;
  OK(quorate_key_set_members(set, &members, &error));
  CHECK(members == COUNT);
  uint8_t all[COUNT / 8];
  memset(all, 0xff, sizeof all);
  OK(quorate_key_set_sum(set, all, sizeof all, of_set, KEY, &error));
  CHECK(memcmp(key, of_set, KEY) == 0);
  // The last member has not shown that it holds its secret.
  FAILS(QUORATE_CODE_MISUSE, quorate_key_set_verify(set, bytes(all, sizeof all), bytes("same", 4), bytes(sum, SIGNATURE), &verdict, NULL, &error));
  CHECK(verdict == QUORATE_VERDICT_UNDECIDED);
  // A true proof whose answer has no place changes nothing.
  FAILS(QUORATE_CODE_NULL, quorate_key_set_prove(set, COUNT - 1, signers->proofs[COUNT - 1], SIGNATURE, NULL, &error));
  FAILS(QUORATE_CODE_MISUSE, quorate_key_set_verify(set, bytes(all, sizeof all), bytes("same", 4), bytes(sum, SIGNATURE), &verdict, NULL, &error));
  bool proven = true;
  FAILS(QUORATE_CODE_ENCODING, quorate_key_set_prove(set, COUNT - 1, signers->proofs[COUNT - 1], SIGNATURE - 1, &proven, &error));
  CHECK(!proven);
  proven = true;
  OK(quorate_key_set_prove(set, COUNT - 1, signers->proofs[0], SIGNATURE, &proven, &error));
  CHECK(!proven);
  OK(quorate_key_set_prove(set, COUNT - 1, signers->proofs[COUNT - 1], SIGNATURE, &proven, &error));
  CHECK(proven);
  OK(quorate_key_set_verify(set, bytes(all, sizeof all), bytes("same", 4), bytes(sum, SIGNATURE), &verdict, NULL, &error));
  CHECK(verdict == QUORATE_VERDICT_VALID);
  // Without member 0, the sum is another one.
  struct quorate_verdicts *reasons = NULL;
  all[0] = 0xfe;
  OK(quorate_key_set_verify(set, bytes(all, sizeof all), bytes("same", 4), bytes(sum, SIGNATURE), &verdict, &reasons, &error));
  CHECK(verdict == QUORATE_VERDICT_MISMATCH);
  char text[100];
  OK(quorate_verdicts_reason(reasons, 0, text, sizeof text, NULL, &error));
  CHECK(strstr(text, "does not match") != NULL);
  quorate_verdicts_free(reasons);
  OK(quorate_subtract(signers->suite, bytes(sum, SIGNATURE), bytes(NULL, 0), rest, SIGNATURE, &error));
  CHECK(memcmp(sum, rest, SIGNATURE) == 0);
  OK(quorate_subtract(signers->suite, bytes(sum, SIGNATURE), bytes(signers->same[0], SIGNATURE), rest, SIGNATURE, &error));
  OK(quorate_key_set_verify(set, bytes(all, sizeof all), bytes("same", 4), bytes(rest, SIGNATURE), &verdict, NULL, &error));
  CHECK(verdict == QUORATE_VERDICT_VALID);
  uint8_t beyond[COUNT / 8 + 1] = {0};
  beyond[COUNT / 8] = 1;
  FAILS(QUORATE_CODE_MISUSE, quorate_key_set_sum(set, beyond, sizeof beyond, key, KEY, &error));
  // The texts are those of a caller who gave a number, and of one who verifies.
  FAILS(QUORATE_CODE_MISUSE, quorate_key_set_prove(set, COUNT, signers->proofs[0], SIGNATURE, &proven, &error));
  CHECK(strstr(error.text, "there is no member ") != NULL);
  FAILS(QUORATE_CODE_MISUSE, quorate_key_set_verify(set, bytes(NULL, 0), bytes("same", 4), bytes(sum, SIGNATURE), &verdict, NULL, &error));
  CHECK(strcmp(error.text, "no members signed: the bitmap is empty") == 0);
  FAILS(QUORATE_CODE_ENCODING, quorate_key_set_push(set, signers->keys[0], KEY - 1, true, &error));
  // The sum of nobody's keys is the identity.
  OK(quorate_key_set_sum(set, NULL, 0, of_set, KEY, &error));
  CHECK(of_set[0] == 0xc0);
  quorate_key_set_free(set);
}

static struct quorate_batcher_options batcher_options(uint32_t threads) {
  struct quorate_batcher_options options = {0};
  options.threads = threads;
  options.backend = BACKEND;
  options.backend_size = strlen(BACKEND);
  return options;
}

struct answers {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int count, valid;
};

static void answered(void *user, uint8_t verdict, const char *reason, size_t size) {
  struct answers *answers = user;
  CHECK(reason != NULL && (size == 0) == (verdict == QUORATE_VERDICT_VALID));
  pthread_mutex_lock(&answers->lock);
  answers->count++;
  answers->valid += verdict == QUORATE_VERDICT_VALID;
  pthread_cond_signal(&answers->changed);
  pthread_mutex_unlock(&answers->lock);
}

// Waits until so many claims have their answers.
static void await(struct answers *answers, int count) {
  pthread_mutex_lock(&answers->lock);
  while (answers->count < count) pthread_cond_wait(&answers->changed, &answers->lock);
  pthread_mutex_unlock(&answers->lock);
}

// The claim that members of a set signed "same".
static struct quorate_claim claim_of(const struct signers *signers, uint64_t set, const struct quorate_bytes *message, const uint8_t *signature) {
  struct quorate_claim claim = {.suite = signers->suite, .kind = QUORATE_MESSAGES_SHARED, .messages = message, .message_count = 1,
                                .signature = bytes(signature, SIGNATURE), .key_set = set};
  return claim;
}

// A bitmap, or indices, as a packed claim has them.
static size_t pack_members(uint8_t *packed, const struct quorate_claim *claim, uint32_t signers_kind, const void *members, uint32_t size) {
  const uint32_t head[] = {claim->suite, claim->kind + signers_kind, 0, 1, (uint32_t)claim->key_set, (uint32_t)(claim->key_set >> 32)};
  size_t at = 0;
  for (int word = 0; word < 6; word++) at = pack_word(packed, at, head[word]);
  at = pack_bytes(packed, at, members, size);
  at = pack_bytes(packed, at, claim->messages[0].data, (uint32_t)claim->messages[0].size);
  at = pack_bytes(packed, at, claim->signature.data, (uint32_t)claim->signature.size);
  return pack_bytes(packed, at, claim->source.data, (uint32_t)claim->source.size);
}

static void reason_is(const struct quorate_verdicts *reasons, size_t index, const char *expected) {
  char text[200];
  OK(quorate_verdicts_reason(reasons, index, text, sizeof text, NULL, &error));
  if (strstr(text, expected) == NULL) fprintf(stderr, "claim %zu: found \"%s\", expected \"%s\"\n", index, text, expected);
  CHECK(strstr(text, expected) != NULL);
}

static void claims_of_members(const struct quorate_verifier *verifier, const struct signers *signers) {
  struct quorate_key_set *set = NULL, *unproven = NULL, *of_other_variant = NULL;
  uint32_t in_g2 = 0;
  OK(quorate_suite("drand-quicknet", 14, &in_g2, &error));
  OK(quorate_key_set_new(signers->suite, &set, &error));
  OK(quorate_key_set_push(set, signers->keys[0], COUNT * KEY, true, &error));
  OK(quorate_key_set_new(signers->suite, &unproven, &error));
  OK(quorate_key_set_push(unproven, signers->keys[0], 4 * KEY, false, &error));
  OK(quorate_key_set_new(in_g2, &of_other_variant, &error));
  uint64_t number = 0, of_unproven = 0, of_other = 0;
  OK(quorate_key_set_number(set, &number, &error));
  OK(quorate_key_set_number(unproven, &of_unproven, &error));
  OK(quorate_key_set_number(of_other_variant, &of_other, &error));
  CHECK(number != 0 && number != of_unproven && number != of_other);
  FAILS(QUORATE_CODE_NULL, quorate_key_set_number(set, NULL, &error));

  uint8_t all[COUNT / 8 + 1] = {0}, first_three = 7, wider[COUNT / 8 + 1] = {7}, beyond[COUNT / 8 + 1] = {7}, sum[SIGNATURE], of_three[SIGNATURE], twice[SIGNATURE];
  memset(all, 0xff, COUNT / 8);
  beyond[COUNT / 8] = 1;
  OK(quorate_aggregate(signers->suite, signers->same[0], COUNT * SIGNATURE, sum, SIGNATURE, &error));
  OK(quorate_aggregate(signers->suite, signers->same[0], 3 * SIGNATURE, of_three, SIGNATURE, &error));
  memcpy(twice, signers->same[0], SIGNATURE);
  uint8_t pair[2 * SIGNATURE];
  memcpy(pair, twice, SIGNATURE);
  memcpy(pair + SIGNATURE, twice, SIGNATURE);
  OK(quorate_aggregate(signers->suite, pair, sizeof pair, twice, SIGNATURE, &error));
  const uint32_t three[] = {2, 0, 1}, repeated[] = {0, 0}, absent[] = {0, COUNT}, one[] = {3};
  const struct quorate_bytes same = bytes("same", 4);

  enum { CLAIMS = 13 };
  struct quorate_claim claims[CLAIMS];
  uint8_t expected[CLAIMS];
  for (int i = 0; i < CLAIMS; i++) {
    claims[i] = claim_of(signers, number, &same, of_three);
    expected[i] = QUORATE_VERDICT_VALID;
  }
  claims[0].signature.data = sum;
  claims[0].members = bytes(all, COUNT / 8);
  claims[1].members = bytes(&first_three, 1);
  claims[2].indices = three;
  claims[2].index_count = 3;
  // Zeros at the end of a bitmap stand for nobody.
  claims[3].members = bytes(wider, sizeof wider);
  // Others than those who signed.
  claims[4].members = bytes(all, COUNT / 8);
  expected[4] = QUORATE_VERDICT_MISMATCH;
  // Nobody.
  expected[5] = QUORATE_VERDICT_RULE;
  // A member that is not there, in both forms.
  claims[6].members = bytes(beyond, sizeof beyond);
  claims[7].indices = absent;
  claims[7].index_count = 2;
  expected[6] = expected[7] = QUORATE_VERDICT_KEY_SET;
  // An index that stands there twice counts twice.
  claims[8].indices = repeated;
  claims[8].index_count = 2;
  claims[8].signature.data = twice;
  // Members who have proven nothing, several of them and one.
  claims[9].key_set = claims[10].key_set = of_unproven;
  claims[9].members = bytes(&first_three, 1);
  expected[9] = QUORATE_VERDICT_KEY_SET;
  claims[10].indices = one;
  claims[10].index_count = 1;
  claims[10].signature.data = signers->same[3];
  // A set of keys in the other group.
  claims[11].key_set = of_other;
  claims[11].members = bytes(&first_three, 1);
  expected[11] = QUORATE_VERDICT_KEY_SET;
  // Keys that stand in the claim, in the same call.
  const struct quorate_bytes key = bytes(signers->keys[5], KEY);
  claims[12].key_set = 0;
  claims[12].public_keys = &key;
  claims[12].public_key_count = 1;
  claims[12].signature.data = signers->same[5];

  uint8_t verdicts[CLAIMS];
  struct quorate_verdicts *reasons = NULL;
  OK(quorate_verify(verifier, claims, CLAIMS, false, verdicts, &reasons, &error));
  for (int i = 0; i < CLAIMS; i++) CHECK(verdicts[i] == expected[i]);
  reason_is(reasons, 5, "the claim has no keys and messages");
  char text[200];
  snprintf(text, sizeof text, "the claim names member %d of a key set of %d", COUNT, COUNT);
  reason_is(reasons, 6, text);
  reason_is(reasons, 7, text);
  reason_is(reasons, 9, "member 0 of the key set has not proven possession of its key");
  reason_is(reasons, 11, "the key set is one of another variant than the claim's suite");
  quorate_verdicts_free(reasons);
  // Under the suite of sync aggregates, nobody and the identity are valid.
  uint8_t identity[SIGNATURE] = {0xc0};
  struct quorate_claim nobody = claim_of(signers, number, &same, identity);
  OK(quorate_suite("eth2-sync-aggregate", 19, &nobody.suite, &error));
  OK(quorate_verify(verifier, &nobody, 1, false, verdicts, NULL, &error));
  CHECK(verdicts[0] == QUORATE_VERDICT_VALID);

  // Packed claims name them too.
  static uint8_t packed[300];
  static const uint8_t of_one[] = {3, 0, 0, 0};
  uint8_t verdict = QUORATE_VERDICT_UNDECIDED;
  size_t size = pack_members(packed, &claims[0], QUORATE_SIGNERS_BITMAP, all, COUNT / 8);
  OK(quorate_verify_packed(verifier, packed, size, 1, false, &verdict, NULL, &error));
  CHECK(verdict == QUORATE_VERDICT_VALID);
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify_packed(verifier, packed, 20, 1, false, &verdict, NULL, &error));
  size = pack_members(packed, &claims[10], QUORATE_SIGNERS_INDICES, of_one, 4);
  OK(quorate_verify_packed(verifier, packed, size, 1, false, &verdict, NULL, &error));
  CHECK(verdict == QUORATE_VERDICT_VALID);

  // And claims of a batcher: a member that is not there says nothing about who sent the claim, who is not banned for it.
  struct quorate_batcher *batcher = NULL;
  OK(quorate_batcher_new(NULL, &batcher, &error));
  struct answers answers = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
  claims[6].source = claims[0].source = bytes("peer", 4);
  for (int i = 0; i < 20; i++) OK(quorate_batcher_submit(batcher, &claims[i == 19 ? 0 : 6], QUORATE_CLASS_BLOCK, 0, answered, &answers, &error));
  await(&answers, 20);
  CHECK(answers.valid == 1);
  size = pack_members(packed, &claims[10], QUORATE_SIGNERS_INDICES, of_one, 4);
  OK(quorate_batcher_verify_packed(batcher, packed, size, 1, QUORATE_CLASS_BLOCK, 0, &verdict, &error));
  CHECK(verdict == QUORATE_VERDICT_VALID);

  // What cannot be read as a claim fails the whole call.
  struct quorate_claim wrong = claims[1];
  wrong.key_set = 0;
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify(verifier, &wrong, 1, false, verdicts, NULL, &error));
  CHECK(strcmp(error.text, "claim 0: members are named, but no key set; give its number in key_set") == 0);
  CHECK(verdicts[0] == QUORATE_VERDICT_UNDECIDED);
  wrong = claims[1];
  wrong.public_keys = &key;
  wrong.public_key_count = 1;
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify(verifier, &wrong, 1, false, verdicts, NULL, &error));
  CHECK(strstr(error.text, "public_keys and key_set are both given") != NULL);
  wrong = claims[1];
  wrong.indices = three;
  wrong.index_count = 3;
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify(verifier, &wrong, 1, false, verdicts, NULL, &error));
  CHECK(strstr(error.text, "members and indices are both given") != NULL);
  wrong = claims[2];
  wrong.indices = NULL;
  FAILS(QUORATE_CODE_NULL, quorate_verify(verifier, &wrong, 1, false, verdicts, NULL, &error));

  // A claim that was handed in keeps its set. Whoever names a freed one hears of it, in every build.
  const int before = answers.count;
  OK(quorate_batcher_submit(batcher, &claims[0], QUORATE_CLASS_GOSSIP, 0, answered, &answers, &error));
  quorate_key_set_free(set);
  await(&answers, before + 1);
  CHECK(answers.valid == 2);
  FAILS(QUORATE_CODE_HANDLE, quorate_verify(verifier, claims, CLAIMS, false, verdicts, NULL, &error));
  CHECK(strncmp(error.text, "claim 0: there is no key set with the number ", 45) == 0);
  for (int i = 0; i < CLAIMS; i++) CHECK(verdicts[i] == QUORATE_VERDICT_UNDECIDED);
  FAILS(QUORATE_CODE_HANDLE, quorate_batcher_submit(batcher, &claims[0], QUORATE_CLASS_GOSSIP, 0, answered, &answers, &error));
  size = pack_members(packed, &claims[0], QUORATE_SIGNERS_BITMAP, all, COUNT / 8);
  FAILS(QUORATE_CODE_HANDLE, quorate_verify_packed(verifier, packed, size, 1, false, &verdict, NULL, &error));
  quorate_batcher_free(batcher);
  CHECK(answers.count == before + 1);
  quorate_key_set_free(unproven);
  quorate_key_set_free(of_other_variant);
}

static void bdn(const struct quorate_verifier *verifier, const struct signers *signers) {
  static const char names[2][44] = {"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_BDN_", "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_"};
  enum { SIGNERS = 3 };
  for (int variant = 0; variant < 2; variant++) {
    uint32_t suite = 0;
    size_t key_size = 0, size = 0;
    OK(quorate_suite(names[variant], 43, &suite, &error));
    OK(quorate_suite_lengths(suite, &key_size, &size, &error));
    uint8_t keys[SIGNERS * SIGNATURE], signatures[SIGNERS * SIGNATURE], aggregate[SIGNATURE], sum[SIGNATURE];
    struct quorate_bytes each[SIGNERS];
    for (int i = 0; i < SIGNERS; i++) {
      struct quorate_secret_key *secret = NULL;
      OK(quorate_secret_key_generate(suite, &secret, &error));
      OK(quorate_secret_key_public_key(secret, keys + (size_t)i * key_size, key_size, &error));
      OK(quorate_secret_key_sign(secret, (const uint8_t *)"same", 4, signatures + (size_t)i * size, size, &error));
      quorate_secret_key_free(secret);
      // The keys of a claim may come in any order.
      each[SIGNERS - 1 - i] = bytes(keys + (size_t)i * key_size, key_size);
    }
    const struct quorate_bytes all_keys = bytes(keys, SIGNERS * key_size), all = bytes(signatures, SIGNERS * size);
    OK(quorate_bdn_aggregate(suite, all_keys, all, aggregate, sizeof aggregate, &error));
    const struct quorate_bytes same = bytes("same", 4);
    struct quorate_claim claims[2] = {{.suite = suite, .kind = QUORATE_MESSAGES_SHARED, .public_keys = each, .public_key_count = SIGNERS,
                                       .messages = &same, .message_count = 1, .signature = bytes(aggregate, size)}};
    // The coefficients are those of all signers.
    claims[1] = claims[0];
    claims[1].public_key_count = SIGNERS - 1;
    uint8_t verdicts[2];
    OK(quorate_verify(verifier, claims, 2, false, verdicts, NULL, &error));
    CHECK(verdicts[0] == QUORATE_VERDICT_VALID && verdicts[1] == QUORATE_VERDICT_MISMATCH);
    // So does one of the sum of the keys, and one of members of a set.
    OK(quorate_aggregate_public_keys(suite, keys, SIGNERS * key_size, sum, sizeof sum, &error));
    OK(quorate_verify_one(verifier, suite, bytes(sum, key_size), same, bytes(aggregate, size), verdicts, NULL, &error));
    CHECK(verdicts[0] == QUORATE_VERDICT_VALID);
    struct quorate_key_set *set = NULL;
    struct quorate_claim of_members = claims[0];
    const uint8_t three = 7;
    OK(quorate_key_set_new(suite, &set, &error));
    OK(quorate_key_set_push(set, keys, SIGNERS * key_size, false, &error));
    OK(quorate_key_set_number(set, &of_members.key_set, &error));
    of_members.public_key_count = 0;
    of_members.members = bytes(&three, 1);
    OK(quorate_verify(verifier, &of_members, 1, false, verdicts, NULL, &error));
    CHECK(verdicts[0] == QUORATE_VERDICT_VALID);
    quorate_key_set_free(set);

    FAILS(QUORATE_CODE_MISUSE, quorate_bdn_aggregate(suite, all_keys, bytes(signatures, size), aggregate, sizeof aggregate, &error));
    CHECK(strcmp(error.text, "found 3 public keys and 1 signatures, expected the signature of each key") == 0);
    FAILS(QUORATE_CODE_MISUSE, quorate_bdn_aggregate(suite, bytes(NULL, 0), bytes(NULL, 0), aggregate, sizeof aggregate, &error));
    memcpy(keys + key_size, keys, key_size);
    FAILS(QUORATE_CODE_MISUSE, quorate_bdn_aggregate(suite, all_keys, all, aggregate, sizeof aggregate, &error));
    FAILS(QUORATE_CODE_ENCODING, quorate_bdn_aggregate(suite, bytes(keys, key_size - 1), all, aggregate, sizeof aggregate, &error));
    FAILS(QUORATE_CODE_TOO_SMALL, quorate_bdn_aggregate(suite, bytes(keys, key_size), bytes(signatures, size), aggregate, size - 1, &error));
    FAILS(QUORATE_CODE_NULL, quorate_bdn_aggregate(suite, bytes(NULL, key_size), bytes(signatures, size), aggregate, size, &error));
  }
  uint8_t aggregate[SIGNATURE];
  FAILS(QUORATE_CODE_MISUSE, quorate_bdn_aggregate(signers->suite, bytes(signers->keys[0], KEY), bytes(signers->same[0], SIGNATURE), aggregate, SIGNATURE, &error));
  CHECK(strstr(error.text, "its scheme is not BDN") != NULL);
}

// The structures of Arrow, as every program has them: https://arrow.apache.org/docs/format/CDataInterface.html
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

// Rows of a batch, and columns.
enum { ROWS = 9, COLUMNS = 3 };
// Schemas, arrays and streams of this program that nobody has released.
static int held;

struct fields {
  struct ArrowSchema columns[COLUMNS], *places[COLUMNS];
};

static void release_field(struct ArrowSchema *field) { field->release = NULL; }

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
  }
  free(schema->private_data);
  schema->release = NULL;
  held--;
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *place) {
  (void)stream;
  static const char *const names[COLUMNS] = {"public_key", "message", "signature"};
  struct fields *fields = calloc(1, sizeof *fields);
  CHECK(fields != NULL);
  for (int i = 0; i < COLUMNS; i++) {
    struct ArrowSchema field = {"z", names[i], NULL, 0, 0, NULL, NULL, release_field, NULL};
    fields->columns[i] = field;
    fields->places[i] = &fields->columns[i];
  }
  struct ArrowSchema schema = {"+s", "", NULL, 0, COLUMNS, fields->places, NULL, release_schema, fields};
  *place = schema;
  held++;
  return 0;
}

struct batch {
  int32_t ends[COLUMNS][ROWS + 1];
  uint8_t values[COLUMNS][ROWS * SIGNATURE];
  const void *none[1], *buffers[COLUMNS][3];
  struct ArrowArray columns[COLUMNS], *places[COLUMNS];
};

static void release_column(struct ArrowArray *column) { column->release = NULL; }

static void release_rows(struct ArrowArray *rows) {
  for (int64_t i = 0; i < rows->n_children; i++) {
    if (rows->children[i]->release != NULL) rows->children[i]->release(rows->children[i]);
  }
  free(rows->private_data);
  rows->release = NULL;
  held--;
}

// The claims of signers, the last of which has the signature of another.
static void make_rows(const struct signers *signers, struct ArrowArray *place) {
  static const int32_t sizes[COLUMNS] = {KEY, 1, SIGNATURE};
  struct batch *batch = calloc(1, sizeof *batch);
  CHECK(batch != NULL);
  for (int row = 0; row < ROWS; row++) {
    const uint8_t *parts[COLUMNS] = {signers->keys[row], &signers->messages[row], signers->signatures[row == ROWS - 1 ? 0 : row]};
    for (int i = 0; i < COLUMNS; i++) {
      memcpy(&batch->values[i][row * sizes[i]], parts[i], (size_t)sizes[i]);
      batch->ends[i][row + 1] = (row + 1) * sizes[i];
    }
  }
  for (int i = 0; i < COLUMNS; i++) {
    batch->buffers[i][1] = batch->ends[i];
    batch->buffers[i][2] = batch->values[i];
    struct ArrowArray column = {ROWS, 0, 0, 3, 0, batch->buffers[i], NULL, NULL, release_column, NULL};
    batch->columns[i] = column;
    batch->places[i] = &batch->columns[i];
  }
  struct ArrowArray rows = {ROWS, 0, 0, 1, COLUMNS, batch->none, batch->places, NULL, release_rows, batch};
  *place = rows;
  held++;
}

// A stream of batches that ends, or fails with a code.
struct source {
  const struct signers *signers;
  int batches, code;
};

static int give_rows(struct ArrowArrayStream *stream, struct ArrowArray *place) {
  struct source *source = stream->private_data;
  if (source->batches-- > 0) {
    make_rows(source->signers, place);
    return 0;
  }
  memset(place, 0, sizeof *place);
  return source->code;
}

static const char *give_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "the disk is gone";
}

static void release_stream(struct ArrowArrayStream *stream) {
  stream->release = NULL;
  held--;
}

static struct ArrowArrayStream stream_of(struct source *source) {
  struct ArrowArrayStream stream = {give_schema, give_rows, give_error, release_stream, source};
  held++;
  return stream;
}

// The last row is false, and says why.
static void check_verdict_rows(const struct ArrowArray *rows) {
  CHECK(rows->length == ROWS && rows->n_children == 2);
  const struct ArrowArray *valid = rows->children[0], *reason = rows->children[1];
  CHECK(valid->length == ROWS && reason->length == ROWS && reason->null_count == ROWS - 1);
  const uint8_t *bits = valid->buffers[1];
  const int32_t *ends = reason->buffers[1];
  const char *text = reason->buffers[2];
  for (int row = 0; row < ROWS; row++) {
    const int64_t bit = valid->offset + row;
    CHECK((bits[bit / 8] >> (bit % 8) & 1) == (row != ROWS - 1));
  }
  const int64_t last = reason->offset + ROWS - 1;
  static const char why[] = "the signature does not match";
  CHECK(ends[last + 1] - ends[last] >= (int32_t)strlen(why));
  CHECK(strncmp(text + ends[last], why, strlen(why)) == 0);
}

static void check_verdict_fields(struct ArrowSchema *schema) {
  CHECK(strcmp(schema->format, "+s") == 0 && schema->n_children == 2);
  CHECK(strcmp(schema->children[0]->name, "valid") == 0 && strcmp(schema->children[0]->format, "b") == 0);
  CHECK(strcmp(schema->children[1]->name, "reason") == 0 && strcmp(schema->children[1]->format, "u") == 0);
  schema->release(schema);
}

static void tables(const struct quorate_verifier *verifier, const struct signers *signers) {
  struct source source = {signers, 2, 0};
  struct ArrowArrayStream claims = stream_of(&source), verdicts;
  OK(quorate_verify_arrow(verifier, signers->suite, &claims, &verdicts, &error));
  CHECK(claims.release == NULL && held == 0);
  struct ArrowSchema schema;
  struct ArrowArray rows;
  CHECK(verdicts.get_schema(&verdicts, &schema) == 0);
  check_verdict_fields(&schema);
  for (int batch = 0; batch < 2; batch++) {
    CHECK(verdicts.get_next(&verdicts, &rows) == 0);
    check_verdict_rows(&rows);
    rows.release(&rows);
  }
  CHECK(verdicts.get_next(&verdicts, &rows) == 0 && rows.release == NULL);
  verdicts.release(&verdicts);

  // Verdicts that nobody reads, and a batch that outlives its stream.
  source.batches = 2;
  claims = stream_of(&source);
  OK(quorate_verify_arrow(verifier, signers->suite, &claims, &verdicts, &error));
  CHECK(verdicts.get_next(&verdicts, &rows) == 0);
  verdicts.release(&verdicts);
  check_verdict_rows(&rows);
  rows.release(&rows);

  // What fails releases the claims, and leaves a released stream.
  source.batches = 1;
  source.code = 5;
  claims = stream_of(&source);
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify_arrow(verifier, signers->suite, &claims, &verdicts, &error));
  CHECK(strstr(error.text, "the disk is gone") != NULL);
  CHECK(claims.release == NULL && verdicts.release == NULL && held == 0);
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify_arrow(verifier, signers->suite, &claims, &verdicts, &error));
  FAILS(QUORATE_CODE_NULL, quorate_verify_arrow(verifier, signers->suite, NULL, &verdicts, &error));
  CHECK(verdicts.release == NULL);
  claims = stream_of(&source);
  FAILS(QUORATE_CODE_NULL, quorate_verify_arrow(verifier, signers->suite, &claims, NULL, &error));
  CHECK(claims.release == NULL && held == 0);
  claims = stream_of(&source);
  FAILS(QUORATE_CODE_NULL, quorate_verify_arrow(NULL, signers->suite, &claims, &verdicts, &error));
  CHECK(claims.release == NULL && held == 0);

  // One array.
  struct ArrowSchema fields;
  struct ArrowArray ruled;
  give_schema(NULL, &schema);
  make_rows(signers, &rows);
  OK(quorate_verify_arrow_array(verifier, signers->suite, &rows, &schema, &ruled, &fields, &error));
  CHECK(rows.release == NULL && schema.release == NULL && held == 0);
  check_verdict_fields(&fields);
  check_verdict_rows(&ruled);
  ruled.release(&ruled);
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify_arrow_array(verifier, signers->suite, &rows, &schema, &ruled, &fields, &error));
  CHECK(ruled.release == NULL && fields.release == NULL);
  make_rows(signers, &rows);
  FAILS(QUORATE_CODE_NULL, quorate_verify_arrow_array(verifier, signers->suite, &rows, NULL, &ruled, &fields, &error));
  give_schema(NULL, &schema);
  FAILS(QUORATE_CODE_NULL, quorate_verify_arrow_array(verifier, signers->suite, NULL, &schema, &ruled, &fields, &error));
  give_schema(NULL, &schema);
  make_rows(signers, &rows);
  FAILS(QUORATE_CODE_NULL, quorate_verify_arrow_array(verifier, signers->suite, &rows, &schema, NULL, &fields, &error));
  CHECK(rows.release == NULL && schema.release == NULL && fields.release == NULL);
  give_schema(NULL, &schema);
  make_rows(signers, &rows);
  FAILS(QUORATE_CODE_NULL, quorate_verify_arrow_array(verifier, signers->suite, &rows, &schema, &ruled, NULL, &error));
  CHECK(rows.release == NULL && schema.release == NULL && ruled.release == NULL && held == 0);
}

static void misuse(const struct quorate_verifier *verifier, const struct signers *signers) {
  uint32_t suite = 0;
  FAILS(QUORATE_CODE_SUITE, quorate_suite("eth3", 4, &suite, &error));
  CHECK(strstr(error.text, "eth2") != NULL);
  FAILS(QUORATE_CODE_MISUSE, quorate_suite("\xff", 1, &suite, &error));
  FAILS(QUORATE_CODE_NULL, quorate_suite("eth2", 4, NULL, &error));
  CHECK(quorate_suite("eth3", 4, &suite, NULL) == QUORATE_CODE_SUITE);

  struct quorate_verifier *none = NULL;
  struct quorate_options options = {0};
  options.soundness = 80;
  FAILS(QUORATE_CODE_MISUSE, quorate_verifier_new(&options, &none, &error));
  options.soundness = 128;
  options.backend = "abacus";
  options.backend_size = 6;
  FAILS(QUORATE_CODE_MISUSE, quorate_verifier_new(&options, &none, &error));
  CHECK(none == NULL);
  FAILS(QUORATE_CODE_NULL, quorate_verifier_new(NULL, NULL, &error));

  struct claims made;
  make_claims(&made, signers);
  uint8_t verdicts[COUNT];
  FAILS(QUORATE_CODE_NULL, quorate_verify(NULL, made.claims, COUNT, false, verdicts, NULL, &error));
  CHECK(verdicts[0] == QUORATE_VERDICT_UNDECIDED);
  FAILS(QUORATE_CODE_NULL, quorate_verify(verifier, NULL, COUNT, false, verdicts, NULL, &error));
  FAILS(QUORATE_CODE_NULL, quorate_verify(verifier, made.claims, COUNT, false, NULL, NULL, &error));
  FAILS(QUORATE_CODE_MISUSE, quorate_verify(verifier, made.claims, SIZE_MAX, false, verdicts, NULL, &error));
  made.claims[2].suite = 0;
  FAILS(QUORATE_CODE_SUITE, quorate_verify(verifier, made.claims, COUNT, false, verdicts, NULL, &error));
  CHECK(strncmp(error.text, "claim 2: ", 9) == 0);
  make_claims(&made, signers);
  made.claims[4].kind = 9;
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify(verifier, made.claims, COUNT, false, verdicts, NULL, &error));
  // One number of messages that its kind does not have fails the whole call. If each key has a message, it is a verdict.
  const struct quorate_bytes two[2] = {bytes("a", 1), bytes("b", 1)};
  make_claims(&made, signers);
  made.claims[4].messages = two;
  made.claims[4].message_count = 2;
  memset(verdicts, QUORATE_VERDICT_VALID, COUNT);
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify(verifier, made.claims, COUNT, false, verdicts, NULL, &error));
  CHECK(strncmp(error.text, "claim 4: ", 9) == 0);
  for (int i = 0; i < COUNT; i++) CHECK(verdicts[i] == QUORATE_VERDICT_UNDECIDED);
  made.claims[4].kind = QUORATE_MESSAGES_POSSESSION;
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify(verifier, made.claims, COUNT, false, verdicts, NULL, &error));
  made.claims[4].kind = QUORATE_MESSAGES_EACH;
  OK(quorate_verify(verifier, made.claims, COUNT, false, verdicts, NULL, &error));
  for (int i = 0; i < COUNT; i++) CHECK(verdicts[i] == (i == 4 ? QUORATE_VERDICT_RULE : QUORATE_VERDICT_VALID));
  make_claims(&made, signers);
  made.claims[4].public_key_count = SIZE_MAX / 8;
  FAILS(QUORATE_CODE_MISUSE, quorate_verify(verifier, made.claims, COUNT, false, verdicts, NULL, &error));

  uint8_t key[KEY], sum[SIGNATURE];
  static const uint8_t zeros[SIGNATURE];
  FAILS(QUORATE_CODE_ENCODING, quorate_check_public_key(signers->suite, zeros, KEY, &error));
  FAILS(QUORATE_CODE_ENCODING, quorate_check_public_key(signers->suite, signers->keys[0], KEY - 1, &error));
  FAILS(QUORATE_CODE_ENCODING, quorate_check_signature(signers->suite, signers->signatures[0], 0, &error));
  OK(quorate_check_public_key(signers->suite, signers->keys[0], KEY, &error));
  OK(quorate_check_signature(signers->suite, signers->signatures[0], SIGNATURE, &error));
  FAILS(QUORATE_CODE_TOO_SMALL, quorate_aggregate(signers->suite, signers->same[0], SIGNATURE, sum, SIGNATURE - 1, &error));
  FAILS(QUORATE_CODE_MISUSE, quorate_aggregate(signers->suite, signers->same[0], 0, sum, SIGNATURE, &error));
  FAILS(QUORATE_CODE_ENCODING, quorate_aggregate(signers->suite, signers->same[0], SIGNATURE + 1, sum, SIGNATURE, &error));

  struct quorate_secret_key *secret = NULL;
  FAILS(QUORATE_CODE_ENCODING, quorate_secret_key_from_bytes(signers->suite, zeros, 32, &secret, &error));
  FAILS(QUORATE_CODE_ENCODING, quorate_secret_key_from_bytes(signers->suite, zeros, 31, &secret, &error));
  FAILS(QUORATE_CODE_ENCODING, quorate_secret_key_derive(signers->suite, bytes(zeros, 31), bytes(NULL, 0), &secret, &error));
  OK(quorate_secret_key_generate(signers->suite, &secret, &error));
  uint8_t scalar[32];
  OK(quorate_secret_key_to_bytes(secret, scalar, 32, &error));
  FAILS(QUORATE_CODE_TOO_SMALL, quorate_secret_key_public_key(secret, key, 1, &error));
  quorate_secret_key_free(secret);
  OK(quorate_secret_key_from_bytes(signers->suite, scalar, 32, &secret, &error));
  quorate_secret_key_free(secret);

  uint32_t eigenlayer = 0;
  OK(quorate_suite("eigenlayer", 10, &eigenlayer, &error));
  OK(quorate_secret_key_generate(eigenlayer, &secret, &error));
  FAILS(QUORATE_CODE_MISUSE, quorate_secret_key_sign(secret, (const uint8_t *)"short", 5, sum, SIGNATURE, &error));
  quorate_secret_key_free(secret);

  // A suite without proofs of possession, and without signatures of several keys over one message.
  uint32_t basic = 0;
  OK(quorate_suite("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", 43, &basic, &error));
  OK(quorate_secret_key_generate(basic, &secret, &error));
  FAILS(QUORATE_CODE_MISUSE, quorate_secret_key_prove(secret, sum, SIGNATURE, &error));
  quorate_secret_key_free(secret);
  struct quorate_key_set *set = NULL;
  OK(quorate_key_set_new(basic, &set, &error));
  OK(quorate_key_set_push(set, signers->keys[0], 2 * KEY, false, &error));
  bool proven = true;
  FAILS(QUORATE_CODE_MISUSE, quorate_key_set_prove(set, 0, signers->proofs[0], SIGNATURE, &proven, &error));
  const uint8_t two_members = 3;
  FAILS(QUORATE_CODE_MISUSE, quorate_key_set_verify(set, bytes(&two_members, 1), bytes("same", 4), bytes(signers->same[0], SIGNATURE), verdicts, NULL, &error));
  quorate_key_set_free(set);
  FAILS(QUORATE_CODE_ENCODING, quorate_aggregate_public_keys(signers->suite, signers->keys[0], KEY + 1, key, KEY, &error));
  FAILS(QUORATE_CODE_ENCODING, quorate_subtract(signers->suite, bytes(signers->same[0], SIGNATURE), bytes(signers->same[1], SIGNATURE - 1), sum, SIGNATURE, &error));

  quorate_verifier_free(NULL);
  quorate_verdicts_free(NULL);
  quorate_secret_key_free(NULL);
  quorate_key_set_free(NULL);
  quorate_batcher_free(NULL);
}

static void failures_leave_no_handles(const struct quorate_verifier *verifier, const struct signers *signers) {
  // What stands in a place that a program has not initialized.
  static char somewhere;
  void *const rubbish = &somewhere;
  static const uint8_t zeros[32];
  uint8_t verdict = QUORATE_VERDICT_VALID;

  struct quorate_options options = {0};
  options.soundness = 80;
  struct quorate_verifier *other = rubbish;
  FAILS(QUORATE_CODE_MISUSE, quorate_verifier_new(&options, &other, &error));
  CHECK(other == NULL);
  struct quorate_batcher_options settings = {0};
  settings.soundness = 80;
  struct quorate_batcher *batcher = rubbish;
  FAILS(QUORATE_CODE_MISUSE, quorate_batcher_new(&settings, &batcher, &error));
  CHECK(batcher == NULL);
  struct quorate_key_set *set = rubbish;
  FAILS(QUORATE_CODE_SUITE, quorate_key_set_new(0, &set, &error));
  CHECK(set == NULL);
  struct quorate_secret_key *secret = rubbish;
  FAILS(QUORATE_CODE_SUITE, quorate_secret_key_generate(0, &secret, &error));
  CHECK(secret == NULL);
  secret = rubbish;
  FAILS(QUORATE_CODE_ENCODING, quorate_secret_key_derive(signers->suite, bytes(zeros, 31), bytes(NULL, 0), &secret, &error));
  CHECK(secret == NULL);
  secret = rubbish;
  FAILS(QUORATE_CODE_ENCODING, quorate_secret_key_from_bytes(signers->suite, zeros, 32, &secret, &error));
  CHECK(secret == NULL);

  struct quorate_verdicts *reasons = rubbish;
  FAILS(QUORATE_CODE_NULL, quorate_verify(verifier, NULL, 1, false, &verdict, &reasons, &error));
  CHECK(reasons == NULL);
  reasons = rubbish;
  FAILS(QUORATE_CODE_NULL, quorate_verify(verifier, NULL, 1, false, NULL, &reasons, &error));
  CHECK(reasons == NULL);
  reasons = rubbish;
  FAILS(QUORATE_CODE_CLAIMS, quorate_verify_packed(verifier, zeros, 1, 1, false, &verdict, &reasons, &error));
  CHECK(reasons == NULL);
  reasons = rubbish;
  FAILS(QUORATE_CODE_SUITE, quorate_verify_one(verifier, 0, bytes(NULL, 0), bytes(NULL, 0), bytes(NULL, 0), &verdict, &reasons, &error));
  CHECK(reasons == NULL);
  OK(quorate_key_set_new(signers->suite, &set, &error));
  reasons = rubbish;
  FAILS(QUORATE_CODE_ENCODING, quorate_key_set_verify(set, bytes(NULL, 0), bytes(NULL, 0), bytes(NULL, 0), &verdict, &reasons, &error));
  CHECK(reasons == NULL);
  quorate_key_set_free(set);
}

// Builds with assertions find freed handles. In others, using one is a fault of the caller that nobody finds.
static void freed_handles(void) {
  struct quorate_verifier *verifier = NULL;
  OK(quorate_verifier_new(NULL, &verifier, &error));
  quorate_verifier_free(verifier);
  size_t known = 0;
  FAILS(QUORATE_CODE_HANDLE, quorate_verifier_known(verifier, &known, &error));
  quorate_verifier_free(verifier);
}

struct shared {
  const struct quorate_verifier *verifier;
  const struct signers *signers;
};

static void *one_of_many(void *argument) {
  const struct shared *shared = argument;
  struct claims made;
  make_claims(&made, shared->signers);
  made.claims[1].signature = bytes(shared->signers->same[1], SIGNATURE);
  for (int round = 0; round < 3; round++) {
    uint8_t verdicts[COUNT];
    struct quorate_error own;
    CHECK(quorate_verify(shared->verifier, made.claims, COUNT, round == 1, verdicts, NULL, &own) == QUORATE_CODE_OK);
    for (int i = 0; i < COUNT; i++) CHECK((verdicts[i] == QUORATE_VERDICT_VALID) == (i != 1));
  }
  return NULL;
}

static void threads(const struct quorate_verifier *verifier, const struct signers *signers) {
  struct shared shared = {verifier, signers};
  pthread_t started[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&started[i], NULL, one_of_many, &shared) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(started[i], NULL) == 0);
}

// One true claim.
static size_t packed_claim(uint8_t *packed, const struct signers *signers, const char *source, uint32_t source_size) {
  const uint32_t head[] = {signers->suite, QUORATE_MESSAGES_SHARED, 1, 1};
  size_t size = 0;
  for (int word = 0; word < 4; word++) size = pack_word(packed, size, head[word]);
  size = pack_bytes(packed, size, signers->keys[0], KEY);
  size = pack_bytes(packed, size, &signers->messages[0], 1);
  size = pack_bytes(packed, size, signers->signatures[0], SIGNATURE);
  return pack_bytes(packed, size, source, source_size);
}

static void batches(const struct signers *signers) {
  struct claims made;
  make_claims(&made, signers);
  made.claims[1].signature = bytes(signers->same[1], SIGNATURE);
  struct quorate_batcher_options options = batcher_options(2);
  options.linger_us = 1000;
  options.queue_us = 10000000;
  struct quorate_batcher *batcher = NULL;
  OK(quorate_batcher_new(&options, &batcher, &error));
  struct answers answers = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
  for (int i = 0; i < COUNT; i++) OK(quorate_batcher_submit(batcher, &made.claims[i], QUORATE_CLASS_GOSSIP, 0, answered, &answers, &error));
  await(&answers, COUNT);
  CHECK(answers.valid == COUNT - 1);
  FAILS(QUORATE_CODE_NULL, quorate_batcher_submit(batcher, &made.claims[0], QUORATE_CLASS_GOSSIP, 0, NULL, NULL, &error));
  FAILS(QUORATE_CODE_MISUSE, quorate_batcher_submit(batcher, &made.claims[0], 3, 0, answered, &answers, &error));
  FAILS(QUORATE_CODE_NULL, quorate_batcher_submit(batcher, NULL, QUORATE_CLASS_GOSSIP, 0, answered, &answers, &error));
  static uint8_t packed[256];
  const size_t size = packed_claim(packed, signers, "\xff\xfe", 2);
  OK(quorate_batcher_submit_packed(batcher, packed, size, QUORATE_CLASS_BLOCK, 0, answered, &answers, &error));
  await(&answers, COUNT + 1);
  CHECK(answers.valid == COUNT);
  FAILS(QUORATE_CODE_CLAIMS, quorate_batcher_submit_packed(batcher, packed, 0, QUORATE_CLASS_BLOCK, 0, answered, &answers, &error));
  uint8_t verdict = QUORATE_VERDICT_UNDECIDED;
  OK(quorate_batcher_verify_packed(batcher, packed, size, 1, QUORATE_CLASS_BLOCK, 0, &verdict, &error));
  CHECK(verdict == QUORATE_VERDICT_VALID);
  // Every claim is answered, also when nobody has time for it any more.
  for (int i = 0; i < COUNT; i++) OK(quorate_batcher_submit(batcher, &made.claims[0], QUORATE_CLASS_GOSSIP, 0, answered, &answers, &error));
  OK(quorate_batcher_stop(batcher, 0, &error));
  quorate_batcher_free(batcher);
  CHECK(answers.count == 2 * COUNT + 1);
}

struct waits {
  struct answers answers;
  const struct quorate_batcher *batcher;
  const uint8_t *packed;
  size_t size;
  int32_t stopped, verified;
  uint8_t verdict;
};

// The batcher has one thread, which calls this: it would wait for itself.
static void waits_for_answers(void *user, uint8_t verdict, const char *reason, size_t size) {
  struct waits *waits = user;
  waits->stopped = quorate_batcher_stop(waits->batcher, 0, NULL);
  uint8_t *found = &waits->verdict;
  waits->verified = quorate_batcher_verify_packed(waits->batcher, waits->packed, waits->size, 1, QUORATE_CLASS_BLOCK, 0, found, NULL);
  answered(&waits->answers, verdict, reason, size);
}

static void answers_cannot_wait_for_answers(const struct signers *signers) {
  static uint8_t packed[256];
  const size_t size = packed_claim(packed, signers, "peer", 4);
  const struct quorate_batcher_options options = batcher_options(1);
  struct quorate_batcher *batcher = NULL;
  OK(quorate_batcher_new(&options, &batcher, &error));
  struct waits waits = {{PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0}, batcher, packed, size, 0, 0, QUORATE_VERDICT_VALID};
  OK(quorate_batcher_submit_packed(batcher, packed, size, QUORATE_CLASS_BLOCK, 0, waits_for_answers, &waits, &error));
  await(&waits.answers, 1);
  CHECK(waits.stopped == QUORATE_CODE_MISUSE && waits.verified == QUORATE_CODE_MISUSE);
  CHECK(waits.verdict == QUORATE_VERDICT_UNDECIDED);
  // Behind the answer, and on this thread, both wait.
  OK(quorate_batcher_verify_packed(batcher, packed, size, 1, QUORATE_CLASS_BLOCK, 0, &waits.verdict, &error));
  CHECK(waits.verdict == QUORATE_VERDICT_VALID);
  OK(quorate_batcher_stop(batcher, 0, &error));
  // A stopped batcher answers at once, on this thread.
  OK(quorate_batcher_submit_packed(batcher, packed, size, QUORATE_CLASS_BLOCK, 0, waits_for_answers, &waits, &error));
  CHECK(waits.answers.count == 2 && waits.stopped == QUORATE_CODE_MISUSE);
  OK(quorate_batcher_stop(batcher, 0, &error));
  quorate_batcher_free(batcher);
}

struct again {
  const struct quorate_batcher *batcher;
  const struct quorate_claim *claim;
  int left, depth, deepest;
};

static void hands_in_again(void *user, uint8_t verdict, const char *reason, size_t size) {
  struct again *again = user;
  CHECK(verdict == QUORATE_VERDICT_STOPPED && reason != NULL && size != 0);
  again->depth++;
  if (again->depth > again->deepest) again->deepest = again->depth;
  if (again->left > 0) {
    again->left--;
    CHECK(quorate_batcher_submit(again->batcher, again->claim, QUORATE_CLASS_GOSSIP, 0, hands_in_again, again, NULL) == QUORATE_CODE_OK);
  }
  again->depth--;
}

// A stopped batcher refuses a claim within the call that hands it in. That must not be a recursion.
static void refused_claims_that_come_again(void) {
  const struct quorate_batcher_options options = batcher_options(1);
  struct quorate_batcher *batcher = NULL;
  OK(quorate_batcher_new(&options, &batcher, &error));
  OK(quorate_batcher_stop(batcher, 0, &error));
  // Under valgrind a few are enough.
  const int rounds = COUNT < 64 ? 1000 : 100000;
  struct quorate_claim claim = {0};
  OK(quorate_suite("eth2", 4, &claim.suite, &error));
  claim.kind = QUORATE_MESSAGES_POSSESSION;
  struct again again = {batcher, &claim, rounds, 0, 0};
  OK(quorate_batcher_submit(batcher, &claim, QUORATE_CLASS_GOSSIP, 0, hands_in_again, &again, &error));
  CHECK(again.left == 0 && again.depth == 0 && again.deepest == 1);
  quorate_batcher_free(batcher);
}

int main(int count, char **arguments) {
  CHECK(quorate_abi() == QUORATE_ABI && strlen(quorate_version()) >= 5);
  static struct signers signers;
  make_signers(&signers);
  struct quorate_options options = {0};
  options.backend = BACKEND;
  options.backend_size = strlen(BACKEND);
  struct quorate_verifier *verifier = NULL;
  OK(quorate_verifier_new(&options, &verifier, &error));
  verdicts_with_reasons(verifier, &signers);
  packed_claims(verifier, &signers);
  sums_and_sets(verifier, &signers);
  claims_of_members(verifier, &signers);
  bdn(verifier, &signers);
  tables(verifier, &signers);
  misuse(verifier, &signers);
  failures_leave_no_handles(verifier, &signers);
  threads(verifier, &signers);
  batches(&signers);
  answers_cannot_wait_for_answers(&signers);
  refused_claims_that_come_again();
  quorate_verifier_free(verifier);
  for (int i = 1; i < count; i++) {
    if (strcmp(arguments[i], "with-assertions") == 0) freed_handles();
  }
  printf("libquorate %s is as it should be\n", quorate_version());
  return 0;
}
