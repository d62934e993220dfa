/*
 * gram.h: whole Gram matrices, and their spectra.
 */
#ifndef KM_GRAM_H
#define KM_GRAM_H

#include "kernel.h"

/* K of n points, n x n with row stride ld, built by tiles of the lower triangle;
 * mirrored into the upper one if `full`.  Polls per tile.  KM_RANGE names a pair of rows
 * whose kernel value is not finite (OpenBLAS factorises NaN without complaint). */
extern KmStatus km_gram_fill(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, bool full,
                             size_t ld,
                             double *out);
/* y = K x without keeping K: x and y are n x m, row-major.  Each tile below the diagonal
 * serves its mirror image too.  What is not finite in K is so in y. */
extern KmStatus km_gram_times(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, size_t m,
                              const double *x, double *y);
/* Fails with KM_RANGE, naming the position, if a value is not finite. rows x columns with stride ld. */
extern KmStatus km_matrix_check_finite(KmContext *ctx, size_t rows, size_t columns, size_t ld,
                                       const double *a,
                                       const char *what);
/* The same for the lower triangle of an n x n matrix. */
extern KmStatus km_triangle_check_finite(KmContext *ctx, size_t n, size_t ld, const double *a,
                                         const char *what);
/* Fails with KM_INVALID, naming a pair, if a_ij and a_ji differ by more than `tolerance` times the
 * largest |element|. */
extern KmStatus km_matrix_check_symmetric(KmContext *ctx, size_t n, size_t ld, const double *a,
                                          double tolerance, const char *what);
/* Copy the strict lower triangle of an n x n matrix into the upper one, or back. */
extern KmStatus km_triangle_to_upper(KmContext *ctx, size_t n, size_t ld, double *a);
extern KmStatus km_triangle_to_lower(KmContext *ctx, size_t n, size_t ld, double *a);
/* Eigenvalues of a symmetric n x n matrix, ascending; reads the lower triangle, destroys g.
 * A blocked tridiagonal reduction that polls, then LAPACK's dsterf (0.8 s at n = 10,000). */
extern KmStatus km_symmetric_eigenvalues(KmContext *ctx, size_t n, double *g, double *out);
/* The k <= n largest eigenvalues, descending, and their vectors as rows of `vectors` (k x n), orthonormal;
 * the first of the components that are largest in size, to rounding, is positive.  Reads the lower triangle,
 * destroys g.  Polls, but for LAPACK's dstemr on the tridiagonal matrix, 0.08 us times n k: KM_LIMIT where
 * n k > 12,500,000. */
extern KmStatus km_symmetric_eigenvectors(KmContext *ctx, size_t n, double *g, size_t k, double *values,
                                          double *vectors);
/* Positive semidefinite: smallest eigenvalue >= -tolerance * |G|, |G| the largest |eigenvalue|: by Cholesky
 * factorisations of G shifted by a lower and an upper bound of tolerance * |G|; undecided cases by
 * eigenvalues.  Reads the lower triangle, destroys g. */
extern KmStatus km_symmetric_is_psd(KmContext *ctx, size_t n, double *g, double tolerance, bool *out);

#endif
