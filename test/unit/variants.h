/* variants.h: the tables of every instruction set (simd.h), for tests of each that this CPU can run. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include <stddef.h>

#include "simd.h"

/* An initialiser: the tables of a name, the first n_variants() of which can be run. */
#if defined(__x86_64__)
#define VARIANTS(name) {&name##_base, &name##_avx2, &name##_avx512}
#else
#define VARIANTS(name) {&name##_base}
#endif

static inline size_t
n_variants(void)
{
#if defined(__x86_64__)
    return KM_HAS_AVX512() ? 3 : KM_HAS_AVX2() ? 2 : 1;
#else
    return 1;
#endif
}

#endif
