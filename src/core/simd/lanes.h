/*
 * lanes.h: one vector of doubles as wide as the instruction set of the variant,
 * for passes whose bits need not agree between variants.
 */
#ifndef KM_LANES_H
#define KM_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX2__)
#define LANES 4
#else
#define LANES 2
#endif

typedef double Lanes __attribute__((vector_size(8 * LANES)));
typedef float SingleLanes __attribute__((vector_size(4 * LANES)));
#if defined(__AVX512F__)
typedef __mmask8 LaneMask;
#else
typedef int64_t LaneMask __attribute__((vector_size(8 * LANES)));
#endif

static inline Lanes
lanes_load(const double *from)
{
    Lanes v;

    memcpy(&v, from, sizeof v);
    return v;
}

static inline Lanes
lanes_load_single(const float *from)
{
#if defined(__AVX512F__)
    return (Lanes) _mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX2__)
    return (Lanes) _mm256_cvtps_pd(_mm_loadu_ps(from));
#else
    SingleLanes v;

    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, Lanes);
#endif
}

static inline void
lanes_store(double *to, Lanes v)
{
    memcpy(to, &v, sizeof v);
}

static inline Lanes
lanes_splat(double x)
{
    return x - (Lanes) {0};
}

static inline LaneMask
lanes_greater(Lanes a, Lanes b)
{
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d) a, (__m512d) b, _CMP_GT_OQ);
#else
    return a > b;
#endif
}

/* a where the mask is set, else b */
static inline Lanes
lanes_pick(LaneMask mask, Lanes a, Lanes b)
{
#if defined(__AVX512F__)
    return (Lanes) _mm512_mask_blend_pd(mask, (__m512d) b, (__m512d) a);
#elif defined(__AVX2__)
    return (Lanes) _mm256_blendv_pd((__m256d) b, (__m256d) a, (__m256d) mask);
#else
    return (Lanes) ((mask & (LaneMask) a) | (~mask & (LaneMask) b));
#endif
}

static inline Lanes
lanes_max(Lanes a, Lanes b)
{
#if defined(__AVX512F__)
    return (Lanes) _mm512_max_pd((__m512d) a, (__m512d) b);
#elif defined(__AVX2__)
    return (Lanes) _mm256_max_pd((__m256d) a, (__m256d) b);
#elif defined(__SSE2__)
    return (Lanes) _mm_max_pd((__m128d) a, (__m128d) b);
#else
    return lanes_pick(lanes_greater(a, b), a, b);
#endif
}

static inline Lanes
lanes_min(Lanes a, Lanes b)
{
#if defined(__AVX512F__)
    return (Lanes) _mm512_min_pd((__m512d) a, (__m512d) b);
#elif defined(__AVX2__)
    return (Lanes) _mm256_min_pd((__m256d) a, (__m256d) b);
#elif defined(__SSE2__)
    return (Lanes) _mm_min_pd((__m128d) a, (__m128d) b);
#else
    return lanes_pick(lanes_greater(b, a), a, b);
#endif
}

static inline double
lanes_least(Lanes v)
{
    double least = v[0];

    for (int l = 1; l < LANES; l++)
        least = v[l] < least ? v[l] : least;
    return least;
}

static inline double
lanes_greatest(Lanes v)
{
    return -lanes_least(-v);
}

#endif
