// The program of docs/languages.md: a key signs, and two claims are verified.
#include <quorate.h>
#include <stdio.h>

int main(void) {
  struct quorate_error error;
  uint32_t eth2;
  struct quorate_secret_key *secret;
  uint8_t key[48], signature[96];
  if (quorate_suite("eth2", 4, &eth2, &error) || quorate_secret_key_generate(eth2, &secret, &error) ||
      quorate_secret_key_public_key(secret, key, sizeof key, &error) ||
      quorate_secret_key_sign(secret, (const uint8_t *)"block", 5, signature, sizeof signature, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  quorate_secret_key_free(secret);

  struct quorate_bytes keys = {key, sizeof key};
  struct quorate_bytes messages[] = {{(const uint8_t *)"block", 5}, {(const uint8_t *)"another", 7}};
  struct quorate_claim claims[2];
  for (int i = 0; i < 2; i++) {
    claims[i] = (struct quorate_claim){.suite = eth2, .kind = QUORATE_MESSAGES_SHARED,
                                       .public_keys = &keys, .public_key_count = 1,
                                       .messages = &messages[i], .message_count = 1,
                                       .signature = {signature, sizeof signature}};
  }

  struct quorate_verifier *verifier;
  struct quorate_verdicts *reasons;
  uint8_t verdicts[2];
  if (quorate_verifier_new(NULL, &verifier, &error) ||
      quorate_verify(verifier, claims, 2, false, verdicts, &reasons, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  for (int i = 0; i < 2; i++) {
    char reason[200];
    quorate_verdicts_reason(reasons, (size_t)i, reason, sizeof reason, NULL, NULL);
    printf("claim %d: %s%s\n", i, verdicts[i] == QUORATE_VERDICT_VALID ? "valid" : "not valid: ", reason);
  }
  quorate_verdicts_free(reasons);
  quorate_verifier_free(verifier);
}
