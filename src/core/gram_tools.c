/*
 * gram_tools.c: centred and normalised Gram matrices, effective degrees of freedom, norms
 * of functions of a kernel (Shawe-Taylor, Cristianini 2004, 5.1; Hastie, Tibshirani, Friedman 2009, 5.4.1).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "gram.h"
#include "kernel_tools.h"

/* Means are subtracted row by row in two passes, so that the rows of the result sum to rounding. */
KmStatus
km_gram_center(KmContext *ctx, size_t n, double *g)
{
    double *mean, total = 0.0;

    KM_TRY(km_alloc(ctx, n, &mean));
    for (size_t i = 0; i < n; i++)
    {
        mean[i] = 0.0;
        for (size_t j = 0; j < n; j++)
            mean[i] += g[i * n + j] / (double) n;
        total += mean[i] / (double) n;
    }
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j <= i; j++)
            g[i * n + j] -= (mean[i] + mean[j]) - total;
    }
    km_free(ctx, mean);
    KM_TRY(km_triangle_check_finite(ctx, n, n, g, "the centred matrix"));
    return km_triangle_to_upper(ctx, n, n, g);
}

/* Square roots one by one: their product does not overflow. */
KmStatus
km_gram_normalize(KmContext *ctx, size_t n, double *g)
{
    double *factor;

    KM_TRY(km_alloc(ctx, n, &factor));
    for (size_t i = 0; i < n; i++)
        factor[i] = g[i * n + i] > 0.0 ? 1.0 / sqrt(g[i * n + i]) : 0.0;
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < i; j++)
            g[i * n + j] *= factor[i] * factor[j];
        g[i * n + i] = factor[i] > 0.0;
    }
    km_free(ctx, factor);
    KM_TRY(km_triangle_check_finite(ctx, n, n, g, "the normalised matrix"));
    return km_triangle_to_upper(ctx, n, n, g);
}

KmStatus
km_gram_effective_df(KmContext *ctx, size_t n, double *g, size_t m, const double *lambda, double *out)
{
    double *values, noise;

    KM_TRY(km_alloc(ctx, n, &values));
    KM_TRY(km_symmetric_eigenvalues(ctx, n, g, values));
    noise = n > 0 ? (double) n * DBL_EPSILON * fmax(fabs(values[0]), fabs(values[n - 1])) : 0.0;
    for (size_t i = 0; i < m; i++)
    {
        KM_TRY(km_poll(ctx));
        out[i] = 0.0;
        for (size_t j = 0; j < n; j++)
            if (values[j] > noise)
                out[i] += values[j] / (values[j] + lambda[i]);
    }
    km_free(ctx, values);
    return KM_OK;
}

/* ---- norms of models ---- */

/* The estimator's kernel and the model's rows after the steps, with their coefficients. */
static KmStatus
find_functions(KmContext *ctx, const KmModel *model, KmKernel **kernel, const KmArray **rows,
               const KmArray **coef)
{
    KmLearner *learner;
    const KmValue *value;

    KM_TRY(km_learner_parse(ctx, model->learner, strlen(model->learner), &learner));
    *rows = km_model_array(model, "rows");
    *coef = km_model_array(model, "coef");
    value = learner->estimator != NULL ? km_arg(&learner->args, "kernel") : NULL;
    if (value == NULL || value->kind == 0 || *rows == NULL || *coef == NULL || (*coef)->rows != (*rows)->rows)
        return km_fail(ctx, KM_UNSUPPORTED, "%s keeps no functions of a kernel, so they have no norm",
                       km_learner_name(learner));
    if ((*coef)->columns > 1 && learner->estimator->target != KM_TARGET_NUMBER)
        return km_fail(ctx, KM_UNSUPPORTED,
                       "this %s has several functions, one norm of them would mean nothing",
                       km_learner_name(learner));
    return km_kernel_compile(ctx, value->node, kernel);
}

KmStatus
km_model_rkhs_norm(KmContext *ctx, const KmModel *model, double *out)
{
    const KmArray *rows, *coef;
    KmKernel *kernel;
    KmPoints *points;
    double *product, square, bound;
    size_t size;

    *out = 0.0;
    KM_TRY(find_functions(ctx, model, &kernel, &rows, &coef));
    size = coef->rows * coef->columns;
    if (size == 0)
        return KM_OK;
    KM_TRY(km_points_create(ctx, kernel, rows->rows, rows->columns, rows->data, NULL, &points));
    KM_TRY(km_alloc(ctx, size, &product));
    KM_TRY(km_gram_times(ctx, kernel, points, coef->columns, coef->data, product));
    square = cblas_ddot(size, coef->data, 1, product, 1);
    bound = cblas_dnrm2(size, coef->data, 1) * cblas_dnrm2(size, product, 1);
    km_free(ctx, product);
    if (!isfinite(square))
        return km_fail(ctx, KM_RANGE, "the norm of the model's function is not a finite number");
    if (square < -1e-10 * bound)
        return km_fail(ctx, KM_SINGULAR, "the kernel is not positive semidefinite: the squared norm is %g",
                       square);
    *out = sqrt(fmax(0.0, square));
    return KM_OK;
}
