/* linear.c: arrays and scores of linear models (see linear.h). */
#include "linear.h"

#include <math.h>
#include <string.h>

bool
km_is_finite(size_t n, const double *v)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

KmStatus
km_linear_store(KmContext *ctx, const char *what, size_t d, size_t m, double *w, double *intercept,
                KmModel *model)
{
    if (!km_is_finite(m, intercept) || !km_is_finite(d * m, w))
        return km_fail(ctx, KM_RANGE, "%s: the coefficients overflow", what);
    KM_TRY(km_model_add_array(ctx, model, "coef", d, m, w));
    return km_model_add_array(ctx, model, "intercept", 1, m, intercept);
}

void
km_linear_uncentre(size_t d, size_t m, const double *mean, const double *w, double *intercept)
{
    for (size_t t = 0; t < m; t++)
        for (size_t j = 0; j < d; j++)
            intercept[t] -= mean[j] * w[j * m + t];
}

/* ---- scoring ---- */

typedef struct Scorer
{
    double *coef;               /* m x d */
    const double *intercept;    /* m */
} Scorer;

static KmStatus
run(KmContext *ctx, const KmScore *score, size_t rows, const double *z, double *out)
{
    const Scorer *scorer = score->state;
    double products[KM_SCORE_ROWS];

    (void) ctx;
    for (size_t t = 0; t < score->n_out; t++)
    {
        km_dot_fixed_rows(rows, score->d, score->d, z, scorer->coef + t * score->d, products);
        for (size_t i = 0; i < rows; i++)
            out[i * score->n_out + t] = products[i] + scorer->intercept[t];
    }
    return KM_OK;
}

/* Scores of d features by the coefficients w (d x m). */
static KmStatus
set_coefficients(KmContext *ctx, const KmArray *w, KmScore *score)
{
    Scorer *scorer = score->state;
    size_t d = w->rows;

    KM_TRY(km_alloc_bytes(ctx, w->columns, d * sizeof *scorer->coef, (void **) &scorer->coef));
    for (size_t j = 0; j < d; j++)
        for (size_t t = 0; t < w->columns; t++)
            scorer->coef[t * d + j] = w->data[j * w->columns + t];
    score->d = d;
    score->n_out = w->columns;
    return KM_OK;
}

KmStatus
km_linear_prepare(KmContext *ctx, const KmModel *model, size_t d, KmDecision decision, KmScore *out)
{
    const KmArray *coef, *intercept;
    Scorer *scorer;

    KM_TRY(km_model_expect(ctx, model, "coef", d, SIZE_MAX, &coef));
    KM_TRY(km_model_expect(ctx, model, "intercept", 1, coef->columns, &intercept));
    if (coef->columns == 0)
        return km_fail(ctx, KM_CORRUPT, "model has no coefficients");
    KM_TRY(km_alloc(ctx, 1, &scorer));
    scorer->intercept = intercept->data;
    *out = (KmScore) {.decision = decision, .state = scorer, .run = run};
    return set_coefficients(ctx, coef, out);
}

/* ---- plainer features ---- */

KmStatus
km_linear_store_plain(KmContext *ctx, const KmStep *last, KmModel *model)
{
    const KmArray *coef = km_model_array(model, "coef");
    double *plain;

    if (last->pull == NULL)
        return KM_OK;
    KM_TRY(km_alloc_bytes(ctx, coef->rows, coef->columns * sizeof *plain, (void **) &plain));
    memcpy(plain, coef->data, coef->rows * coef->columns * sizeof *plain);
    KM_TRY(last->pull(ctx, last, coef->columns, plain));
    if (!km_is_finite(coef->rows * coef->columns, plain))
        return km_fail(ctx, KM_RANGE, "the coefficients overflow");
    return km_model_add_array(ctx, model, "plain", coef->rows, coef->columns, plain);
}

KmStatus
km_linear_use_plain(KmContext *ctx, const KmModel *model, const KmStep *steps, KmScore *score, bool *used)
{
    const KmArray *plain;

    *used = steps->apply_plain != NULL && km_model_array(model, "plain") != NULL;
    if (!*used)
        return KM_OK;
    KM_TRY(km_model_expect(ctx, model, "plain", steps->d_out, score->n_out, &plain));
    return set_coefficients(ctx, plain, score);
}
