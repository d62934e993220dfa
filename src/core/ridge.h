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
    /* For the choice of lambda. */
    double n;                   /* total weight */
    bool centred;
    double *square;             /* m: y'y */
    const int *exponent;        /* m: targets are in units of 2^exponent; NULL: of 1 */
} KmRidge;

/* Room for d features and m targets, under the memory cap; nothing is cleared. */
extern KmStatus km_ridge_create(KmContext *ctx, size_t d, size_t m, KmRidge **out);
/* KM_SINGULAR naming the feature whose pivot vanishes; KM_RANGE where double precision cannot hold it. */
extern KmStatus km_ridge_solve(KmContext *ctx, KmRidge *ridge, double lambda);

/* ---- lambda as the estimator has it (ridge_path.c) ---- */

typedef struct KmRidgeChoice
{
    double lambda;
    double gcv, effective_df;   /* where it was chosen from a grid */
    size_t n_tried;             /* values of the grid that have a score … */
    double *tried;              /* n_tried x 3: … lambda, gcv, effective_df */
} KmRidgeChoice;

/* lambda as it was given, or the value that select= chooses from its grid. */
extern KmStatus km_ridge_choose(KmContext *ctx, const KmArgs *args, const KmRidge *ridge,
                                KmRidgeChoice *choice);
/* The chosen lambda instead of the grid in the estimator's syntax, and the facts; nothing where none was
 * chosen. */
extern KmStatus km_ridge_write_choice(KmContext *ctx, const KmArgs *args, const KmRidgeChoice *choice,
                                      KmNode *node);
extern KmStatus km_ridge_add_facts(KmContext *ctx, const KmArgs *args, const KmRidgeChoice *choice,
                                   KmModel *model);

/* ---- the whole for a table (ridge_rows.c) ---- */

typedef struct KmRidgeFit
{
    size_t d;
    double *w;                  /* d x m */
    double *intercept;          /* m; zeros unless args have intercept */
    KmRidgeChoice choice;
} KmRidgeFit;

/* For the features that step makes of the rows, or, where it is NULL, the rows as they are. */
extern KmStatus km_ridge_fit(KmContext *ctx, const KmArgs *args, const KmStep *step, const KmTable *table,
                             KmRidgeFit *out);

#endif
