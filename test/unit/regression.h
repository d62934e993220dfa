/*
 * regression.h: fits and predictions for the tests of kernel ridge regression and of Gaussian processes.
 */
#ifndef KM_TEST_REGRESSION_H
#define KM_TEST_REGRESSION_H

#include "context_support.h"
#include "learner.h"
#include "polling.h"

static inline KmLearner *
learner_of(const char *text)
{
    KmLearner *learner;

    assert_int_equal(km_learner_parse(ctx, text, strlen(text), &learner), KM_OK);
    return learner;
}

static inline KmStatus
try_fit(const char *text, const KmTable *table, KmModel **out)
{
    return km_learner_fit(ctx, learner_of(text), table, out);
}

static inline KmModel *
fit_table(const char *text, const KmTable *table)
{
    KmModel *model;

    assert_int_equal(try_fit(text, table, &model), KM_OK);
    return model;
}

/* One target; w may be NULL. */
static inline KmTable
table_of(size_t n, size_t d, const double *x, const double *y, const double *w)
{
    return (KmTable) {.n = n, .d = d, .x = x, .n_targets = 1, .y = y, .w = w};
}

static inline KmModel *
fit(const char *text, size_t n, size_t d, const double *x, const double *y, const double *w)
{
    KmTable table = table_of(n, d, x, y, w);

    return fit_table(text, &table);
}

/* A fit polls often, and stops wherever it is told to. */
static inline void
check_stops(const char *text, const KmTable *table)
{
    KmLearner *learner = learner_of(text);
    KmModel *model;
    Polling polling;

    polling_start(ctx, &polling, 0);
    assert_int_equal(km_learner_fit(ctx, learner, table, &model), KM_OK);
    polling_end(ctx, &polling);
    assert_true(polling.longest < 0.15);
    for (size_t calls = polling.calls, stop_at = 1; stop_at <= calls; stop_at += calls / 9 + 1)
    {
        polling_start(ctx, &polling, stop_at);
        assert_int_equal(km_learner_fit(ctx, learner, table, &model), KM_CANCELLED);
        polling_end(ctx, &polling);
        assert_int_equal(polling.calls, stop_at);
    }
}

static inline KmScorer *
scorer_of(const KmModel *model)
{
    KmScorer *scorer;

    assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_OK);
    return scorer;
}

static inline double *
predict(const KmModel *model, size_t m, const double *x)
{
    KmScorer *scorer = scorer_of(model);
    double *out = new_doubles(m * scorer->score.n_out);

    assert_int_equal(km_scorer_values(ctx, scorer, m, x, out), KM_OK);
    return out;
}

static inline double
fact(const KmModel *model, const char *name)
{
    const KmFact *found = km_model_fact(model, name);

    return found == NULL ? NAN : found->number;
}

static inline double
coefficient(const KmModel *model, size_t i)
{
    return km_model_array(model, "coef")->data[i];
}

#endif
