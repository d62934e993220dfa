/*
 * whitening.h: features of landmarks from kernel values, z = L^-1 a for K(S, S) = L L', so that
 * <z, z'> = a' K(S, S)^-1 a' : the kernel's projection onto its landmarks S.
 *
 * L and the features are made in fixed order: the same bits everywhere.
 */
#ifndef KM_WHITENING_H
#define KM_WHITENING_H

#include "context.h"

typedef struct KmWhitening KmWhitening;

/* k: n x n, symmetric positive semidefinite, read in its lower triangle; becomes L, and the whitening's.  A
 * landmark that those before it span, to 1e-11 of its own k(s, s), gives a feature that is always 0. */
extern KmStatus km_whitening_create(KmContext *ctx, size_t n, double *k, KmWhitening **out);
/* z (m x n) = the rows a (m x n, stride ld) times L^-T; m <= KM_SCORE_ROWS. */
extern KmStatus km_whitening_apply(KmContext *ctx, KmWhitening *whitening, size_t m, size_t ld,
                                   const double *a, double *z);

/* ---- for training, by BLAS; b is n x m, in place ---- */

/* L^-1 b: columns of kernel values to columns of features. */
extern KmStatus km_whitening_push(KmContext *ctx, const KmWhitening *whitening, size_t m, double *b);
/* L^-T b: <z, b> = <a, L^-T b>. */
extern KmStatus km_whitening_pull(KmContext *ctx, const KmWhitening *whitening, size_t m, double *b);
/* The least pivot L_ii: 1 / L_ii^2 is about the square of the norm of L^-1. */
extern double km_whitening_least_pivot(const KmWhitening *whitening);

#endif
