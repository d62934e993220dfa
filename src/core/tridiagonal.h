/*
 * tridiagonal.h: A = Q T Q' of symmetric matrices, T tridiagonal, Q orthogonal.
 */
#ifndef KM_TRIDIAGONAL_H
#define KM_TRIDIAGONAL_H

#include "context.h"

typedef struct KmTridiagonal
{
    size_t n;
    double *a;                  /* n x n: reflectors of Q, in the lower triangle */
    double *d, *e, *tau;        /* n each: diagonal of T, subdiagonal (n - 1), factors of the reflectors */
} KmTridiagonal;

/* Reads the lower triangle of a (n x n, row-major) and keeps Q there; a must live as long as *out.
 * The values should be far from overflow when squared.  Polls. */
extern KmStatus km_tridiagonal_reduce(KmContext *ctx, size_t n, double *a, KmTridiagonal *out);
/* Each of the m rows of z (m x n) becomes Q z, or Q' z.  zeros: that many leading elements of all rows are
 * known to be 0 (saves work for Q). */
extern KmStatus km_tridiagonal_apply(KmContext *ctx, const KmTridiagonal *t, bool transposed, size_t zeros,
                                     size_t m, double *z);
extern void km_tridiagonal_free(KmContext *ctx, KmTridiagonal *t);

#endif
