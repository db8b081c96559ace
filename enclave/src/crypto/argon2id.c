/*
** Argon2id by its authors' reference implementation, in one piece and without threads.
**
** It is compiled with WebAssembly's 128-bit vectors, which the standard library's form of it cannot use as well:
** docs/decisions/0301-enclave-speed-and-size.md has the figures. Nothing but what stands below calls it.
*/
#define ARGON2_NO_THREADS

/* All time is spent in ref.c; the rest is compiled for size. */
#include "ref.c"

#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#include "blake2/blake2b.c"
#include "core.c"
#include "encoding.c"
#include "argon2.c"
#pragma clang attribute pop

/* What the caller lends as Argon2's memory. One instance of the module serves one call at a time. */
static uint8_t *lent;
static size_t lent_bytes;

static int take(uint8_t **memory, size_t bytes){
  *memory = bytes <= lent_bytes ? lent : NULL;
  return 0;
}

/* The memory goes back to the caller; the implementation has wiped it before it says so. */
static void give_back(uint8_t *memory, size_t bytes){
  (void)memory; (void)bytes;
}

/* As enclave/src/crypto/argon2id.zig declares it. */
typedef struct {
  uint8_t *bytes;
  uint32_t length;
} part;

/* `out` from the four parts; false where the parameters are none of RFC 9106's or `memory` is too small. */
_Bool reference_argon2id(
  const part *out, const part *password, const part *salt, const part *secret, const part *associated,
  const part *memory, uint32_t memory_kib, uint32_t passes, uint32_t lanes
){
  argon2_context context = {
    .out = out->bytes, .outlen = out->length,
    .pwd = password->bytes, .pwdlen = password->length,
    .salt = salt->bytes, .saltlen = salt->length,
    .secret = secret->bytes, .secretlen = secret->length,
    .ad = associated->bytes, .adlen = associated->length,
    .m_cost = memory_kib, .t_cost = passes, .lanes = lanes, .threads = 1,
    .version = ARGON2_VERSION_13, .allocate_cbk = take, .free_cbk = give_back,
  };
  lent = memory->bytes;
  lent_bytes = memory->length;
  return argon2_ctx(&context, Argon2_id) == ARGON2_OK;
}
