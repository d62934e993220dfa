/*
 * krr_support.h: a context, fits and predictions for the unit tests of kernel ridge regression.
 */
#ifndef KM_TEST_KRR_SUPPORT_H
#define KM_TEST_KRR_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "learner.h"

static KmContext *ctx;
static char warning[200];

static inline void
keep_warning(KmContext *context, const char *message)
{
    (void) context;
    snprintf(warning, sizeof warning, "%s", message);
}

static inline int
set_up(void **state)
{
    (void) state;
    ctx = km_context_create(SIZE_MAX);
    if (ctx != NULL)
        ctx->warn = keep_warning;
    return ctx == NULL;
}

static inline int
tear_down(void **state)
{
    (void) state;
    km_context_destroy(ctx);
    return 0;
}

static inline double *
new_doubles(size_t n)
{
    double *out;

    assert_int_equal(km_alloc_zero(ctx, n, &out), KM_OK);
    return out;
}

/* ---- fitting and predicting ---- */

static inline KmStatus
try_fit(const char *text, const KmTable *table, KmModel **out)
{
    KmLearner *learner;

    assert_int_equal(km_learner_parse(ctx, text, strlen(text), &learner), KM_OK);
    return km_learner_fit(ctx, learner, table, out);
}

static inline KmModel *
fit(const char *text, size_t n, size_t d, const double *x, const double *y, const double *w)
{
    KmTable table = {.n = n, .d = d, .x = x, .n_targets = 1, .y = y, .w = w};
    KmModel *model;

    assert_int_equal(try_fit(text, &table, &model), KM_OK);
    return model;
}

static inline double *
predict(const KmModel *model, size_t m, const double *x)
{
    KmScorer *scorer;
    double *out;

    assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_OK);
    out = new_doubles(m * scorer->score.n_out);
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

static inline void
assert_close(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance * fmax(1.0, fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

#endif
