/*
 * whitening.h: features of landmarks from kernel values, z = L^-1 a for K(S, S) = L L', so that
 * <z, z'> = a' K(S, S)^-1 a' : the kernel's projection onto its landmarks S.
 *
 * Fixed order throughout, the same bits everywhere.
 */
#ifndef KM_WHITENING_H
#define KM_WHITENING_H

#include "context.h"

typedef struct KmWhitening KmWhitening;

/* k: n x n, symmetric positive semidefinite, read in its lower triangle; destroyed.  A landmark that
 * those before it span, to 1e-11 of its own k(s, s), gives a feature that is always 0. */
extern KmStatus km_whitening_create(KmContext *ctx, size_t n, double *k, KmWhitening **out);
/* z (m x n) = the rows a (m x n, stride ld) times L^-T; m <= KM_SCORE_ROWS. */
extern void km_whitening_apply(const KmWhitening *whitening, size_t m, size_t ld, const double *a, double *z);
/* out (n x m) = L^-T c, for c (n x m): <z, c> = <a, out>. */
extern void km_whitening_pull(const KmWhitening *whitening, size_t m, const double *c, double *out);

#endif
