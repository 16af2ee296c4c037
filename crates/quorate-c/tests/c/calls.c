// What a call costs, and that calls leave no memory behind: `calls NUMBER`.

#define _POSIX_C_SOURCE 200809L
#include <quorate.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Memory that the process holds, in MiB.
static double resident(void) {
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) exit(2);
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static struct quorate_verifier *verifier;
static uint32_t suite;
static uint8_t key[48], signature[96];

// What any call costs.
static void lengths(void) {
  size_t of_key, of_signature;
  if (quorate_suite_lengths(suite, &of_key, &of_signature, NULL) != QUORATE_CODE_OK) exit(8);
}

// An error with its text: the key has a byte too few.
static void check(void) {
  struct quorate_error error;
  if (quorate_check_public_key(suite, key, 47, &error) != QUORATE_CODE_ENCODING) exit(3);
}

// A handle that is made and freed.
static void handle(void) {
  struct quorate_key_set *set;
  if (quorate_key_set_new(suite, &set, NULL) != QUORATE_CODE_OK) exit(4);
  quorate_key_set_free(set);
}

// A claim that does not decode, with its reason.
static void claim(void) {
  struct quorate_bytes keys = {key, 48}, message = {key, 1};
  struct quorate_claim claim = {.suite = suite, .kind = QUORATE_MESSAGES_SHARED, .public_keys = &keys, .public_key_count = 1,
                                .messages = &message, .message_count = 1, .signature = {signature, 96}};
  struct quorate_verdicts *reasons;
  uint8_t verdict;
  if (quorate_verify(verifier, &claim, 1, false, &verdict, &reasons, NULL) != QUORATE_CODE_OK) exit(5);
  if (verdict != QUORATE_VERDICT_ENCODING) exit(6);
  quorate_verdicts_free(reasons);
}

static void measure(const char *what, void (*call)(void), long number) {
  for (long i = 0; i < number / 10; i++) call();
  double before = resident();
  double begun = seconds();
  for (long i = 0; i < number; i++) call();
  double took = seconds() - begun;
  double after = resident();
  printf("%-28s %10ld calls %9.1f ns a call, resident memory: %.2f MiB before, %.2f MiB after\n", what, number, took / (double)number * 1e9,
         before, after);
  // What the allocator keeps for itself; a leak of one byte a call would be more.
  if (after - before > 0.25) exit(7);
}

int main(int count, char **arguments) {
  long number = count == 2 ? strtol(arguments[1], NULL, 10) : 0;
  if (number < 10 || quorate_suite("eth2", 4, &suite, NULL) != QUORATE_CODE_OK) return 1;
  if (quorate_verifier_new(NULL, &verifier, NULL) != QUORATE_CODE_OK) return 1;
  measure("the lengths of a suite", lengths, number);
  measure("a key of the wrong length", check, number);
  measure("a set made and freed", handle, number);
  measure("a claim that does not decode", claim, number / 10);
  quorate_verifier_free(verifier);
  return 0;
}
