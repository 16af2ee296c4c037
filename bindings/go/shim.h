// What Go calls: the functions of quorate.h in forms that cgo passes fast. Results come as return values and not through pointers
// to pointers, and structures that hold pointers are made here, because Go may not pass pointers to its pointers.

#ifndef QUORATE_GO_SHIM_H
#define QUORATE_GO_SHIM_H

#ifndef QUORATE_GO_LINKED
#error "quorate needs Linux with glibc. On other CPUs than amd64 and arm64 install what `make c` builds, and use -tags quorate_shared"
#endif

#if defined(__has_include)
#if !__has_include(<quorate.h>)
#error "quorate.h is missing: run `make go` in a checkout of quorate, or use -tags quorate_shared with an installed libquorate. \
If this is a copy by `go mod vendor`, which leaves the library out, build with -mod=mod"
#endif
#endif

#include <quorate.h>

static inline quorate_bytes quorate_go_bytes(const uint8_t *data, size_t size) {
  quorate_bytes bytes = {data, size};
  return bytes;
}

// The handle is null if the call fails: the code is in the error.
static inline quorate_verifier *quorate_go_verifier_new(uint32_t threads, uint32_t soundness, const uint8_t *backend,
                                                        size_t backend_size, uint64_t most_known, quorate_error *error) {
  quorate_options options = {threads, soundness, (const char *)backend, backend_size, most_known};
  quorate_verifier *verifier = NULL;
  quorate_verifier_new(&options, &verifier, error);
  return verifier;
}

// Verifies packed claims. Returns the reasons if a claim is not valid; the caller frees them. The code is in the error.
static inline quorate_verdicts *quorate_go_verify(const quorate_verifier *verifier, const uint8_t *packed, size_t size, size_t count,
                                                  bool remember, uint8_t *verdicts, quorate_error *error) {
  quorate_verdicts *reasons = NULL;
  quorate_verify_packed(verifier, packed, size, count, remember, verdicts, &reasons, error);
  for (size_t i = 0; i < count; i++) {
    if (verdicts[i] != QUORATE_VERDICT_VALID) return reasons;
  }
  quorate_verdicts_free(reasons);
  return NULL;
}

static inline quorate_secret_key *quorate_go_secret_key_generate(uint32_t suite, quorate_error *error) {
  quorate_secret_key *secret = NULL;
  quorate_secret_key_generate(suite, &secret, error);
  return secret;
}

static inline quorate_secret_key *quorate_go_secret_key_derive(uint32_t suite, const uint8_t *material, size_t material_size,
                                                               const uint8_t *info, size_t info_size, quorate_error *error) {
  quorate_secret_key *secret = NULL;
  quorate_secret_key_derive(suite, quorate_go_bytes(material, material_size), quorate_go_bytes(info, info_size), &secret, error);
  return secret;
}

static inline quorate_secret_key *quorate_go_secret_key_from_bytes(uint32_t suite, const uint8_t *bytes, size_t size,
                                                                   quorate_error *error) {
  quorate_secret_key *secret = NULL;
  quorate_secret_key_from_bytes(suite, bytes, size, &secret, error);
  return secret;
}

static inline int32_t quorate_go_subtract(uint32_t suite, const uint8_t *sum, size_t sum_size, const uint8_t *parts, size_t parts_size,
                                          uint8_t *rest, size_t rest_size, quorate_error *error) {
  return quorate_subtract(suite, quorate_go_bytes(sum, sum_size), quorate_go_bytes(parts, parts_size), rest, rest_size, error);
}

static inline int32_t quorate_go_bdn_aggregate(uint32_t suite, const uint8_t *keys, size_t keys_size, const uint8_t *signatures,
                                               size_t signatures_size, uint8_t *aggregate, size_t size, quorate_error *error) {
  return quorate_bdn_aggregate(suite, quorate_go_bytes(keys, keys_size), quorate_go_bytes(signatures, signatures_size), aggregate, size,
                               error);
}

static inline quorate_key_set *quorate_go_key_set_new(uint32_t suite, quorate_error *error) {
  quorate_key_set *set = NULL;
  quorate_key_set_new(suite, &set, error);
  return set;
}

// Returns the reason if the verdict is not valid; the caller frees it. The code is in the error.
static inline quorate_verdicts *quorate_go_key_set_verify(const quorate_key_set *set, const uint8_t *members, size_t members_size,
                                                          const uint8_t *message, size_t message_size, const uint8_t *signature,
                                                          size_t signature_size, uint8_t *verdict, quorate_error *error) {
  quorate_verdicts *reasons = NULL;
  quorate_key_set_verify(set, quorate_go_bytes(members, members_size), quorate_go_bytes(message, message_size),
                         quorate_go_bytes(signature, signature_size), verdict, &reasons, error);
  return reasons;
}

static inline quorate_batcher *quorate_go_batcher_new(uint32_t threads, uint32_t soundness, const uint8_t *backend, size_t backend_size,
                                                      uint64_t linger_us, uint64_t target_us, uint64_t queue_us, uint64_t queue_bytes,
                                                      quorate_error *error) {
  quorate_batcher_options options = {threads,   soundness, (const char *)backend, backend_size,
                                     linger_us, target_us, queue_us,              queue_bytes};
  quorate_batcher *batcher = NULL;
  quorate_batcher_new(&options, &batcher, error);
  return batcher;
}

// Hands in one claim, packed, whose answer goes to the Go function `quorateGoAnswer` with `waiting`. In batcher.c.
int32_t quorate_go_batcher_submit(const quorate_batcher *batcher, const uint8_t *packed, size_t size, uint32_t urgency,
                                  uint64_t deadline_ms, uintptr_t waiting, quorate_error *error);

#endif
