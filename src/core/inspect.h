/*
 * inspect.h: what a fitted model is made of: its stored rows with their coefficients in each of its values,
 * or, where the values are linear, the coefficients of the features.
 */
#ifndef KM_INSPECT_H
#define KM_INSPECT_H

#include "learner.h"

typedef struct KmInspection
{
    const KmScorer *scorer;
    size_t n_out;               /* values of a row: those of decision() */
    size_t d;                   /* features after the steps */
    double *origin, *size;      /* input units are origin + size z; NULL: the steps cannot be undone */
    KmKernel *kernel;           /* NULL: values are of the features themselves */
    size_t n;                   /* stored rows */
    const double *rows;         /* n x d */
    size_t columns;
    const double *coef;         /* n x columns; without a kernel d x n_out */
    const double *intercept;    /* n_out; NULL: zeros */
    size_t *first;              /* classes + 1: where the rows of each class begin; NULL: they have none */
    bool pairs;                 /* values are of pairs of classes */
} KmInspection;

/* KM_UNSUPPORTED for a model that is made of something else. */
extern KmStatus km_inspect(KmContext *ctx, const KmScorer *scorer, KmInspection *out);
/* Fail with KM_UNSUPPORTED unless rows are stored. */
extern KmStatus km_inspect_expect_rows(KmContext *ctx, const KmInspection *inspection);

/* Row s in input units, or as it is after the steps where they cannot be undone. */
extern void km_inspect_row(const KmInspection *inspection, size_t s, double *x);
/* Its class, SIZE_MAX for none; its coefficient in value o. */
extern size_t km_inspect_class(const KmInspection *inspection, size_t s);
extern double km_inspect_coefficient(const KmInspection *inspection, size_t s, size_t o);
/* The classes between which value o decides: positive for *label; *against is SIZE_MAX for all others.  Both
 * are SIZE_MAX for other values. */
extern void km_inspect_classes(const KmInspection *inspection, size_t o, size_t *label, size_t *against);

/* value o = <w, x> + *intercept, in the units of km_inspect_row.  KM_UNSUPPORTED if it is not linear. */
extern KmStatus km_inspect_plane(KmContext *ctx, const KmInspection *inspection, size_t o, double *w,
                                 double *intercept);

/* What a stored row adds to a value. */
typedef struct KmShare
{
    size_t row;
    double contribution;        /* coefficient times kernel value */
    double share;               /* of the sum of all rows' absolute contributions */
} KmShare;

/* The *n (in: at most; out: found) rows that contribute most to value o of the raw row x, the largest first,
 * in shares (room for *n); those that contribute nothing, and all for a row with NaN, are left out. */
extern KmStatus km_inspect_explain(KmContext *ctx, const KmInspection *inspection, const double *x, size_t o,
                                   size_t *n, KmShare *shares);

#endif
