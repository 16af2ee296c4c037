#include "shim.h"

#include "_cgo_export.h"

static void answer(void *user, uint8_t verdict, const char *reason, size_t size) {
  quorateGoAnswer((uintptr_t)user, verdict, (char *)reason, size);
}

int32_t quorate_go_batcher_submit(const quorate_batcher *batcher, const uint8_t *packed, size_t size, uint32_t urgency,
                                  uint64_t deadline_ms, uintptr_t waiting, quorate_error *error) {
  return quorate_batcher_submit_packed(batcher, packed, size, urgency, deadline_ms, answer, (void *)waiting, error);
}
