/*
 * design.h: a table's features as the design matrix of a linear model: centred columns, and the products that
 * solvers want, in blocks that poll.
 */
#ifndef KM_DESIGN_H
#define KM_DESIGN_H

#include "data.h"

/* Xc = X - 1 mean'; X is the table's. */
typedef struct KmDesign
{
    size_t n, d;
    const double *x;
    double *mean;               /* d, by weight; zeros where nothing is centred */
    double *block;              /* room for centred rows */
} KmDesign;

extern KmStatus km_design_create(KmContext *ctx, const KmTable *table, bool centred, KmDesign *out);
/* out (n x m) = Xc v, v (d x m). */
extern KmStatus km_design_times(KmContext *ctx, const KmDesign *design, size_t m, const double *v,
                                double *out);
/* out (d x m) = Xc' r, r (n x m). */
extern KmStatus km_design_transposed(KmContext *ctx, const KmDesign *design, size_t m, const double *r,
                                     double *out);
/* The lower triangle of a (d x d, stride ld) = Xc' diag(theta) Xc, theta (n) >= 0. */
extern KmStatus km_design_squares(KmContext *ctx, const KmDesign *design, const double *theta, size_t ld,
                                  double *a);

/* The lower triangle of a (d x d, stride lda) += Z'Z of a block of m rows z (stride ldz). */
extern KmStatus km_add_squares(KmContext *ctx, size_t m, size_t d, size_t ldz, const double *z, size_t lda,
                               double *a);

#endif
