/*
 * scorer.c: a model made ready, and its values for rows.
 *
 * Rows go in blocks of at most KM_SCORE_ROWS; a block's size does not change any bit of a value.
 */
#include <math.h>
#include <string.h>

#include "learner.h"
#include "linear.h"
#include "sizes.h"

/* ---- making ready ---- */

/* Values that a decision over k classes is made of; 0: such a decision does not fit so many classes. */
static size_t
expected_values(KmDecision decision, size_t k, size_t n_out)
{
    switch (decision)
    {
        case KM_DECISION_PAIRS:
            return k < 2 ? 0 : k * (k - 1) / 2;
        case KM_DECISION_CLASSES:
            return k < 2 ? 0 : k == 2 ? 1 : k;
        case KM_DECISION_SIGN:
            return k == 0;
        case KM_DECISION_VALUES:
            return k == 0 ? n_out : 0;
    }
    return 0;
}

static KmStatus
check_outputs(KmContext *ctx, const KmScorer *scorer)
{
    size_t k = scorer->model->classes.n, n_out = scorer->score.n_out;
    bool labels = km_learner_target(scorer->learner) == KM_TARGET_LABEL;

    if (labels != (k > 0) || expected_values(scorer->score.decision, k, n_out) != n_out)
        return km_fail(ctx, KM_CORRUPT, "model has %zu classes and %zu values", k, n_out);
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmModel *model, KmScorer *scorer)
{
    KmLearner *learner;

    KM_TRY(km_learner_parse(ctx, model->learner, strlen(model->learner), &learner));
    if (learner->has_grid)
        return km_fail(ctx, KM_CORRUPT, "its learner has a grid of values");
    scorer->model = model;
    scorer->learner = learner;
    scorer->d = model->n_features;
    scorer->takes_missing = km_learner_takes_missing(learner);
    KM_TRY(km_steps_prepare(ctx, learner, scorer->d, &scorer->steps));
    KM_TRY(km_alloc_bytes(ctx, scorer->steps.d_out, KM_SCORE_ROWS * sizeof(double), (void **) &scorer->z));
    if (learner->estimator)
        KM_TRY(learner->estimator->prepare(ctx, &learner->args, model, scorer->steps.d_out, &scorer->score));
    if (learner->estimator && learner->estimator->linear)
        KM_TRY(km_linear_use_plain(ctx, model, &scorer->steps, &scorer->score, &scorer->plain));
    return check_outputs(ctx, scorer);
}

/* What is wrong with a model is the model's fault, whatever it would be in a learner just typed. */
KmStatus
km_scorer_create(KmContext *ctx, const KmModel *model, KmScorer **out)
{
    KmStatus status;

    KM_TRY(km_alloc_zero(ctx, 1, out));
    status = prepare(ctx, model, *out);
    if (status == KM_OK || status == KM_MEMORY || status == KM_CANCELLED || status == KM_INTERNAL)
        return status;
    return km_fail(ctx, KM_CORRUPT, "model cannot be used: %s", ctx->message);
}

/* ---- rows ---- */

/* *count: how many of the first rows, at most KM_SCORE_ROWS of m, have no NaN. */
static KmStatus
count_usable(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, size_t *count)
{
    size_t limit = min_size(m, KM_SCORE_ROWS);

    for (*count = 0; *count < limit; ++*count, x += scorer->d)
        for (size_t j = 0; j < scorer->d; j++)
        {
            if (!isnan(x[j]) || (scorer->takes_missing && km_is_missing(x[j])))
                continue;
            return km_is_missing(x[j]) ? km_fail_missing(ctx, j) : KM_OK;
        }
    return KM_OK;
}

static void
fill_nan(size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = NAN;
}

static bool
row_has_nan(size_t d, const double *row)
{
    for (size_t j = 0; j < d; j++)
        if (isnan(row[j]))
            return true;
    return false;
}

/* Only finite features, but for what may be missing?  *most: the largest in absolute value. */
static bool
row_is_finite(const KmScorer *scorer, const double *row, double *most)
{
    *most = 0;
    for (size_t j = 0; j < scorer->d; j++)
    {
        if (isfinite(row[j]))
            *most = fmax(*most, fabs(row[j]));
        else if (!(scorer->takes_missing && km_is_missing(row[j])))
            return false;
    }
    return true;
}

/* NaN comes of NaN or infinity alone: where a finite row gives it, something overflowed on the way. */
static KmStatus
check_overflow(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, size_t width,
               const double *out)
{
    for (size_t i = 0; i < m; i++)
    {
        double most;

        if (!row_has_nan(width, out + i * width) || !row_is_finite(scorer, x + i * scorer->d, &most))
            continue;
        km_fail(ctx, KM_RANGE, "%s: a feature of %g is too large for double precision",
                km_learner_name(scorer->learner), most);
        return km_detail(ctx, KM_RANGE, "What is computed of it overflows.");
    }
    return KM_OK;
}

typedef KmStatus (*BlockFunction)(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x,
                                  double *out);

/* out (m x width) by blocks of usable rows; NaN for the others. */
static KmStatus
run_rows(KmContext *ctx, const KmScorer *scorer, BlockFunction run, size_t m, const double *x, size_t width,
         double *out)
{
    for (size_t i = 0, count; i < m; i += count)
    {
        KM_TRY(km_poll(ctx));
        KM_TRY(count_usable(ctx, scorer, m - i, x + i * scorer->d, &count));
        if (count > 0)
        {
            KM_TRY(run(ctx, scorer, count, x + i * scorer->d, out + i * width));
            KM_TRY(check_overflow(ctx, scorer, count, x + i * scorer->d, width, out + i * width));
        }
        else
        {
            fill_nan(width, out + i * width);
            count = 1;
        }
    }
    return KM_OK;
}

static KmStatus
block_features(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    return scorer->steps.apply(ctx, &scorer->steps, m, x, out);
}

/* *z: the rows as the estimator sees them. */
static KmStatus
apply_steps(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, const double **z)
{
    const KmStep *steps = &scorer->steps;

    *z = scorer->learner->n_steps > 0 ? scorer->z : x;
    if (scorer->learner->n_steps == 0)
        return KM_OK;
    return (scorer->plain ? steps->apply_plain : steps->apply)(ctx, steps, m, x, scorer->z);
}

static KmStatus
block_values(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    const double *z;

    KM_TRY(apply_steps(ctx, scorer, m, x, &z));
    return scorer->score.run(ctx, &scorer->score, m, z, out);
}

static KmStatus
block_proba(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    const double *z;

    KM_TRY(apply_steps(ctx, scorer, m, x, &z));
    return scorer->score.proba(ctx, &scorer->score, m, z, out);
}

static KmStatus
block_moments(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    const double *z;

    KM_TRY(apply_steps(ctx, scorer, m, x, &z));
    return km_posterior_moments(ctx, scorer->score.posterior, m, z, out);
}

KmStatus
km_scorer_values(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    if (scorer->score.n_out == 0)
        return km_fail(ctx, KM_UNSUPPORTED, "model has steps only, nothing to predict");
    return run_rows(ctx, scorer, block_values, m, x, scorer->score.n_out, out);
}

KmStatus
km_scorer_transform(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    return run_rows(ctx, scorer, block_features, m, x, scorer->steps.d_out, out);
}

/* ---- probabilities and distributions ---- */

static KmStatus
no_probabilities(KmContext *ctx, const KmScorer *scorer)
{
    const KmEstimatorType *estimator = scorer->learner->estimator;

    km_fail(ctx, KM_UNSUPPORTED, "%s gives no probabilities", km_learner_name(scorer->learner));
    if (estimator && km_arg(&scorer->learner->args, "probability")->node != NULL)
        return km_hint(ctx, KM_UNSUPPORTED, "Fit it again with probability=true.");
    return km_hint(ctx, KM_UNSUPPORTED, "Fit svc with probability=true, or gpc.");
}

KmStatus
km_scorer_proba(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    if (scorer->score.proba == NULL)
        return no_probabilities(ctx, scorer);
    return run_rows(ctx, scorer, block_proba, m, x, scorer->model->classes.n, out);
}

static KmStatus
require_posterior(KmContext *ctx, const KmScorer *scorer)
{
    if (scorer->score.posterior != NULL)
        return KM_OK;
    km_fail(ctx, KM_UNSUPPORTED, "%s predicts no distribution; a Gaussian process does",
            km_learner_name(scorer->learner));
    return km_hint(ctx, KM_UNSUPPORTED, "Use predict, or fit gp.");
}

KmStatus
km_scorer_moments(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    KM_TRY(require_posterior(ctx, scorer));
    return run_rows(ctx, scorer, block_moments, m, x, 2, out);
}

/* Rows with NaN are solved for as zeros, so that the others are not disturbed. */
KmStatus
km_scorer_moments_batch(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, double *out)
{
    size_t d = scorer->steps.d_out;
    bool *is_nan;
    double *z;

    KM_TRY(require_posterior(ctx, scorer));
    KM_TRY(km_alloc_bytes(ctx, m, d * sizeof *z, (void **) &z));
    KM_TRY(km_alloc(ctx, m, &is_nan));
    KM_TRY(km_scorer_transform(ctx, scorer, m, x, z));
    for (size_t i = 0; i < m; i++)
    {
        is_nan[i] = row_has_nan(d, z + i * d);
        if (is_nan[i])
            memset(z + i * d, 0, d * sizeof *z);
    }
    KM_TRY(km_posterior_batch(ctx, scorer->score.posterior, m, z, out));
    for (size_t i = 0; i < m; i++)
        if (is_nan[i])
            fill_nan(2, out + 2 * i);
    km_free(ctx, is_nan);
    km_free(ctx, z);
    return check_overflow(ctx, scorer, m, x, 2, out);
}

/* ---- classes ---- */

/* Where the value of pair (i, j), i < j, stands among those of k classes: (0,1), (0,2) … (k-2,k-1). */
static size_t
pair_index(size_t k, size_t i, size_t j)
{
    return i * (2 * k - i - 1) / 2 + j - i - 1;
}

/* Votes for class c; a positive value is for the second of its pair. */
static size_t
count_votes(size_t k, const double *values, size_t c)
{
    size_t votes = 0;

    for (size_t i = 0; i < c; i++)
        votes += values[pair_index(k, i, c)] > 0;
    for (size_t j = c + 1; j < k; j++)
        votes += values[pair_index(k, c, j)] <= 0;
    return votes;
}

static size_t
class_by_votes(size_t k, const double *values)
{
    size_t best = 0, most = 0;

    for (size_t c = 0; c < k; c++)
    {
        size_t votes = count_votes(k, values, c);

        if (votes > most)
        {
            best = c;
            most = votes;
        }
    }
    return best;
}

static size_t
class_by_value(size_t k, const double *values)
{
    size_t best = 0;

    if (k == 2)
        return values[0] > 0;
    for (size_t c = 1; c < k; c++)
        if (values[c] > values[best])
            best = c;
    return best;
}

int
km_scorer_class(const KmScorer *scorer, const double *values)
{
    size_t k = scorer->model->classes.n;

    for (size_t i = 0; i < scorer->score.n_out; i++)
        if (isnan(values[i]))
            return -1;
    if (scorer->score.class_of != NULL)
        return (int) scorer->score.class_of(&scorer->score, values);
    return (int) (scorer->score.decision == KM_DECISION_PAIRS ? class_by_votes(k, values)
                  : class_by_value(k, values));
}

static KmStatus
predict_class(KmContext *ctx, const KmScorer *scorer, const double *values, double *out)
{
    const KmClasses *classes = &scorer->model->classes;
    int class = km_scorer_class(scorer, values);

    if (classes->kind == KM_LABEL_TEXT)
    {
        km_fail(ctx, KM_UNSUPPORTED, "the labels of the model are not numbers");
        return km_hint(ctx, KM_UNSUPPORTED, "Use predict_label.");
    }
    *out = class < 0 ? NAN : classes->number[class];
    return KM_OK;
}

KmStatus
km_scorer_predict(KmContext *ctx, const KmScorer *scorer, const double *values, double *out)
{
    if (scorer->model->classes.n > 0)
        return predict_class(ctx, scorer, values, out);
    if (scorer->score.n_out > 1)
    {
        km_fail(ctx, KM_UNSUPPORTED, "the model predicts %zu values for a row", scorer->score.n_out);
        return km_hint(ctx, KM_UNSUPPORTED, "Use predict_vector.");
    }
    if (scorer->score.n_out == 0)
    {
        km_fail(ctx, KM_UNSUPPORTED, "the model has steps only, nothing to predict");
        return km_hint(ctx, KM_UNSUPPORTED, "Use transform.");
    }
    *out = values[0];
    if (scorer->score.decision == KM_DECISION_SIGN && !isnan(values[0]))
        *out = values[0] > 0 ? 1 : -1;
    return KM_OK;
}
