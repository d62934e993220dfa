/*
 * sums_support.h: rows, learners and accumulators for the tests of random features, sums and ridge.
 */
#ifndef KM_TEST_SUMS_SUPPORT_H
#define KM_TEST_SUMS_SUPPORT_H

#include "accumulator.h"
#include "context_support.h"

#define ok(expression) assert_int_equal((expression), KM_OK)

static inline KmLearner *
learner_of(KmContext *ctx, const char *text)
{
    KmLearner *learner;
    KmStatus status = km_learner_parse(ctx, text, strlen(text), &learner);

    if (status != KM_OK)
        fail_msg("%s: %s %s", text, ctx->message, ctx->detail);
    return learner;
}

/* Parsing the text, or preparing its steps for rows of d columns, fails so. */
static inline void
expect_refusal(KmContext *ctx, const char *text, size_t d, KmStatus expected, const char *says)
{
    KmLearner *learner;
    KmStep step;
    KmStatus status = km_learner_parse(ctx, text, strlen(text), &learner);

    if (status == KM_OK)
        status = km_steps_prepare(ctx, learner, d, &step);
    if (status != expected || strstr(ctx->message, says) == NULL)
        fail_msg("%s: %s: %s", text, km_status_text(status), ctx->message);
}

/* Features (n x d_out) of the steps of a learner. */
static inline double *
features_of(KmContext *ctx, const char *text, size_t n, size_t d, const double *x, size_t *d_out)
{
    KmLearner *learner = learner_of(ctx, text);
    double *z;
    KmStep step;

    ok(km_steps_prepare(ctx, learner, d, &step));
    ok(km_alloc(ctx, n * step.d_out, &z));
    for (size_t i = 0; i < n; i++)
        ok(step.apply(ctx, &step, 1, x + i * d, z + i * step.d_out));
    *d_out = step.d_out;
    return z;
}

static inline double *
random_numbers(KmContext *ctx, uint64_t seed, size_t n)
{
    double *x;

    ok(km_alloc(ctx, n, &x));
    for (size_t i = 0; i < n; i++)
        x[i] = next_uniform(&seed, -2, 2);
    return x;
}

static inline double
inner(size_t n, const double *a, const double *b)
{
    long double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (long double) a[i] * b[i];
    return (double) sum;
}

static inline double
fact_of(const KmModel *model, const char *name)
{
    const KmFact *fact = km_model_fact(model, name);

    assert_non_null(fact);
    return fact->number;
}

/* What a model says of n rows: n x targets. */
static inline double *
scores_of(KmContext *ctx, const KmModel *model, size_t n, const double *x)
{
    KmScorer *scorer;
    double *out;

    ok(km_scorer_create(ctx, model, &scorer));
    ok(km_alloc(ctx, n * scorer->score.n_out, &out));
    ok(km_scorer_values(ctx, scorer, n, x, out));
    return out;
}

/* Solve A W = B (n x n, n x m) by Gaussian elimination with row pivots, in long double; W overwrites B. */
static inline void
solve_by_elimination(size_t n, size_t m, long double *a, long double *b)
{
    for (size_t k = 0; k < n; k++)
    {
        size_t p = k;

        for (size_t i = k + 1; i < n; i++)
            if (fabsl(a[i * n + k]) > fabsl(a[p * n + k]))
                p = i;
        for (size_t j = 0; j < n + m; j++)
        {
            long double *u = j < n ? &a[k * n + j] : &b[k * m + j - n];
            long double *v = j < n ? &a[p * n + j] : &b[p * m + j - n];
            long double swap = *u;

            *u = *v;
            *v = swap;
        }
        for (size_t i = 0; i < n; i++)
        {
            long double factor = i == k ? 0 : a[i * n + k] / a[k * n + k];

            for (size_t j = 0; j < n && factor != 0; j++)
                a[i * n + j] -= factor * a[k * n + j];
            for (size_t t = 0; t < m; t++)
                b[i * m + t] -= factor * b[k * m + t];
        }
    }
    for (size_t k = 0; k < n; k++)
        for (size_t t = 0; t < m; t++)
            b[k * m + t] /= a[k * n + k];
}

/* Ridge by its definition in long double: w (d x m) and intercepts (m), weights w or NULL. */
static inline void
ridge_by_definition(size_t n, size_t d, size_t m, const double *z, const double *y, const double *weight,
                    double lambda, bool centred, double *w, double *intercept)
{
    long double *a = calloc(d * d, sizeof *a), *b = calloc(d * m, sizeof *b);
    long double *mean = calloc(d + m, sizeof *mean);
    long double total = 0;

    for (size_t i = 0; i < n; i++)
        total += weight ? weight[i] : 1;
    for (size_t i = 0; i < n && centred; i++)
        for (size_t j = 0; j < d + m; j++)
            mean[j] += (weight ? weight[i] : 1) / total * (j < d ? z[i * d + j] : y[i * m + j - d]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
        {
            long double zj = (weight ? weight[i] : 1) * (z[i * d + j] - mean[j]);

            for (size_t k = 0; k < d; k++)
                a[j * d + k] += zj * (z[i * d + k] - mean[k]);
            for (size_t t = 0; t < m; t++)
                b[j * m + t] += zj * (y[i * m + t] - mean[d + t]);
        }
    for (size_t j = 0; j < d; j++)
        a[j * d + j] += lambda;
    solve_by_elimination(d, m, a, b);
    for (size_t t = 0; t < m; t++)
    {
        long double shift = mean[d + t];

        for (size_t j = 0; j < d; j++)
        {
            w[j * m + t] = (double) b[j * m + t];
            shift -= b[j * m + t] * mean[j];
        }
        intercept[t] = (double) shift;
    }
    free(a);
    free(b);
    free(mean);
}

static inline void
assert_all_close(size_t n, const double *got, const double *expected, double tolerance)
{
    double scale = 0;

    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - expected[i]) <= tolerance * scale))
            fail_msg("number %zu of %zu is %.17g, expected %.17g", i, n, got[i], expected[i]);
}

#endif
