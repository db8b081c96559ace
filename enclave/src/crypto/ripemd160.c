/*
** RIPEMD-160 by PyCryptodome, for addresses: the compiler's standard library does not have it.
**
** Its common.h is for Python extensions; with its guard set, what follows stands in its place. Lengths are fixed and
** pointers never null here, so that what the assertion and the error codes guard cannot happen.
*/
#define COMMON_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define FAKE_INIT(name)
#define EXPORT_SYM static
#define STATIC static inline
#define assert(condition) ((void)0)

#include "errors.h"
#include "RIPEMD160.c"

/* 20 bytes of `data` into `out`; false where memory ran out. Nothing secret is hashed, so nothing is wiped. */
_Bool ripemd160(uint8_t *out, const uint8_t *data, size_t length){
  hash_state *state;
  if( ripemd160_init(&state)!=0 ) return 0;
  ripemd160_update(state, data, length);
  ripemd160_digest(state, out);
  ripemd160_destroy(state);
  return 1;
}
