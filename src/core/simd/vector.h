/*
 * vector.h: vectors of doubles (vd) and floats (vf), as wide as the variant
 * being compiled: 16 bytes for base, 32 for avx2, 64 for avx512.
 *
 * Plain operators are those of the compiler's vector extension.  What must not
 * depend on the compiler is spelled out here: one rounding in a fused
 * multiply-add, NaN in a minimum, and selection by a mask.  Files that include
 * this are compiled with -ffp-contract=off.
 */
#ifndef KM_VECTOR_H
#define KM_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define KM_VECTOR_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define KM_VECTOR_BYTES 32
#else
#define KM_VECTOR_BYTES 16
#endif
#define KM_LANES (KM_VECTOR_BYTES / 8)      /* doubles in a vector */
#define KM_LANES_F32 (KM_VECTOR_BYTES / 4)  /* floats in a vector */

#define KM_INLINE static inline __attribute__((always_inline))
/* Before a loop of a few rounds, known at compile time, over an array that is to
 * live in registers. */
#if defined(__clang__)
#define KM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KM_UNROLL _Pragma("GCC unroll 16")
#endif

typedef double vd __attribute__((vector_size(KM_VECTOR_BYTES)));
typedef uint64_t vu __attribute__((vector_size(KM_VECTOR_BYTES)));
typedef float vf __attribute__((vector_size(KM_VECTOR_BYTES)));
typedef uint32_t vu32 __attribute__((vector_size(KM_VECTOR_BYTES)));

KM_INLINE vd vd_abs(vd a) { return (vd) ((vu) a & 0x7fffffffffffffff); }

/*
 * Per instruction set: set (all lanes equal), fma, sqrt, min and max (the second
 * operand where either is NaN), lt and eq (masks, false where NaN), select
 * (first value where the mask holds), any; zip_low and zip_high (the lanes of the
 * lower or upper halves of two vectors in turn).
 */
#if KM_VECTOR_BYTES > 16
#include <immintrin.h>

#if KM_VECTOR_BYTES == 64
#define KM_MM(name) _mm512_##name
typedef __mmask8 vdmask;
typedef __mmask16 vfmask;
KM_INLINE vdmask vd_lt(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
KM_INLINE vdmask vd_eq(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
KM_INLINE vd vd_select(vdmask m, vd a, vd b) { return _mm512_mask_blend_pd(m, b, a); }
KM_INLINE bool vd_any(vdmask m) { return m != 0; }
KM_INLINE vd
vd_zip_low(vd a, vd b)
{
    return _mm512_permutex2var_pd(a, (__m512i) {0, 8, 1, 9, 2, 10, 3, 11}, b);
}

KM_INLINE vd
vd_zip_high(vd a, vd b)
{
    return _mm512_permutex2var_pd(a, (__m512i) {4, 12, 5, 13, 6, 14, 7, 15}, b);
}

KM_INLINE vfmask vf_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
KM_INLINE vfmask vf_eq(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
KM_INLINE vf vf_select(vfmask m, vf a, vf b) { return _mm512_mask_blend_ps(m, b, a); }
#else
#define KM_MM(name) _mm256_##name
typedef vd vdmask;
typedef vf vfmask;
KM_INLINE vdmask vd_lt(vd a, vd b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
KM_INLINE vdmask vd_eq(vd a, vd b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
KM_INLINE vd vd_select(vdmask m, vd a, vd b) { return _mm256_blendv_pd(b, a, m); }
KM_INLINE bool vd_any(vdmask m) { return _mm256_movemask_pd(m) != 0; }
KM_INLINE vd
vd_zip_low(vd a, vd b)
{
    return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x20);
}

KM_INLINE vd
vd_zip_high(vd a, vd b)
{
    return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x31);
}

KM_INLINE vfmask vf_lt(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
KM_INLINE vfmask vf_eq(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
KM_INLINE vf vf_select(vfmask m, vf a, vf b) { return _mm256_blendv_ps(b, a, m); }
#endif

KM_INLINE vd vd_set(double s) { return KM_MM(set1_pd)(s); }
KM_INLINE vd vd_fma(vd a, vd b, vd c) { return KM_MM(fmadd_pd)(a, b, c); }
KM_INLINE vd vd_sqrt(vd a) { return KM_MM(sqrt_pd)(a); }
KM_INLINE vd vd_min(vd a, vd b) { return KM_MM(min_pd)(a, b); }
KM_INLINE vd vd_max(vd a, vd b) { return KM_MM(max_pd)(a, b); }
KM_INLINE vf vf_set(float s) { return KM_MM(set1_ps)(s); }
KM_INLINE vf vf_fma(vf a, vf b, vf c) { return KM_MM(fmadd_ps)(a, b, c); }
KM_INLINE vf vf_min(vf a, vf b) { return KM_MM(min_ps)(a, b); }
KM_INLINE vf vf_max(vf a, vf b) { return KM_MM(max_ps)(a, b); }

#else                           /* any CPU */

typedef vu vdmask;
typedef vu32 vfmask;
KM_INLINE vd vd_set(double s) { return (vd) {s, s}; }
KM_INLINE vf vf_set(float s) { return (vf) {s, s, s, s}; }
KM_INLINE vdmask vd_lt(vd a, vd b) { return (vu) (a < b); }
KM_INLINE vdmask vd_eq(vd a, vd b) { return (vu) (a == b); }
KM_INLINE vfmask vf_lt(vf a, vf b) { return (vu32) (a < b); }
KM_INLINE vfmask vf_eq(vf a, vf b) { return (vu32) (a == b); }
KM_INLINE vd vd_select(vdmask m, vd a, vd b) { return (vd) ((m & (vu) a) | (~m & (vu) b)); }
KM_INLINE vf vf_select(vfmask m, vf a, vf b) { return (vf) ((m & (vu32) a) | (~m & (vu32) b)); }
KM_INLINE bool vd_any(vdmask m) { return (m[0] | m[1]) != 0; }
KM_INLINE vd vd_zip_low(vd a, vd b) { return (vd) {a[0], b[0]}; }
KM_INLINE vd vd_zip_high(vd a, vd b) { return (vd) {a[1], b[1]}; }
KM_INLINE vd vd_sqrt(vd a) { return (vd) {__builtin_sqrt(a[0]), __builtin_sqrt(a[1])}; }
KM_INLINE vd vd_min(vd a, vd b) { return vd_select(vd_lt(a, b), a, b); }
KM_INLINE vd vd_max(vd a, vd b) { return vd_select(vd_lt(b, a), a, b); }
KM_INLINE vf vf_min(vf a, vf b) { return vf_select(vf_lt(a, b), a, b); }
KM_INLINE vf vf_max(vf a, vf b) { return vf_select(vf_lt(b, a), a, b); }

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA)
KM_INLINE vd
vd_fma(vd a, vd b, vd c)
{
    return (vd) {__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}

KM_INLINE vf
vf_fma(vf a, vf b, vf c)
{
    return (vf) {__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1]),
                 __builtin_fmaf(a[2], b[2], c[2]), __builtin_fmaf(a[3], b[3], c[3])};
}

#else
#include "fma_emulated.h"
#endif

#endif

/* One NaN for all: its sign and payload would else depend on the CPU. */
KM_INLINE vd vd_one_nan(vd a) { return vd_select(vd_eq(a, a), a, vd_set(__builtin_nan(""))); }

KM_INLINE vd
vd_load(const double *p)
{
    vd a;

    memcpy(&a, p, sizeof a);
    return a;
}

KM_INLINE void vd_store(double *p, vd a) { memcpy(p, &a, sizeof a); }

KM_INLINE vf
vf_load(const float *p)
{
    vf a;

    memcpy(&a, p, sizeof a);
    return a;
}

KM_INLINE void vf_store(float *p, vf a) { memcpy(p, &a, sizeof a); }

/* The first `count` lanes from memory, the others 0; and back. */
KM_INLINE vd
vd_load_first(const double *p, size_t count)
{
    double lanes[KM_LANES] = {0};

    memcpy(lanes, p, count * sizeof *p);
    return vd_load(lanes);
}

KM_INLINE void
vd_store_first(double *p, size_t count, vd a)
{
    memcpy(p, &a, count * sizeof *p);
}

KM_INLINE vf
vf_load_first(const float *p, size_t count)
{
    float lanes[KM_LANES_F32] = {0};

    memcpy(lanes, p, count * sizeof *p);
    return vf_load(lanes);
}

KM_INLINE void
vf_store_first(float *p, size_t count, vf a)
{
    memcpy(p, &a, count * sizeof *p);
}

#endif
