/*
 * ridge.h: the end of ridge regression, from rows or from sums: (A + lambda I) W = B.
 */
#ifndef KM_RIDGE_H
#define KM_RIDGE_H

#include "learner.h"

/* The normal equations of D features and m targets, centred where there is an intercept, and their
 * solution in place. */
typedef struct KmRidge
{
    size_t d, m;
    double *a;                  /* d x d, lower triangle: Z'Z; destroyed */
    double *b;                  /* d x m: Z'Y, then W */
} KmRidge;

/* Room for d features and m targets, under the memory cap; a is not cleared, b is not cleared. */
extern KmStatus km_ridge_create(KmContext *ctx, size_t d, size_t m, KmRidge **out);
/* KM_SINGULAR naming the feature whose pivot vanishes; KM_RANGE where double precision cannot hold it. */
extern KmStatus km_ridge_solve(KmContext *ctx, KmRidge *ridge, double lambda);

/* The whole for a table: w (d x m) and intercepts (m; zeros unless centred) for the features as they are. */
extern KmStatus km_ridge_fit(KmContext *ctx, const KmTable *table, double lambda, bool centred, double **w,
                             double **intercept);

#endif
