/*
 * gram.h: whole Gram matrices, and their spectra.
 */
#ifndef KM_GRAM_H
#define KM_GRAM_H

#include "kernel.h"

/* K of n points, n x n with row stride ld, built by tiles of the lower triangle;
 * mirrored into the upper one if `full`.  Polls per tile. */
extern KmStatus km_gram_fill(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, bool full, size_t ld,
                             double *out);
/* Fails with KM_RANGE, naming the position, if a value is not finite (OpenBLAS
 * factorises NaN without complaint). rows x columns with stride ld. */
extern KmStatus km_matrix_check_finite(KmContext *ctx, size_t rows, size_t columns, size_t ld, const double *a,
                                       const char *what);
/* Eigenvalues of a symmetric n x n matrix, ascending; reads the lower triangle, destroys g.
 * n <= 1500: one LAPACK call; larger: a blocked tridiagonal reduction that polls. */
extern KmStatus km_symmetric_eigenvalues(KmContext *ctx, size_t n, double *g, double *out);
/* Positive semidefinite to `tolerance` times the largest |eigenvalue|: by a Cholesky
 * factorisation of G + tolerance * |G| I, with |G| estimated by Lanczos/power iteration from below and
 * norms from above; undecided cases by eigenvalues.  Destroys g. */
extern KmStatus km_symmetric_is_psd(KmContext *ctx, size_t n, double *g, double tolerance, bool *out);

#endif
