/*
 * ridge.c: ridge regression on features, the estimator ridge.
 *
 * min |y - Z w - b|^2 + lambda |w|^2 (Hoerl, Kennard 1970), b not penalised: the normal equations of
 * centred columns, (Zc'Zc + lambda I) W = Zc'Yc and b = ybar - zbar'W, by Cholesky.  A weight counts as
 * so many rows.  Without an intercept nothing is centred: the answer of krr(linear, center=false).
 */
#include "ridge.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"
#include "design.h"
#include "learner_types.h"
#include "linear.h"

#define BLOCK_ROWS 256          /* centred rows at a time */
#define POLL_ROWS 256           /* of the matrix between polls */

/* ---- the normal equations ---- */

KmStatus
km_ridge_create(KmContext *ctx, size_t d, size_t m, KmRidge **out)
{
    double bytes = 8.0 * (double) d * ((double) d + (double) m);

    KM_TRY(km_reserve(ctx, bytes, "the normal equations of ridge",
                      "Use fewer features, or raise kernelml.max_memory."));
    KM_TRY(km_alloc_zero(ctx, 1, out));
    (*out)->d = d;
    (*out)->m = m;
    KM_TRY(km_alloc(ctx, d * d, &(*out)->a));
    KM_TRY(km_alloc(ctx, m, &(*out)->square));
    return km_alloc(ctx, d * m, &(*out)->b);
}

static bool
is_finite(size_t n, const double *v)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

static KmStatus
add_penalty(KmContext *ctx, KmRidge *ridge, double lambda)
{
    bool finite = is_finite(ridge->d * ridge->m, ridge->b);

    for (size_t i = 0; i < ridge->d && finite; i++)
    {
        if (i % POLL_ROWS == 0)
            KM_TRY(km_poll(ctx));
        ridge->a[i * ridge->d + i] += lambda;
        finite = is_finite(i + 1, ridge->a + i * ridge->d);
    }
    if (!finite)
        return km_fail(ctx, KM_RANGE, "ridge: sums of products of features and targets overflow");
    return KM_OK;
}

static KmStatus
singular(KmContext *ctx, size_t pivot, double lambda)
{
    km_fail(ctx, KM_SINGULAR, "ridge: the features are linearly dependent at feature %zu, with lambda = %g",
            pivot + 1, lambda);
    return km_hint(ctx, KM_SINGULAR, "Use a larger lambda, or leave out features that follow from others.");
}

KmStatus
km_ridge_solve(KmContext *ctx, KmRidge *ridge, double lambda)
{
    size_t d = ridge->d, pivot;

    KM_TRY(add_penalty(ctx, ridge, lambda));
    KM_TRY(km_cholesky_factor(ctx, d, d, ridge->a, &pivot));
    if (pivot == d)
        pivot = km_cholesky_weak_pivot(d, d, ridge->a);
    if (pivot < d)
        return singular(ctx, pivot, lambda);
    KM_TRY(km_cholesky_solve(ctx, d, d, ridge->a, ridge->m, ridge->m, ridge->b));
    if (!is_finite(d * ridge->m, ridge->b))
        return km_fail(ctx, KM_RANGE, "ridge: the coefficients overflow");
    return KM_OK;
}

/* ---- from rows ---- */

/* Rows of features, then targets: d + m columns. */
typedef struct Fit
{
    const KmTable *table;
    size_t d, width;
    double *mean;               /* width; zeros without an intercept */
    double *block;              /* BLOCK_ROWS x width, centred, times the root of the weight */
} Fit;

static double
weight_of(const KmTable *table, size_t i)
{
    return table->w == NULL ? 1 : table->w[i];
}

/* row = (x_i, y_i) - mean. */
static void
centred_row(const Fit *fit, size_t i, double *row)
{
    const KmTable *table = fit->table;

    memcpy(row, table->x + i * fit->d, fit->d * sizeof *row);
    memcpy(row + fit->d, table->y + i * table->n_targets, table->n_targets * sizeof *row);
    cblas_daxpy((int) fit->width, -1, fit->mean, 1, row, 1);
}

/* An error e in the mean only adds n e^2 to Z'Z: rounding is harmless. */
static KmStatus
learn_means(KmContext *ctx, Fit *fit)
{
    const KmTable *table = fit->table;
    double *sum = fit->block, *row = fit->block + fit->width;
    double total = 0;

    memset(sum, 0, fit->width * sizeof *sum);
    for (size_t i = 0; i < table->n; i++)
    {
        double w = weight_of(table, i);

        if (i % BLOCK_ROWS == 0)
            KM_TRY(km_poll(ctx));
        centred_row(fit, i, row);
        cblas_daxpy((int) fit->width, w, row, 1, sum, 1);
        total += w;
    }
    for (size_t j = 0; j < fit->width; j++)
        fit->mean[j] = sum[j] / total;
    return KM_OK;
}

static KmStatus
add_rows(KmContext *ctx, const Fit *fit, size_t first, size_t rows, KmRidge *ridge)
{
    int ld = (int) fit->width, m = (int) ridge->m;

    for (size_t r = 0; r < rows; r++)
    {
        double *row = fit->block + r * fit->width;
        double weight = weight_of(fit->table, first + r);

        centred_row(fit, first + r, row);
        if (weight != 1)
            cblas_dscal((int) fit->width, sqrt(weight), row, 1);
        for (size_t t = 0; t < ridge->m; t++)
            ridge->square[t] += row[fit->d + t] * row[fit->d + t];
    }
    KM_TRY(km_add_squares(ctx, rows, ridge->d, fit->width, fit->block, ridge->d, ridge->a));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int) ridge->d, m, (int) rows, 1, fit->block, ld,
                fit->block + fit->d, ld, 1, ridge->b, m);
    return KM_OK;
}

static KmStatus
sum_rows(KmContext *ctx, Fit *fit, KmRidge *ridge)
{
    const KmTable *table = fit->table;

    memset(ridge->a, 0, ridge->d * ridge->d * sizeof *ridge->a);
    memset(ridge->b, 0, ridge->d * ridge->m * sizeof *ridge->b);
    memset(ridge->square, 0, ridge->m * sizeof *ridge->square);
    for (size_t i = 0; i < table->n; i += BLOCK_ROWS)
        KM_TRY(add_rows(ctx, fit, i, table->n - i < BLOCK_ROWS ? table->n - i : BLOCK_ROWS, ridge));
    return KM_OK;
}

KmStatus
km_ridge_fit(KmContext *ctx, const KmArgs *args, const KmTable *table, double **w, double **intercept,
             KmRidgeChoice *choice)
{
    size_t d = table->d, m = table->n_targets, width = d + m;
    Fit fit = {.table = table, .d = d, .width = width};
    KmRidge *ridge;

    KM_TRY(km_ridge_create(ctx, d, m, &ridge));
    ridge->centred = km_arg_number(args, "intercept") != 0;
    for (size_t i = 0; i < table->n; i++)
        ridge->n += weight_of(table, i);
    KM_TRY(km_alloc_zero(ctx, width, &fit.mean));
    KM_TRY(km_alloc(ctx, BLOCK_ROWS * width, &fit.block));
    KM_TRY(km_alloc(ctx, m, intercept));
    if (ridge->centred)
        KM_TRY(learn_means(ctx, &fit));
    KM_TRY(sum_rows(ctx, &fit, ridge));
    KM_TRY(km_ridge_choose(ctx, args, ridge, choice));
    KM_TRY(km_ridge_solve(ctx, ridge, choice->lambda));
    *w = ridge->b;
    memcpy(*intercept, fit.mean + d, m * sizeof **intercept);
    km_linear_uncentre(d, m, fit.mean, *w, *intercept);
    km_free(ctx, fit.block);
    km_free(ctx, ridge->a);
    return KM_OK;
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    double *w, *intercept;
    KmRidgeChoice choice;

    KM_TRY(km_ridge_fit(ctx, args, table, &w, &intercept, &choice));
    KM_TRY(km_linear_store(ctx, "ridge", table->d, table->n_targets, w, intercept, model));
    KM_TRY(km_ridge_add_facts(ctx, args, &choice, model));
    return km_ridge_write_choice(ctx, args, &choice, node);
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
    .prepare = prepare,
};
