/*
 * gp_support.h: learners fitted to tables of one target or label, and elimination in long double, for the
 * tests of Gaussian processes.
 */
#ifndef KM_TEST_GP_SUPPORT_H
#define KM_TEST_GP_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "learner.h"
#include "numbers.h"
#include "polling.h"

static KmContext *ctx;

static inline int
set_up(void **state)
{
    (void) state;
    ctx = km_context_create(SIZE_MAX);
    return ctx == NULL;
}

static inline int
tear_down(void **state)
{
    (void) state;
    km_context_destroy(ctx);
    return 0;
}

static inline KmStatus
fit_table(const char *text, const KmTable *table, KmModel **out)
{
    KmLearner *learner;

    assert_int_equal(km_learner_parse(ctx, text, strlen(text), &learner), KM_OK);
    return km_learner_fit(ctx, learner, table, out);
}

static inline KmScorer *
scorer_of(const KmModel *model)
{
    KmScorer *scorer;

    assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_OK);
    return scorer;
}

static inline double
fact(const KmModel *model, const char *name)
{
    const KmFact *found = km_model_fact(model, name);

    return found == NULL ? NAN : found->number;
}

static inline void
assert_close(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance * fmax(1.0, fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

/* ---- by elimination ---- */

#define MAX_ROWS 12

/* b = A^-1 b, for A (n x n) without zero pivots, which is overwritten; returns log det A. */
static inline long double
eliminate(size_t n, long double A[][MAX_ROWS], long double *b)
{
    long double logdet = 0;

    for (size_t k = 0; k < n; k++)
    {
        logdet += logl(A[k][k]);
        for (size_t i = k + 1; i < n; i++)
        {
            long double factor = A[i][k] / A[k][k];

            for (size_t j = k; j < n; j++)
                A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (size_t i = n; i-- > 0;)
    {
        for (size_t j = i + 1; j < n; j++)
            b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
    return logdet;
}

#endif
