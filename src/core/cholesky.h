/*
 * cholesky.h: factorisation of symmetric positive definite matrices that can be
 * cancelled: blocked, right-looking, polled between blocks.
 * Row-major, lower triangle: A = L L', L overwrites the lower triangle; the strict
 * upper triangle is neither read nor written.
 */
#ifndef KM_CHOLESKY_H
#define KM_CHOLESKY_H

#include "context.h"

/* *pivot: n on success, else the first index whose pivot was not positive (then KM_OK is
 * returned too: the caller decides).  A must be finite (checked by the caller). */
extern KmStatus km_cholesky_factor(KmContext *ctx, size_t n, size_t ld, double *a, size_t *pivot);
/* The first row whose pivot is no more than rounding left of its diagonal element, else n: a
 * factorisation may pass by luck on a singular matrix, its solutions are then noise of any size. */
extern size_t km_cholesky_weak_pivot(size_t n, size_t ld, const double *l);
/* Solve A X = B in place, B n x m row-major with stride ldb, given L. */
extern KmStatus km_cholesky_solve(KmContext *ctx, size_t n, size_t ld, const double *l, size_t m, size_t ldb,
                                  double *b);
/* Only L X = B (forward). */
extern KmStatus km_cholesky_forward(KmContext *ctx, size_t n, size_t ld, const double *l, size_t m,
                                    size_t ldb, double *b);
/* Only L' X = B (backward). */
extern KmStatus km_cholesky_backward(KmContext *ctx, size_t n, size_t ld, const double *l, size_t m,
                                     size_t ldb, double *b);
/* log det A. */
extern double km_cholesky_logdet(size_t n, size_t ld, const double *l);
/* out[i] = (A^-1)_ii: column sums of squares of L^-1, a block of columns at a time; L stays. */
extern KmStatus km_cholesky_inverse_diagonal(KmContext *ctx, size_t n, size_t ld, const double *l,
                                             double *out);

/* The lower triangle of A^-1 in place of L (dpotri). */
extern KmStatus km_cholesky_inverse(KmContext *ctx, size_t n, size_t ld, double *a);
/* Factor A as it is: KM_SINGULAR names the pivot, also one that is no more than rounding. */
extern KmStatus km_cholesky_factor_strict(KmContext *ctx, size_t n, size_t ld, double *a);

/* Factor A + jitter*I with the least jitter of a short ladder (0, then 1e-14 … 1e-8 times the mean
 * diagonal) that succeeds without a weak pivot; *jitter is what was added, never silent: callers report it.
 * `a` holds A; `refill` writes A again after a failed try.  KM_SINGULAR names the pivot. */
typedef KmStatus (*KmRefill)(KmContext *ctx, void *state, double *a);
extern KmStatus km_cholesky_factor_jitter(KmContext *ctx, size_t n, size_t ld, double *a, KmRefill refill,
                                          void *state,
                                          double *jitter);

#endif
