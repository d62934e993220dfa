/*
 * rpcholesky.h: low-rank factors of Gram matrices by randomly pivoted Cholesky.
 */
#ifndef KM_RPCHOLESKY_H
#define KM_RPCHOLESKY_H

#include "kernel.h"

/* S K S ~ F F' with S = diag(root): F F' is exact in the pivots' rows and columns, and S K S - F F' is
 * positive semidefinite. */
typedef struct KmLowRank
{
    size_t n, rank;             /* rank: pivots found, at most those asked for */
    size_t ld;                  /* stride of factor */
    size_t *pivot;              /* rank row numbers, in order of choice, no two the same */
    double *factor;             /* n x rank, row-major: F */
    double trace;               /* of S K S */
    double residual;            /* trace of S K S - F F' */
} KmLowRank;

/* root: n square roots of weights, or NULL for ones.  Stops at `rank` pivots, or when the residual is at
 * most tol times the trace, or is rounding.  Each pivot is drawn with a probability proportional to the
 * residual's diagonal (as if one by one), from the generator of `seed`.  KM_SINGULAR for a negative diagonal,
 * KM_RANGE for values that are not finite.  Memory: n x (rank + a block of 64). */
extern KmStatus km_rpcholesky(KmContext *ctx, const KmKernel *kernel, const KmPoints *points,
                              const double *root, size_t rank, double tol, uint64_t seed, KmLowRank *out);
extern void km_low_rank_free(KmContext *ctx, KmLowRank *low_rank);

#endif
