/*
 * svc_score.c: decision values of support vector classifiers (see svc.h for the arrays).
 *
 * A row's kernel values with all support rows are made once and serve every pair.  The linear
 * kernel without changes to its columns needs no support rows: w = sum_i b_i x_i.
 */
#include "svc.h"

#include <math.h>
#include <string.h>

typedef struct Scorer
{
    size_t k, d;
    const double *intercept;    /* pairs */
    const double *rows;         /* n_sv x d */
    size_t n_sv;
    size_t *first;              /* k + 1: where the support rows of a class begin */
    double *coef;               /* (k-1) x n_sv: columns of "coef" */
    KmTarget *target;
    size_t stride;
    double *values;             /* KM_SCORE_ROWS x stride */
    double *w;                  /* pairs x d, for the linear kernel */
} Scorer;

/* The coefficients of class c's support rows against class e, and their place among all. */
static const double *
segment(const Scorer *scorer, size_t c, size_t e)
{
    return scorer->coef + km_svc_column(c, e) * scorer->n_sv + scorer->first[c];
}

static double
class_sum(const Scorer *scorer, const double *values, size_t c, size_t e)
{
    size_t begin = scorer->first[c];

    return km_dot_fixed(scorer->first[c + 1] - begin, values + begin, segment(scorer, c, e));
}

static KmStatus
run_kernel(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    const Scorer *scorer = score->state;

    KM_TRY(km_target_values(ctx, scorer->target, m, z, scorer->stride, scorer->values));
    for (size_t i = 0; i < m; i++)
    {
        const double *values = scorer->values + i * scorer->stride;
        size_t pair = i * score->n_out;

        for (size_t p = 0; p + 1 < scorer->k; p++)
            for (size_t q = p + 1; q < scorer->k; q++, pair++)
                out[pair] = class_sum(scorer, values, p, q) + class_sum(scorer, values, q, p) +
                    scorer->intercept[pair - i * score->n_out];
    }
    return KM_OK;
}

static KmStatus
run_linear(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    const Scorer *scorer = score->state;

    (void) ctx;
    for (size_t i = 0; i < m; i++)
        for (size_t pair = 0; pair < score->n_out; pair++)
            out[i * score->n_out + pair] =
                km_dot_fixed(scorer->d, z + i * scorer->d, scorer->w + pair * scorer->d) +
                    scorer->intercept[pair];
    return KM_OK;
}

/* ---- making ready ---- */

static bool
is_linear(const KmKernel *kernel)
{
    return kernel->op == KM_OP_LEAF && strcmp(kernel->leaf.type->signature.name, "linear") == 0 &&
        kernel->leaf.n_dims == 0 && kernel->leaf.n_scale == 0 && kernel->leaf.n_factor == 0;
}

static void
add_class(const Scorer *scorer, size_t c, size_t e, double *w)
{
    const double *coef = segment(scorer, c, e), *row = scorer->rows + scorer->first[c] * scorer->d;

    for (size_t s = scorer->first[c]; s < scorer->first[c + 1]; s++, coef++, row += scorer->d)
        for (size_t j = 0; j < scorer->d; j++)
            w[j] += *coef * row[j];
}

static KmStatus
prepare_linear(KmContext *ctx, Scorer *scorer)
{
    size_t pairs = scorer->k * (scorer->k - 1) / 2;
    double *w;

    KM_TRY(km_alloc_zero_bytes(ctx, pairs, scorer->d * sizeof *w, (void **) &w));
    scorer->w = w;
    for (size_t p = 0; p + 1 < scorer->k; p++)
        for (size_t q = p + 1; q < scorer->k; q++, w += scorer->d)
        {
            add_class(scorer, p, q, w);
            add_class(scorer, q, p, w);
        }
    return KM_OK;
}

static KmStatus
prepare_kernel(KmContext *ctx, const KmKernel *kernel, Scorer *scorer)
{
    KM_TRY(km_target_create(ctx, kernel, scorer->n_sv, scorer->d, scorer->rows, &scorer->target));
    scorer->stride = km_target_stride(scorer->target);
    return km_alloc_bytes(ctx, scorer->stride, KM_SCORE_ROWS * sizeof *scorer->values,
                          (void **) &scorer->values);
}

/* Whole counts that add up to the support rows. */
static KmStatus
set_classes(KmContext *ctx, const double *counts, Scorer *scorer)
{
    KM_TRY(km_alloc_zero(ctx, scorer->k + 1, &scorer->first));
    for (size_t c = 0; c < scorer->k; c++)
    {
        size_t left = scorer->n_sv - scorer->first[c];

        if (!(counts[c] >= 0 && counts[c] <= (double) left) || counts[c] != floor(counts[c]))
            return km_fail(ctx, KM_CORRUPT, "class %zu has %g of %zu support rows", c + 1, counts[c],
                           scorer->n_sv);
        scorer->first[c + 1] = scorer->first[c] + (size_t) counts[c];
    }
    if (scorer->first[scorer->k] != scorer->n_sv || scorer->n_sv == 0)
        return km_fail(ctx, KM_CORRUPT, "model has %zu support rows, its classes %zu", scorer->n_sv,
                       scorer->first[scorer->k]);
    return KM_OK;
}

static KmStatus
transpose(KmContext *ctx, const KmArray *coef, Scorer *scorer)
{
    KM_TRY(km_alloc_bytes(ctx, coef->columns, coef->rows * sizeof *scorer->coef, (void **) &scorer->coef));
    for (size_t s = 0; s < coef->rows; s++)
        for (size_t e = 0; e < coef->columns; e++)
            scorer->coef[e * coef->rows + s] = coef->data[s * coef->columns + e];
    return KM_OK;
}

static KmStatus
load(KmContext *ctx, const KmModel *model, size_t d, Scorer *scorer)
{
    const KmArray *rows, *coef, *intercept, *counts;
    size_t k = model->classes.n;

    if (k < 2)
        return km_fail(ctx, KM_CORRUPT, "model has %zu classes", k);
    KM_TRY(km_model_expect(ctx, model, "rows", SIZE_MAX, d, &rows));
    KM_TRY(km_model_expect(ctx, model, "coef", rows->rows, k - 1, &coef));
    KM_TRY(km_model_expect(ctx, model, "intercept", 1, k * (k - 1) / 2, &intercept));
    KM_TRY(km_model_expect(ctx, model, "counts", 1, k, &counts));
    *scorer = (Scorer) {.k = k, .d = d, .intercept = intercept->data, .rows = rows->data, .n_sv = rows->rows};
    KM_TRY(set_classes(ctx, counts->data, scorer));
    return transpose(ctx, coef, scorer);
}

KmStatus
km_svc_prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    KmKernel *kernel;
    Scorer *scorer;

    KM_TRY(km_alloc(ctx, 1, &scorer));
    KM_TRY(load(ctx, model, d, scorer));
    KM_TRY(km_kernel_compile(ctx, km_arg(args, "kernel")->node, &kernel));
    *out = (KmScore) {.d = d, .n_out = scorer->k * (scorer->k - 1) / 2, .decision = KM_DECISION_PAIRS,
                      .state = scorer, .run = run_kernel};
    if (!is_linear(kernel))
        return prepare_kernel(ctx, kernel, scorer);
    out->run = run_linear;
    return prepare_linear(ctx, scorer);
}
