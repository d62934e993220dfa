/*
 * ridge.c: ridge regression on features, the estimator ridge.
 *
 * min |y - Z w - b|^2 + lambda |w|^2 (Hoerl, Kennard 1970), b not penalised: the normal equations of
 * centred columns, (Zc'Zc + lambda I) W = Zc'Yc and b = ybar - zbar'W, by Cholesky.  A weight counts as
 * so many rows.  Without an intercept nothing is centred: the answer of krr(linear, center=false).
 * ridge_rows.c makes the equations from rows.
 */
#include "ridge.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "cholesky.h"
#include "learner_types.h"
#include "linear.h"

#define POLL_ROWS 256           /* of the matrix between polls */

/* ---- the normal equations ---- */

KmStatus
km_ridge_create(KmContext *ctx, size_t d, size_t m, KmRidge **out)
{
    double bytes = 8.0 * (double) d * ((double) d + (double) m);
    char what[100];

    snprintf(what, sizeof what, "ridge on %zu features", d);
    KM_TRY(km_reserve(ctx, bytes, what, "Use fewer features."));
    KM_TRY(km_alloc_zero(ctx, 1, out));
    (*out)->d = d;
    (*out)->m = m;
    KM_TRY(km_alloc(ctx, d * d, &(*out)->a));
    KM_TRY(km_alloc(ctx, m, &(*out)->square));
    return km_alloc(ctx, d * m, &(*out)->b);
}

static KmStatus
add_penalty(KmContext *ctx, KmRidge *ridge, double lambda)
{
    bool finite = km_is_finite(ridge->d * ridge->m, ridge->b);

    for (size_t i = 0; i < ridge->d && finite; i++)
    {
        if (i % POLL_ROWS == 0)
            KM_TRY(km_poll(ctx));
        ridge->a[i * ridge->d + i] += lambda;
        finite = km_is_finite(i + 1, ridge->a + i * ridge->d);
    }
    if (!finite)
        return km_fail(ctx, KM_RANGE, "ridge: sums of products of features and targets overflow");
    return KM_OK;
}

/* The first column of zeros, of centred features: one that is constant; n if there is none. */
static size_t
first_constant(const KmRidge *ridge)
{
    size_t j = 0;

    while (j < ridge->d && (!ridge->centred || ridge->a[j * ridge->d + j] != 0))
        j++;
    return j;
}

static KmStatus
singular(KmContext *ctx, size_t pivot, size_t constant, double lambda)
{
    km_fail(ctx, KM_SINGULAR, "ridge: the features are linearly dependent at feature %zu, with lambda = %g",
            pivot + 1, lambda);
    if (pivot == constant)
        return km_hint(ctx, KM_SINGULAR, "Feature %zu is constant, as the intercept is: use intercept=false, "
                       "or lambda > 0.", pivot + 1);
    return km_hint(ctx, KM_SINGULAR, "Use a larger lambda, or leave out features that follow from others.");
}

KmStatus
km_ridge_solve(KmContext *ctx, KmRidge *ridge, double lambda)
{
    size_t d = ridge->d, constant = first_constant(ridge), pivot;

    KM_TRY(add_penalty(ctx, ridge, lambda));
    KM_TRY(km_cholesky_factor(ctx, d, d, ridge->a, &pivot));
    if (pivot == d)
        pivot = km_cholesky_weak_pivot(d, d, ridge->a);
    if (pivot < d)
        return singular(ctx, pivot, constant, lambda);
    KM_TRY(km_cholesky_solve(ctx, d, d, ridge->a, ridge->m, ridge->m, ridge->b));
    if (!km_is_finite(d * ridge->m, ridge->b))
        return km_fail(ctx, KM_RANGE, "ridge: the coefficients overflow");
    return KM_OK;
}

/* ---- the estimator ---- */

static KmStatus
fit_through(KmContext *ctx, const KmArgs *args, KmNode *node, const KmStep *step, const KmTable *table,
            KmModel *model)
{
    KmRidgeFit fit;

    KM_TRY(km_ridge_fit(ctx, args, step, table, &fit));
    KM_TRY(km_linear_store(ctx, "ridge", fit.d, table->n_targets, fit.w, fit.intercept, model));
    KM_TRY(km_ridge_add_facts(ctx, args, &fit.choice, model));
    return km_ridge_write_choice(ctx, args, &fit.choice, node);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    return fit_through(ctx, args, node, NULL, table, model);
}

/* select= and a grid go together. */
static KmStatus
check(KmContext *ctx, const KmArgs *args)
{
    if (km_arg(args, "select")->kind == 0 || km_arg(args, "lambda")->grid)
        return KM_OK;
    km_fail(ctx, KM_INVALID, "ridge: select=%s has no values of lambda to choose from",
            km_arg(args, "select")->word);
    return km_hint(ctx, KM_INVALID, "Give several, as in lambda=logspace(-6, 2, 9), or leave select out.");
}

/* ---- scoring ---- */

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    (void) args;
    return km_linear_prepare(ctx, model, d, KM_DECISION_VALUES, out);
}

static const char *const criteria[] = {"gcv", NULL};

const KmEstimatorType km_estimator_ridge = {
    .signature = {
        .name = "ridge",
        .what = "estimator",
        .params = {
            {.name = "lambda", .alias = "alpha", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0,
             .max = DBL_MAX, .grid = true, .positional = true},
            {.name = "intercept", .kinds = KM_KIND_BOOL, .standard = "true", .positional = true},
            {.name = "select", .kinds = KM_KIND_WORD, .words = criteria},
        },
    },
    .target = KM_TARGET_NUMBER,
    .from_sums = true,
    .path = "lambda",
    .check = check,
    .linear = true,
    .fit = fit,
    .fit_through = fit_through,
    .prepare = prepare,
};
