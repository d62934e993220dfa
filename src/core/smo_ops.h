/*
 * smo_ops.h: the passes of SMO over all variables, by instruction set.
 *
 * Arrays have a length n that is a multiple of KM_SMO_PAD; padding variables have
 * up = inf and low = -inf, so that they are never chosen, and rows of K are zero there.
 * up[v] and low[v] are added to the gradient where variable v may rise and may fall:
 * 0 (or the slope of |b|, see smo.h) if it may, +inf and -inf if it may not.
 */
#ifndef KM_SMO_OPS_H
#define KM_SMO_OPS_H

#include <stdbool.h>
#include <stddef.h>

#define KM_SMO_PAD 16           /* one cache line of float32 */
#define KM_SMO_TAU 1e-12        /* curvature used where it is not positive */
#define KM_SMO_NONE ((size_t) -1)

/* The most violating pair: least = min (g + up), at the lowest such i; greatest = max (g + low). */
typedef struct KmSmoChoice
{
    size_t i;
    double least, greatest;
} KmSmoChoice;

/* k, ki, kj: rows of K, float32 or float64 by the table the pass stands in. */
typedef struct KmSmoPasses
{
    void (*choose)(size_t n, double *g, const double *up, const double *low, KmSmoChoice *out);
    /* g += t (ki - kj), and the choice after it. */
    void (*update)(size_t n, double t, const void *ki, const void *kj, double *g, const double *up,
                   const double *low, KmSmoChoice *out);
    /* The j that gains most with i (Fan, Chen, Lin 2005, WSS 2): greatest (g_j + low_j - gi)^2 / a_ij
     * among positive differences, a_ij = kii + k_jj - 2 k_ij, at least TAU.  KM_SMO_NONE: there is none. */
    size_t (*partner)(size_t n, double gi, double kii, const void *k, const double *g, const double *low,
                      const double *diagonal);
    /* g += sum over r < m of coef[r] * row[r] */
    void (*accumulate)(size_t n, size_t m, const void *const *row, const double *coef, double *g);
} KmSmoPasses;

typedef struct KmSmoOps
{
    KmSmoPasses single, wide;   /* rows of float32, of float64 */
} KmSmoOps;

extern const KmSmoOps km_smo_ops_base, km_smo_ops_avx2, km_smo_ops_avx512;

/* The table for this CPU. */
extern const KmSmoPasses *km_smo_passes(bool single);

#endif
